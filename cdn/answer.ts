import type { WireAnswer, WireRequest } from "./exchange.ts";

/** What a visitor of a simulated CDN got. */
export interface CdnAnswer extends WireAnswer {
  /** The region that answered, and its isolate: 0 for the first. */
  readonly region: string;
  readonly isolate: number;
  /** What was asked, as it went over the wire. */
  readonly asked: Required<Pick<WireRequest, "method" | "path" | "host">> & Pick<WireRequest, "fields" | "body">;
  /** `HIT`, `MISS`, `EXPIRED`, `REVALIDATED`, `UPDATING`, `STALE`, `BYPASS`; `null` where the edge answered itself. */
  readonly xCache: string | null;
  /** The field `Cache-Status`; `null` if there is none. */
  readonly cacheStatus: string | null;
  /** The field `Age`, in seconds; `null` if there is none. */
  readonly ageSeconds: number | null;
}

export function answerFrom(answer: WireAnswer, from: Pick<CdnAnswer, "region" | "isolate" | "asked">): CdnAnswer {
  const { "x-cache": xCache = null, "cache-status": cacheStatus = null, age } = answer.fields;
  return { ...answer, ...from, xCache, cacheStatus, ageSeconds: age === undefined ? null : Number(age) };
}
