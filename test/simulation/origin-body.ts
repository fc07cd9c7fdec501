import type { NodeBody } from "../../server/bodies/node-body.ts";
import type { BodyReader } from "../../worker/ports/bodies.ts";

/** How a body comes. */
export interface Delivery {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Resolves when its second part has come; rejects if that never does. `null`: all of it is here. */
  readonly rest: (() => Promise<void>) | null;
}

/** A first part, which comes at once. */
const FIRST_BYTES = 5;

/** A body of which all is here. */
export function wholeBody(bytes: Uint8Array<ArrayBuffer>): NodeBody {
  return originBody({ bytes, rest: null });
}

/** A body of the origin: whole, late, or cut off. */
export function originBody({ bytes, rest }: Delivery): NodeBody {
  const { byteLength } = bytes;
  let at = 0;
  const reader: BodyReader = {
    next: async () => {
      if (at === byteLength) return null;
      const from = at;
      if (from > 0) await rest?.();
      at = from === 0 ? Math.min(FIRST_BYTES, byteLength) : byteLength;
      return bytes.slice(from, at);
    },
    cancel: async () => undefined,
  };
  return {
    lengthBytes: byteLength,
    read: () => reader,
    cancel: async () => undefined,
    ...(rest === null && { takeWhole: () => bytes }),
  };
}
