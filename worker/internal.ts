/**
 * `tidemark/worker/internal`: what the simulated CDN and the dev command need beyond `tidemark/worker`. It is not
 * documented for owners, and any release may change it.
 */

export type { Platform } from "./isolate.ts";
export { createEdgeWithHooks, type EdgeHooks } from "./platform/create-edge.ts";
