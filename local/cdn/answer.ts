import type { WireAnswer } from "./exchange.ts";

/** A visitor's request. */
export interface SentRequest {
  readonly method: string;
  /** Path and query, exactly as they were sent. */
  readonly path: string;
  /** The field `Host`. */
  readonly host: string;
  /** The given fields, and those for `token` and `after`. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The visitor's country for the platform, if that was given. */
  readonly country?: string;
  /** The visitor's address, if that was given. */
  readonly address?: string;
}

/** An answer that a visitor of a simulated CDN received. */
export interface CdnAnswer {
  readonly status: number;
  /** By name in lower case. Several lines of one field are joined by commas. */
  readonly fields: Readonly<Record<string, string>>;
  /** The body as UTF-8, without the codings of `Content-Encoding` if it is wholly in them. */
  readonly body: string;
  /** Whether the connection ended before the body did. */
  readonly cutOff: boolean;
  /** The region that answered. */
  readonly region: string;
  /** The number of its isolate, from 0. */
  readonly isolate: number;
  /** The request that it answers. */
  readonly request: SentRequest;
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
