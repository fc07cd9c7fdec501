/**
 * `tidemark/worker/internal`: the exports that the simulated CDN and the dev command need in addition to
 * `tidemark/worker`. It is not documented for owners, and any release may change it.
 */

export type { Platform } from "./isolate.ts";
export { createEdgeWithHooks, type EdgeHooks } from "./platform/create-edge.ts";
