/** `tidemark/local`: a whole CDN in a test. */

export { ConfigFileError } from "../package/config-file-error.ts";
export type { IsolateStats } from "../wire/stats.ts";
export type { CdnAnswer, SentRequest } from "./cdn/answer.ts";
export type { Cdn, CdnRequest } from "./cdn/cdn.ts";
export type { CdnOptions, CdnSettings, SimulatedSiteInput } from "./cdn/cdn-options.ts";
export type { SimulatedDuration } from "./cdn/duration.ts";
export { type Latency, ROUND_TRIPS, type RoundTrips } from "./cdn/latency.ts";
export type { Pop } from "./cdn/pop.ts";
export type { Interim, OriginScript, Reply, ScriptedOrigin, SeenRequest, ServerReply } from "./cdn/scripted-origin.ts";
export type { SimulatedLog } from "./cdn/simulated-log.ts";
export { startCdn } from "./cdn/start-cdn.ts";
export type { AnswerOrPromise, AnswerOrResponse, FetchedResponse } from "./matchers/answer-claims.ts";
export {
  assertAgeAbout,
  assertBypass,
  assertHit,
  assertMiss,
  assertNeverShows,
  assertNeverStores,
  assertSeen,
  assertStale,
  assertStored,
} from "./matchers/assertions.ts";
export { cdnMatchers } from "./matchers/matchers.ts";
export type { LogConnections } from "./runtime/harness-protocol.ts";
