/** Numbers and times as people write them. */

export function whole(count: number): string {
  return count.toLocaleString("en-US");
}

/** To a tenth. What is not all is never said to be 100 %. */
export function percent(share: number): string {
  const tenths = Math.round(share * 1000);
  return `${(share < 1 ? Math.min(tenths, 999) : tenths) / 10} %`;
}

export function share(part: number, all: number): string {
  return all === 0 ? "–" : percent(part / all);
}

export function size(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
  const unit = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  return `${Number((bytes / 1000 ** unit).toPrecision(3))} ${units[unit]}`;
}

export function ms(time: number | undefined): string {
  if (time === undefined) return "–";
  return time < 10_000 ? `${Number(time.toPrecision(2))} ms` : `${Number((time / 1000).toPrecision(2))} s`;
}

export function plural(count: number, one: string): string {
  return `${whole(count)} ${one}${count === 1 ? "" : "s"}`;
}

/** The beginning of a span, as far as it tells spans apart. */
export function timeOf(at: number, spanMs: number): string {
  const time = { hour: "2-digit", minute: "2-digit" } as const;
  const day = { day: "numeric", month: "short" } as const;
  const options = spanMs < 3_600_000 ? time : spanMs < 86_400_000 ? { weekday: "short" as const, ...time } : day;
  return new Date(at).toLocaleString("en-GB", options);
}

export function instant(iso: string): string {
  return new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
}

/** What each `X-Cache` means. */
export const OUTCOMES: Readonly<Record<string, string>> = {
  HIT: "",
  UPDATING: "stale, and refreshed behind the answer",
  STALE: "stale, because the origin failed",
  REVALIDATED: "confirmed by the origin",
  EXPIRED: "was stale, and fetched again",
  MISS: "nothing usable was stored",
  BYPASS: "not looked up",
};

/** Why an answer was not stored, by the `detail` of its `Cache-Status`, where its name does not say it. */
export const REASONS: Readonly<Record<string, string>> = {
  vary: "its Vary names what cannot select",
  cookie: "the visitor's cookies may have shaped it",
  "error-for-odd-request": "an error, and the request was unusual",
  "no-freshness": "neither the origin nor a rule gives a lifetime",
  "unframed-body": "its end cannot be told from a cut",
  "being-stored": "another copy of it was being stored",
  "unkeyed-field": "a field that is not in the key may have chosen it",
};
