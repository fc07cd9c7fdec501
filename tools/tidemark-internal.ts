/**
 * `#tidemark/internal`: the one entry through which this workspace reaches the rest of the package. The list is short on
 * purpose. A name stands here only if a tool would otherwise decide for itself what the edge decides, or say it in other
 * words.
 */

// All tools: mistakes of the owner, numbers and other people's text as the other commands print them, and the version that
// a User-Agent names.

export { ownPackage } from "../package/own-package.ts";
export { OwnerError } from "../package/owner-error.ts";
export { addressInConfig, readSocket, socketComment } from "../package/unix-socket.ts";
export { IMPOSSIBLE_TIMES } from "../wire/text/impossible-times.ts";
export { counted, whole } from "../wire/text/numbers.ts";
export { printable } from "../wire/text/printable.ts";

// Logs have calls of the control plane, which are no requests for pages.

export { CONTROL_PREFIX } from "../wire/fields.ts";

// `crawl` and `warm` ask in the codings of browsers, take proxies and read a Retry-After as the SDK does, and `--from` asks
// which regions `tidemark dev` simulates.

export { THROUGH_PROXY } from "../sdk/http/failures.ts";
export { openAgent } from "../sdk/http/open-agent.ts";
export { retryAfterMs } from "../sdk/http/retry-pause.ts";
export { BROWSER_CODINGS } from "../wire/fields.ts";
export { SIMULATED_REGIONS_PATH, type SimulatedRegion, simulatedRegionsSchema } from "../wire/simulated-regions.ts";

// `audit` reads the fields of answers by the rules that the edge stores by, and names cookies that the edge would heed.

export { effectiveCacheControl } from "../worker/rules/directives/targeted-fields.ts";
export { isToken } from "../worker/rules/fields/token.ts";
export { cookiesIn, UNREAD_COOKIES } from "../worker/rules/identity/cookies.ts";
export { carriesSession } from "../worker/rules/identity/session-cookies.ts";
export { speaksOfCredentials } from "../worker/rules/request/credential-names.ts";
export { varyFields } from "../worker/rules/variants/vary.ts";

// `import` writes a site as its owner would, without the expressions of which the edge warns, for paths as its routes see
// them, and tells which fields of visitors reach the origin, and which may be keyed.

export { normalEscapes, routeSpelling } from "../worker/rules/key/canonical-url.ts";
export { mayBeKeyed, ordinaryForm, treatmentOf } from "../worker/rules/request/request-fields.ts";
export { mayTakeExponentialTime } from "../worker/site/exponential-time.ts";
export { SiteError } from "../worker/site/site-error.ts";
export type { RouteInput, SiteInput } from "../worker/site/site-input.ts";

// `report` counts pages by the edge's own keys, tries memories with its own eviction, and shows no URL with a secret.

export { canonicalUrl } from "../worker/rules/key/canonical-url.ts";
export { matchesAnyName } from "../worker/rules/key/name-pattern.ts";
export { canonicalQuery, TRACKING_PARAMETERS } from "../worker/rules/key/query.ts";
export { shownUrl } from "../worker/rules/request/shown-url.ts";
export { EvictingMap } from "../worker/store/evicting-map.ts";
export { LARGEST_SHARE } from "../worker/store/memory-tier.ts";

// `report` tries a budget for the origin with the edge's own queue: who waits, whose turn is next, and by which counts.

export { RecentCounts } from "../worker/flow/origin/recent-counts.ts";
export { networkOf, readNetwork } from "../worker/rules/forwarding/trusted-proxies.ts";
export {
  compareTurns,
  hasWaitedTooLong,
  lastInLine,
  mayWait,
  nextInLine,
  type QueueLimits,
  type Waiting,
} from "../worker/rules/queueing/queue-order.ts";
export { TurnsLately } from "../worker/rules/queueing/turns-lately.ts";
export { DEFAULT_QUEUE } from "../worker/site/default-queue.ts";

// `report --deploy` compresses files as the server does, by the versions that browsers would name.

export { encode } from "../server/compression/encode.ts";
export { dictionaryMatch } from "../worker/rules/deltas/dictionary-match.ts";
export { DELTA_BODIES } from "../worker/rules/deltas/dictionary-use.ts";
export { compressionSettings } from "../worker/site/compression-settings.ts";

// `replay` runs the edge itself: an isolate, as the server on Node starts one, with a clock, an origin and a shared tier
// of the replay.

export { nodeBodies } from "../server/bodies/node-bodies.ts";
export type { NodeBody } from "../server/bodies/node-body.ts";
export { toWebRequest } from "../server/http1/node-request.ts";
export { NearInvalidations } from "../server/log/near-invalidations.ts";
export { sqlOver } from "../server/log/node-sql.ts";
export { loadSite } from "../server/program/load-site.ts";
export { memoryAlone } from "../server/startup/memory-alone.ts";
export { type EdgeAnswer, startIsolate } from "../worker/isolate.ts";
export { startControl } from "../worker/isolate-control.ts";
export { Counters } from "../worker/metrics/counters.ts";
export type { StreamedBody } from "../worker/ports/bodies.ts";
export type { Clock } from "../worker/ports/clock.ts";
export type { Origin, OriginAnswer, OriginRequest } from "../worker/ports/origin.ts";
export type { EdgeEvent } from "../worker/ports/reporter.ts";
export { SqlPurgeLog } from "../worker/purges/log/sql-purge-log.ts";
export { Fields } from "../worker/rules/fields/fields.ts";
export type { BytePart } from "../worker/rules/ranges/range.ts";
export { isMarker, type StoredHead, type VariantMarker } from "../worker/rules/storing/stored-response.ts";
export { compileSite, type Site } from "../worker/site/site.ts";
export type { SharedTier } from "../worker/store/tiered-store.ts";
