/** `tidemark/local`: a whole CDN in a test. */

export type { IsolateStats } from "../wire/stats.ts";
export type { CdnAnswer } from "./answer.ts";
export type { Cdn, CdnRequest } from "./cdn.ts";
export type { CdnOptions, OriginScript, SimulatedSiteInput } from "./cdn-options.ts";
export { ConfigFileError } from "./config/config-file-error.ts";
export type { SimulatedDuration } from "./duration.ts";
export { type Latency, ROUND_TRIPS, type RoundTrips } from "./latency.ts";
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
export { type CdnMatchers, cdnMatchers } from "./matchers/matchers.ts";
export type { Pop } from "./pop.ts";
export type { LogConnections } from "./runtime/harness-protocol.ts";
export type { Reply, ScriptedOrigin, SeenRequest, ServerReply } from "./scripted-origin.ts";
export type { SimulatedLog } from "./simulated-log.ts";
export { startCdn } from "./start-cdn.ts";
