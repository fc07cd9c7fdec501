import type { Bodies } from "../ports.ts";

/** A piece of this size costs little more than one of the 4 KiB that the runtime gives unasked. */
const MAX_PIECE_BYTES = 64 * 1024;

/**
 * Only a FixedLengthStream lets the runtime announce a length, and show the client a cut. Only a BYOB reader gives more
 * than 4 KiB at once: whatever has come, up to the size of its buffer. It is for bodies of the runtime's own.
 */
export const runtimeBodies: Bodies = {
  pipe: (lengthBytes) => (lengthBytes === null ? new IdentityTransformStream() : new FixedLengthStream(lengthBytes)),
  read: (body) => {
    const reader = body.getReader({ mode: "byob" });
    return {
      next: async () => {
        const { done, value } = await reader.read(new Uint8Array(MAX_PIECE_BYTES));
        return done ? null : value;
      },
      cancel: () => reader.cancel(),
    };
  },
};
