const DAY_MS = 24 * 3600 * 1000;

/** Bounds of the log. The view's own bound stands with the view. */
export interface LogSettings {
  /** Above so many reads per second the log grants longer leases than it is asked for (R6). */
  readonly readsPerSecond: number;
  /** The most keys that one reply tells, the newest first. */
  readonly replyKeys: number;
  /** The most keys that the log holds; the oldest beyond it are covered by the floor. */
  readonly heldKeys: number;
  /** The most rows of the audit trail, and how long they are kept, in milliseconds. */
  readonly auditRows: number;
  readonly auditMs: number;
  /** How many ids are remembered, and how long, in milliseconds. For a day they are, however many they be. */
  readonly ids: number;
  readonly idMs: number;
  /** Numbers end here, and another log begins. */
  readonly mostSeq: number;
}

export const LOG_SETTINGS: LogSettings = {
  // One object is documented to take about 1,000 requests a second, 200 to 500 where it also writes.
  readsPerSecond: 300,
  // 240,000 bytes: a reply stays under 256 KiB, and over the 10,000 items that one purge may have.
  replyKeys: 20_000,
  // As many as the table of a view has slots for; at 36 bytes each some 50 MB of the 10 GB that an object may store.
  heldKeys: 1_300_000,
  // 165 bytes each with two items and a short reason, 4 KB where all is as long as it may be: up to 400 MB.
  auditRows: 100_000,
  auditMs: 90 * DAY_MS,
  // 170 bytes each with the ids that the SDK makes: some 170 MB, unless a day has more.
  ids: 1_000_000,
  idMs: 30 * DAY_MS,
  // Views hold numbers in 32 bits. At 500 purges a second that is 99 days, at one a second 136 years.
  mostSeq: 2 ** 32 - 1,
};
