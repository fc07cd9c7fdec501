import type { Bodies } from "../../worker/ports.ts";

/** Pipes without back-pressure, like the runtime's: writes queue until they are read. */
export const memoryBodies: Bodies = {
  pipe: () => new TransformStream<Uint8Array, Uint8Array>(),
  read: (body) => {
    const reader = body.getReader();
    return { next: async () => (await reader.read()).value ?? null, cancel: () => reader.cancel() };
  },
};
