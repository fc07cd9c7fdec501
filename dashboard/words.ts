import { ms, percent } from "../wire/text/numbers.ts";

export function share(part: number, all: number): string {
  return all === 0 ? "–" : percent(part / all);
}

/** A time, or a dash where there is none. */
export function time(value: number | undefined): string {
  if (value === undefined) return "–";
  return value < 10_000 ? ms(value) : `${Number((value / 1000).toPrecision(2))} s`;
}

/** The beginning of a span, with the parts that distinguish spans. A span of days begins with a day of UTC. */
export function timeOf(at: number, spanMs: number): string {
  const clock = { hour: "2-digit", minute: "2-digit" } as const;
  const day = { day: "numeric", month: "short", timeZone: "UTC" } as const;
  const options = spanMs < 3_600_000 ? clock : spanMs < 86_400_000 ? { weekday: "short" as const, ...clock } : day;
  return new Date(at).toLocaleString("en-GB", options);
}

export function instant(iso: string): string {
  return new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
}

/** What each `X-Cache` means. */
export const OUTCOMES: Readonly<Record<string, string>> = {
  HIT: "",
  UPDATING: "stale; refreshed after the answer",
  STALE: "stale, in the origin's place",
  REVALIDATED: "confirmed by the origin",
  EXPIRED: "was stale, and fetched again",
  MISS: "nothing usable was stored",
  BYPASS: "not looked up",
};

/** Why an answer was not stored, by the `detail` of its `Cache-Status`, if that name does not explain itself. */
export const REASONS: Readonly<Record<string, string>> = {
  vary: "its Vary names a field that cannot select",
  cookie: "the visitor's cookies may have shaped it",
  "no-freshness": "neither the origin nor a rule gives a lifetime",
  "unframed-body": "its end looks the same as a cut connection",
  "being-stored": "another copy of it was being stored",
  "over-budget": "too many bodies were on their way, or it stood still",
  "unkeyed-field": "a field that is not in the key may have changed it",
  "store-failed": "the store could not be written or read",
};
