import type { FoundResponse } from "../ports/store.ts";
import type { ForwardReason, XCache } from "../rules/forwarding/cache-status.ts";
import { isMadeStale, isWorthStoring, type Verdict } from "../rules/freshness/judge.ts";
import { notStoredDetail } from "../rules/storing/not-stored.ts";
import { type StoredHead, validatorsOf } from "../rules/storing/stored-response.ts";
import { sinceModifiedMs, validationFields } from "../rules/validation/conditions.ts";
import { isEntityTag } from "../rules/validation/entity-tag.ts";
import type { RequestContext } from "./request-context.ts";
import { hasVariants } from "./selection.ts";

/** Why a request goes to the origin, and what the stored responses can still be used for. */
export type Miss = MissReason & {
  /** The stored response that may answer if the origin fails; `null` for none. Its body may have been left unread. */
  readonly selected: FoundResponse | null;
  /** The stored response that the origin may confirm; `null` for none. RFC 9111 §4.3.1. */
  readonly toValidate: FoundResponse | null;
  /** Set if the client's own conditions go to the origin: for the part that it names, or by its date. */
  readonly asks?: "part" | "date";
};

/**
 * - `absent`: the request selects no stored response, or the body of the one that it selects is gone.
 * - `purged`: the stored response was purged, and no part of it is used.
 * - `stale`: a stored response has to be validated.
 * - `doubted`: a stored response is not known to be stale, and may not answer as it is.
 * - `refused`: a stored response must not be used for this visitor.
 * - `past-the-cache`: the owner sends requests with such a cookie, field or parameter past the cache, or the path has a session.
 * - `marked`: a second look has found that this field of the request chooses the page.
 * - `passed-on`: the request is not looked up for another reason.
 * - `refresh`: the response is fetched whatever is stored, because of `Tidemark-Refresh`.
 */
export type MissReason =
  | { readonly kind: "absent"; readonly because: "nothing" | "other-variants" | "body-gone" }
  | { readonly kind: "stale"; readonly because: Exclude<ToValidate["because"], Doubt> }
  | { readonly kind: "doubted"; readonly because: Doubt | "unverifiable" }
  | { readonly kind: "refused"; readonly because: "authorization" | "session" }
  | { readonly kind: "past-the-cache"; readonly because: "cookie" | "field" | "query" | "session" }
  | { readonly kind: "marked"; readonly field: string }
  | { readonly kind: "passed-on"; readonly because: "method" | "pass" | "condition" | "route-condition" }
  | { readonly kind: "purged" | "refresh" };

type ToValidate = Extract<Verdict, { kind: "validate" }>;
/** The reasons to validate a response that is not known to be stale. */
type Doubt = "request-directive" | "purge-state-unknown";

/** A miss in the words of `X-Cache`, of `Cache-Status` and of explanations. */
export interface MissWords {
  readonly xCache: XCache;
  readonly reason: ForwardReason;
  readonly detail?: string | undefined;
}

export type UsableVerdict = Extract<Verdict, { kind: "fresh" | "stale-usable" }>;
export type UnusableVerdict = Exclude<Verdict, UsableVerdict>;

/** A stored response that may not answer, at least not before it has been validated. */
export interface UnusableResponse {
  readonly stored: FoundResponse;
  readonly verdict: UnusableVerdict;
}

/** A miss for which nothing that is stored is of use. */
export function missBy(reason: MissReason): Miss {
  return { ...reason, selected: null, toValidate: null };
}

/** The body was stored apart and is gone. */
export const BODY_GONE = missBy({ kind: "absent", because: "body-gone" });

/** The words that people read about a miss. No decision reads them. */
export function wordsOf(miss: Miss): MissWords {
  const words = wordsOfReason(miss);
  return miss.asks === "part" ? { ...words, reason: "partial" } : words;
}

function wordsOfReason(miss: MissReason): MissWords {
  switch (miss.kind) {
    case "absent": {
      const reason = miss.because === "other-variants" ? "vary-miss" : "uri-miss";
      return { xCache: "MISS", reason, detail: miss.because === "body-gone" ? miss.because : undefined };
    }
    case "purged":
      return { xCache: "MISS", reason: "stale", detail: miss.kind };
    case "stale":
      return { xCache: "EXPIRED", reason: "stale", detail: miss.because === "stale" ? undefined : miss.because };
    case "doubted":
    case "refused":
      return { xCache: "MISS", reason: "request", detail: miss.because };
    case "past-the-cache":
      return { xCache: "BYPASS", reason: "bypass", detail: `bypass-${miss.because}` };
    case "marked":
      return { xCache: "BYPASS", reason: "bypass", detail: notStoredDetail({ ...miss, because: "unkeyed-field" }) };
    case "passed-on": {
      const reason = miss.because === "method" ? "method" : "bypass";
      return { xCache: "BYPASS", reason, detail: miss.because === "route-condition" ? miss.because : undefined };
    }
    case "refresh":
      return { xCache: "BYPASS", reason: "request", detail: miss.kind };
  }
}

/** Summarises unusable responses as one miss. */
export function missOf(context: RequestContext, unusable: readonly UnusableResponse[]): Miss {
  const [first] = unusable;
  if (!first) return missBy({ kind: "absent", because: hasVariants(context) ? "other-variants" : "nothing" });
  const [latest] = unusable
    .filter(({ verdict }) => verdict.kind === "validate")
    .sort((a, b) => b.stored.head.fetchedAt - a.stored.head.fetchedAt);
  const { stored, verdict } = latest ?? first;
  if (verdict.kind === "validate") return { ...reasonToValidate(verdict), selected: stored, toValidate: stored };
  return missBy(reasonToFetch(verdict));
}

/**
 * Whether the origin may confirm a response now, after a wait (R10). Validators must tell the versions of a page apart, and
 * a date does not within its second (RFC 9110 §8.8.2.2). Where the page has changed, tags count as dates, because many
 * origins make them from `Last-Modified` and the length.
 */
export function mayBeConfirmed({ ports }: RequestContext, head: StoredHead): boolean {
  const answer = ports.purges.check(head);
  const isCurrent = !isMadeStale(answer);
  if (isCurrent && !isWorthStoring(answer)) return false;
  const validators = validatorsOf(head);
  if (isCurrent && isEntityTag(validators.etag ?? "")) return true;
  return !(sinceModifiedMs(validators, ports.clock.now()) < 1000);
}

/** What a request that is looked up may say of a part, or of what its client holds. */
const OF_CLIENT = ["range", "if-range", "if-none-match", "if-modified-since"];

/**
 * The fields that ask the origin to confirm the stored response; `null` if it has no validators, or may not be confirmed.
 * RFC 9111 §4.3.1. For a part, or by the client's date, they are the client's.
 */
export function conditionsOf(context: RequestContext, { toValidate, asks }: Miss): ReturnType<typeof validationFields> {
  const { facts, ports } = context;
  if (asks) return [...facts.fields].filter(([name]) => OF_CLIENT.includes(name));
  if (toValidate === null || ports.origin.isCache || !mayBeConfirmed(context, toValidate.head)) return null;
  return validationFields(validatorsOf(toValidate.head), ports.clock.now());
}

function reasonToValidate({ because }: ToValidate): MissReason {
  switch (because) {
    case "request-directive":
    case "purge-state-unknown":
      return { kind: "doubted", because };
    default:
      return { kind: "stale", because };
  }
}

function reasonToFetch({ because }: Extract<Verdict, { kind: "none" }>): MissReason {
  switch (because) {
    case "purged":
      return { kind: because };
    case "unverifiable":
      return { kind: "doubted", because };
    default:
      return { kind: "refused", because };
  }
}

/** The `X-Cache` of an answer from the store. */
export function xCacheOf(verdict: UsableVerdict): XCache {
  if (verdict.kind === "fresh") return "HIT";
  switch (verdict.because) {
    case "max-stale":
      return "STALE";
    case "stale-while-revalidate":
    case "stale.whileRevalidate":
    case "soft-purge":
      return "UPDATING";
  }
}
