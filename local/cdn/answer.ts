import type { WireAnswer, WireRequest } from "./exchange.ts";

/** An answer that a visitor of a simulated CDN received. */
export interface CdnAnswer extends WireAnswer {
  /** The region that answered. */
  readonly region: string;
  /** The number of its isolate, from 0. */
  readonly isolate: number;
  /** The request as it was sent, with the visitor's country and address if they were given. */
  readonly request: Required<Pick<WireRequest, "method" | "path" | "host">> &
    Pick<WireRequest, "fields" | "body"> & { readonly country?: string; readonly address?: string };
  /** `HIT`, `MISS`, `EXPIRED`, `REVALIDATED`, `UPDATING`, `STALE`, `BYPASS`; `null` if the edge made the answer itself. */
  readonly xCache: string | null;
  /** The field `Cache-Status`; `null` if there is none. */
  readonly cacheStatus: string | null;
  /** The field `Age`, in seconds; `null` if there is none. */
  readonly ageSeconds: number | null;
}

export function answerFrom(answer: WireAnswer, from: Pick<CdnAnswer, "region" | "isolate" | "request">): CdnAnswer {
  const { "x-cache": xCache = null, "cache-status": cacheStatus = null, age } = answer.fields;
  return { ...answer, ...from, xCache, cacheStatus, ageSeconds: age === undefined ? null : Number(age) };
}
