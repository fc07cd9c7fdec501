/** The common exports of both entries of the purge client. Each entry adds a `createPurger` with its own transport. */

export type {
  CertificateStats,
  DiskStats,
  LogStats,
  MachineStats,
  OriginQueueStats,
  ProcessStats,
  WorkerStats,
} from "../wire/machine-stats.ts";
export type {
  ComparedPages,
  CountsByName,
  MemoryStats,
  RouteStats,
  SiteCounts,
  SiteStats,
  SpanStats,
  TimeStats,
  TimesByTier,
  TopUrlStats,
} from "../wire/stats.ts";
export type {
  BatchOptions,
  BatchOutcome,
  BatchProgress,
  BatchReceipt,
  PurgeBatch,
  PurgeCollector,
} from "./batch/batch.ts";
export type { DividedCall } from "./batch/divide.ts";
export { type PurgeFailure, PurgeIncomplete } from "./batch/purge-incomplete.ts";
export {
  PurgeConflict,
  PurgeError,
  type PurgeErrorCode,
  PurgeForbidden,
  PurgeRateLimited,
  PurgeRejected,
  PurgeTimeout,
  PurgeUnauthorized,
  PurgeUnreachable,
  type RejectedItem,
} from "./errors.ts";
export type { ReplyLike } from "./frameworks/editor-cookie.ts";
export type { PurgeEvent, RequestEvent } from "./http/diagnostics.ts";
export type { Fetch, FetchAnswer, FetchBody, FetchBodyReader, FetchInit } from "./http/transport.ts";
export type { EdgeOptions, PurgerOptions } from "./options.ts";
export type {
  PurgeRecord,
  PurgeRecordPage,
  PurgeReference,
  PurgesQuery,
  ReadOptions,
  SeqAtEdge,
} from "./purge-record.ts";
export type {
  AtLeastOne,
  ItemList,
  ItemsInput,
  ItemsThenOptions,
  PurgeDetails,
  PurgeInput,
  PurgeInputItems,
  PurgeOptions,
  PurgeRequest,
  PurgeRequestItems,
} from "./purge-request.ts";
export type { Purger } from "./purger.ts";
export type {
  Accepted,
  EdgeReceipt,
  Planned,
  Receipt,
  ReceiptBody,
  Refreshed,
  SettledOptions,
  Unseen,
} from "./receipt.ts";
export type { StatsQuery } from "./site-stats.ts";
export { defineTags, type TagOf, type TagVocabulary } from "./tags/define-tags.ts";
export {
  type HeadersLike,
  type ResponseLike,
  type ServerResponseLike,
  type TagLimits,
  tagResponse,
} from "./tags/tag-response.ts";
