/**
 * `tidemark/worker/internal`: the exports that the simulated CDN and the commands need in addition to `tidemark/worker`.
 * It is not documented for owners, and any release may change it.
 */

export { isControl } from "../wire/fields.ts";
export { whyClosed } from "./control/access/named-tokens.ts";
export { createEdgeWithHooks, type EdgeHooks } from "./create-edge.ts";
export type { Platform } from "./platform.ts";
export { parseHttpDate } from "./rules/fields/http-date.ts";
export { routeSpelling } from "./rules/key/canonical-url.ts";
export { EVERYTHING_PURGE_KEY, pathPurgeKey, prefixPurgeKey, readPurgeKey } from "./rules/key/purge-key.ts";
export { refuseServerSettings } from "./site/refuse-server-settings.ts";
export { reviewSite } from "./site/review-site.ts";
export { compileSite } from "./site/site.ts";
export { overridesOf } from "./site/site-overrides.ts";
