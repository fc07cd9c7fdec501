import type { NodeBody } from "./node-body.ts";

/** A body as the web's stream, for the control plane. */
export function webStream(body: NodeBody): ReadableStream<Uint8Array> {
  const reader = body.read();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const piece = await reader.next();
        if (piece === null) controller.close();
        else if (piece.byteLength > 0) controller.enqueue(new Uint8Array(piece));
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  );
}
