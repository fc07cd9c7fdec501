import { webBodies } from "./web-bodies.ts";

/** A read of this size costs little more than one of 4 KiB, the runtime's default. */
const MAX_PIECE_BYTES = 64 * 1024;

/**
 * Streams of the runtime. Only a FixedLengthStream lets the runtime announce a length, and shows the client that a body
 * was cut off. Only a BYOB reader returns more than 4 KiB at a time, up to the size of its buffer, and it works only
 * for the runtime's own bodies.
 */
export const runtimeBodies = webBodies(
  (lengthBytes) => (lengthBytes === null ? new IdentityTransformStream() : new FixedLengthStream(lengthBytes)),
  (body) => {
    const reader = body.getReader({ mode: "byob" });
    return {
      next: async () => {
        const { done, value } = await reader.read(new Uint8Array(MAX_PIECE_BYTES));
        return done ? null : value;
      },
      cancel: () => reader.cancel(),
    };
  },
);
