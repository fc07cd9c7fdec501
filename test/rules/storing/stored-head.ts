import type { StoredHead } from "../../../worker/rules/storing/stored-response.ts";

/** Noon of the first day of 2026, when `storedHead` was fetched: epoch milliseconds. */
export const NOON = Date.UTC(2026, 0, 1, 12);

/** The head of a plain page that is fresh for a minute, with a test's changes. */
export function storedHead(change: Partial<StoredHead> = {}): StoredHead {
  return {
    key: "http://www.example.test/a",
    variant: [],
    status: 200,
    fields: [],
    hiddenFields: [],
    bodyBytes: 2,
    bodyKey: null,
    fetchedAt: NOON,
    receivedAt: NOON,
    initialAgeMs: 0,
    freshnessSeconds: 60,
    reuse: {
      staleWhileRevalidateSeconds: 0,
      staleIfErrorSeconds: null,
      validateAlways: false,
      mayServeStale: true,
      immutable: false,
    },
    sharedWithAuthorized: false,
    sharedWithSessions: true,
    givenPurgeKeys: [],
    stamp: { logId: "log", seq: 1 },
    ...change,
  };
}
