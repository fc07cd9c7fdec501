import type { RenewalWindow } from "./renewal.ts";

/** An authority's answer about the renewal of a certificate, and when to ask again. RFC 9773 §4.2, §4.3. */
export interface RenewalInfo {
  readonly window: RenewalWindow;
  /** Milliseconds from the answer. */
  readonly againInMs: number;
}

const HOUR_MS = 3_600_000;
/** The default if the authority does not say. */
export const ASK_AGAIN_MS = 6 * HOUR_MS;
/** RFC 9773 §4.3.2 asks for limits, so that the authority is asked neither all the time nor never again. */
const LEAST_MS = 60_000;
export const MOST_ASK_AGAIN_MS = 24 * HOUR_MS;

/** Reads an answer. `null` if it names no window, or one that ends before it begins, which is to be ignored (§4.2). */
export function readRenewalInfo(body: string, retryAfterMs: number | null): RenewalInfo | null {
  const { start, end } = suggestedWindow(body);
  const startAt = epochMs(start);
  const endAt = epochMs(end);
  if (!(startAt < endAt)) return null;
  const againInMs = Math.min(Math.max(retryAfterMs ?? ASK_AGAIN_MS, LEAST_MS), MOST_ASK_AGAIN_MS);
  return { window: { startAt, endAt }, againInMs };
}

function suggestedWindow(body: string): { readonly start?: unknown; readonly end?: unknown } {
  try {
    return (JSON.parse(body) as { readonly suggestedWindow?: object } | null)?.suggestedWindow ?? {};
  } catch {
    return {}; // malformed JSON counts as no window
  }
}

/** NaN for a text that is not a date of RFC 3339. */
function epochMs(text: unknown): number {
  return typeof text === "string" && /^\d{4}-\d\d-\d\d[Tt]/.test(text) ? Date.parse(text) : Number.NaN;
}

/** Milliseconds that a `Retry-After` asks for at `now`; `null` if there is none, or none that can be read. RFC 9110 §10.2.3. */
export function readRetryAfter(field: string | null, now: number): number | null {
  if (field === null) return null;
  if (/^\d{1,9}$/.test(field)) return Number(field) * 1000;
  const at = Date.parse(field);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
