import type { Bodies } from "../ports.ts";

/** Only a FixedLengthStream lets the runtime announce a length, and show the client a cut. */
export const runtimeBodies: Bodies = {
  pipe: (lengthBytes) => (lengthBytes === null ? new IdentityTransformStream() : new FixedLengthStream(lengthBytes)),
};
