import { read, webBodies } from "../../../worker/runtime/web-bodies.ts";

/** Pipes without back-pressure, like the runtime's: writes queue until they are read. */
export const memoryBodies = webBodies(() => new TransformStream<Uint8Array, Uint8Array>(), read);
