import { LONGEST_USE_MS, REMEMBERED_BY_NAME_MS } from "./log-contract.ts";

const DAY_MS = 24 * 3600 * 1000;

/** Bounds of the log. */
export interface LogSettings {
  /** How long a named reader that is no longer heard of may serve responses of unknown purge state for a lease. */
  readonly rememberedByNameMs: number;
  /** The longest that any version of the site may use a view, or R8, in milliseconds (R13). */
  readonly longestUseMs: number;
  /** Above this many reads a second, the log grants longer leases than requested (R6). */
  readonly readsPerSecond: number;
  /** The most keys in one reply, the newest first. */
  readonly maxReplyKeys: number;
  /** The most keys that the log holds. Older keys are deleted, and the floor covers them. */
  readonly maxHeldKeys: number;
  /** The most rows of the audit trail, and how long a row is kept at most, in milliseconds. */
  readonly maxAuditRows: number;
  readonly auditRetentionMs: number;
  /** Rows of unsafe requests are kept for this many numbers, because anybody can make them. */
  readonly keptInvalidations: number;
  /** The most ids, and how long an id is kept at most, in milliseconds. For a day every id is kept. */
  readonly maxIds: number;
  readonly idRetentionMs: number;
  /** The highest sequence number. After it, another log begins. */
  readonly maxSeq: number;
}

export const LOG_SETTINGS: LogSettings = {
  rememberedByNameMs: REMEMBERED_BY_NAME_MS,
  longestUseMs: LONGEST_USE_MS,
  // One object is documented to take about 1,000 requests a second, 200 to 500 where it also writes.
  readsPerSecond: 300,
  // 240,000 bytes: a reply stays under 256 KiB, and over the 10,000 items that one purge may have.
  maxReplyKeys: 20_000,
  // A view's table has this many slots. At 36 bytes each, the keys take about 50 MB of the 10 GB that an object may
  // store.
  maxHeldKeys: 1_300_000,
  // Rows take 165 bytes with two items and a short reason, and at most 4 KB: up to 400 MB.
  maxAuditRows: 100_000,
  auditRetentionMs: 90 * DAY_MS,
  keptInvalidations: 10_000,
  // Ids take 170 bytes each in the SDK's format: about 170 MB, unless a day has more.
  maxIds: 1_000_000,
  idRetentionMs: 30 * DAY_MS,
  // Views hold numbers in 32 bits. At 500 purges a second that is 99 days, at one a second 136 years.
  maxSeq: 2 ** 32 - 1,
};
