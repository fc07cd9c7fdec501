import type { BodyWriter } from "../../worker/ports/bodies.ts";
import { PushedBody } from "./pushed-body.ts";

/** A pipe whose writer waits while much is unread. With a length, its reader gets an error if fewer bytes come. */
export function makePipe(lengthBytes: number | null): { readonly readable: PushedBody; readonly writable: BodyWriter } {
  let room: PromiseWithResolvers<void> | undefined;
  const gone: { cause?: unknown; isSo: boolean } = { isSo: false };
  let tellGone: (() => void) | undefined;
  let bytes = 0;
  const readable = new PushedBody(lengthBytes, {
    pause: () => {
      room = Promise.withResolvers();
    },
    resume: () => {
      room?.resolve();
      room = undefined;
    },
    cancel: (cause) => {
      gone.isSo = true;
      gone.cause = cause ?? new Error("nobody reads the body");
      room?.resolve();
      room = undefined;
      tellGone?.();
    },
  });
  const writable: BodyWriter = {
    write: async (piece) => {
      if (gone.isSo) throw gone.cause;
      bytes += piece.byteLength;
      if (lengthBytes !== null && bytes > lengthBytes) throw new Error("more bytes than the announced length");
      readable.push(piece);
      if (room) await room.promise;
      if (gone.isSo) throw gone.cause;
    },
    close: async () => {
      if (lengthBytes !== null && bytes < lengthBytes)
        readable.fail(new Error("fewer bytes than the announced length"));
      else readable.end();
    },
    whenGone: (tell) => {
      tellGone = tell;
    },
    abort: async (cause) => readable.fail(cause),
    taken: () => readable.taken,
  };
  return { readable, writable };
}
