import type { StaleRules } from "../../../worker/rules/freshness/judge.ts";
import type { StoredHead } from "../../../worker/rules/storing/stored-response.ts";

/** Noon of the first day of 2026, when `storedHead` was fetched: epoch milliseconds. */
export const NOON = Date.UTC(2026, 0, 1, 12);

/** An owner who has said nothing about stale answers. */
export const NO_STALE_RULES: StaleRules = {
  ifErrorSeconds: 0,
  ifDisconnectedSeconds: 0,
  ifErrorWhileUnknown: true,
  whileRevalidateSeconds: 0,
  softForMs: 0,
  overSMaxage: false,
};

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
      staleWhileRevalidateSeconds: null,
      staleIfErrorSeconds: null,
      validateAlways: false,
      mayServeStale: true,
      mayServeStaleOverSMaxage: true,
      immutable: false,
    },
    sharedWithAuthorized: false,
    sharedWithSessions: true,
    givenPurgeKeys: [],
    stamp: { logId: "log", seq: 1 },
    ...change,
  };
}
