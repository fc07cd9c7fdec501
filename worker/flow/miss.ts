import type { ForwardReason, XCache } from "../rules/forwarding/cache-status.ts";
import type { Verdict } from "../rules/freshness/judge.ts";
import { type StoredResponse, validatorsOf } from "../rules/storing/stored-response.ts";
import { validationFields } from "../rules/validation/conditional-request.ts";
import type { RequestContext } from "./request-context.ts";
import { hasVariants } from "./selection.ts";

/** Why no stored response may answer, and what the stored responses can still be used for. */
export interface Miss {
  readonly xCache: XCache;
  readonly reason: ForwardReason;
  readonly detail: string | undefined;
  /** The stored response that may answer if the origin fails; `null` for none. */
  readonly selected: StoredResponse | null;
  /** The stored response that the origin may confirm; `null` for none. RFC 9111 §4.3.1. */
  readonly toValidate: StoredResponse | null;
}

export type UsableVerdict = Extract<Verdict, { kind: "fresh" | "stale-usable" }>;
export type UnusableVerdict = Exclude<Verdict, UsableVerdict>;

/** A stored response that may not answer, at least not before it has been validated. */
export interface UnusableResponse {
  readonly stored: StoredResponse;
  readonly verdict: UnusableVerdict;
}

const MISS: Miss = { xCache: "MISS", reason: "uri-miss", detail: undefined, selected: null, toValidate: null };
const VARY_MISS: Miss = { ...MISS, reason: "vary-miss" };

/** The body was stored apart and is gone. */
export const BODY_GONE: Miss = { ...MISS, detail: "body-gone" };

/** The response is fetched whatever is stored, because of `Tidemark-Refresh`. */
export const REFRESH: Miss = { ...MISS, xCache: "BYPASS", reason: "request", detail: "refresh" };

/** Summarises unusable responses as one miss. A response with a hard purge is not offered for validation (R10). */
export function missOf(context: RequestContext, unusable: readonly UnusableResponse[]): Miss {
  const [first] = unusable;
  if (!first) return hasVariants(context) ? VARY_MISS : MISS;
  const [latest] = unusable
    .filter(({ verdict }) => verdict.kind === "validate")
    .sort((a, b) => b.stored.head.fetchedAt - a.stored.head.fetchedAt);
  if (latest) {
    const { stored, verdict } = latest;
    const { because } = verdict;
    const isStale = !DOUBTS.has(because);
    return {
      xCache: isStale ? "EXPIRED" : "MISS",
      reason: isStale ? "stale" : "request",
      detail: because === "stale" ? undefined : because,
      selected: stored,
      toValidate: stored,
    };
  }
  if (first.verdict.because === "purged") return { ...MISS, reason: "stale", detail: "purged" };
  return { ...MISS, reason: "request", detail: first.verdict.because };
}

/** The fields that ask the origin to confirm what is stored; `null` if there is nothing that it could confirm. RFC 9111 §4.3.1. */
export function conditionsOf({ ports }: RequestContext, { toValidate }: Miss): ReturnType<typeof validationFields> {
  if (toValidate === null || ports.origin.isCache) return null;
  return validationFields(validatorsOf(toValidate.head), ports.clock.now());
}

/** The reasons to validate a response that is not known to be stale. */
const DOUBTS: ReadonlySet<UnusableResponse["verdict"]["because"]> = new Set([
  "request-directive",
  "purge-state-unknown",
  "unverifiable",
]);

/** The `X-Cache` of an answer from the store. */
export function xCacheOf(verdict: UsableVerdict): XCache {
  if (verdict.kind === "fresh") return "HIT";
  switch (verdict.because) {
    case "max-stale":
      return "STALE";
    case "stale-while-revalidate":
    case "soft-purge":
      return "UPDATING";
  }
}
