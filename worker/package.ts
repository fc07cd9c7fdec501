/** `tidemark/worker`: what an owner's own worker imports. */
export { createEdge, type EdgeEnv } from "./edge.ts";
export { PurgeLog } from "./purges/purge-log.ts";
export { defineSite } from "./site.ts";
export { SiteError } from "./site-error.ts";
export type { Duration, LimitsInput, RouteInput, SiteInput, Size } from "./site-input.ts";
