import type { CacheControl } from "../directives/cache-control.ts";
import { type ReuseRules, reuseRules } from "../directives/reuse-rules.ts";
import { effectiveCacheControl } from "../directives/targeted-fields.ts";
import { parseHttpDate } from "../fields/http-date.ts";
import { initialAgeMs } from "../freshness/current-age.ts";
import {
  type FreshnessLifetime,
  freshnessLifetime,
  isExplicit,
  type LifetimeRules,
  type ReceivedResponse,
} from "../freshness/freshness-lifetime.ts";
import { isHeuristicallyCacheable } from "../freshness/heuristic-freshness.ts";
import { varyFields } from "../variants/vary.ts";
import { isErrorStatus, isStorableStatus, isUnderstoodStatus } from "./storable-status.ts";

/** What the request brings that matters for storing. */
export interface StoreRequest {
  readonly method: string;
  readonly authorized: boolean;
  /** True if it carries cookies that may tell visitors apart. */
  readonly identifying: boolean;
  /** True if it asks for a part, or under conditions. */
  readonly partialOrConditional: boolean;
  /** True if its `Cache-Control` says `no-store`. */
  readonly forbidsStoring: boolean;
  /** True if nothing in it can have made the origin fail: `isPlainRequest`. */
  readonly plain: boolean;
}

/** What the response brings that matters for storing. */
export interface StoreResponse extends ReceivedResponse {
  /** When the fetch began: epoch milliseconds. */
  readonly requestedAt: number;
}

/** What the owner says about storing. */
export interface StoreRules extends LifetimeRules {
  /** Targeted fields of this site, in lower case; they outrank the usual ones. RFC 9213 §2.2. */
  readonly targetedFields: readonly string[];
}

/** A reason against storing, as it stands in `Cache-Status`. */
export type NotStorableBecause =
  | "method"
  | "authorization"
  | "partial-or-conditional"
  | "request-no-store"
  | "status"
  | "no-store"
  | "private"
  | "no-cache"
  | "set-cookie"
  | "vary"
  | "cookie"
  | "error-for-odd-request"
  | "unframed-body"
  | "no-freshness"
  | "stale-on-arrival";

export type StoreVerdict =
  | {
      readonly kind: "store";
      readonly freshness: FreshnessLifetime;
      readonly initialAgeMs: number;
      readonly sharedWithAuthorized: boolean;
      /** Fields that are not stored with the rest, in lower case. RFC 9111 §5.2.2.4, §5.2.2.7. */
      readonly withheldFields: readonly string[];
      readonly reuse: ReuseRules;
    }
  | { readonly kind: "pass"; readonly because: NotStorableBecause };

/** Whether a shared cache may keep this response, and for what. RFC 9111 §3. Stricter than the RFC in doubt. */
export function mayStore(request: StoreRequest, response: StoreResponse, rules: StoreRules): StoreVerdict {
  const { field, requestedAt, receivedAt } = response;
  const speaking = effectiveCacheControl(field, rules.targetedFields);
  const { cacheControl } = speaking;
  const because = requestSpeaksAgainst(request) ?? responseSpeaksAgainst(request, response, cacheControl);
  if (because) return { kind: "pass", because };
  const freshness = freshnessLifetime(response, speaking, rules);
  const ageMs = initialAgeMs(field("age"), field("date"), requestedAt, receivedAt);
  const reuse = reuseRules(cacheControl);
  const useless = isUseless(response, cacheControl, freshness, ageMs, reuse);
  if (useless) return { kind: "pass", because: useless };
  return {
    kind: "store",
    freshness,
    initialAgeMs: ageMs,
    sharedWithAuthorized: isMeantForAll(cacheControl) || cacheControl.mustRevalidate, // §3.5
    withheldFields: withheldFields(cacheControl),
    reuse,
  };
}

function requestSpeaksAgainst(request: StoreRequest): NotStorableBecause | undefined {
  if (request.method !== "GET") return "method";
  if (request.authorized) return "authorization";
  if (request.partialOrConditional) return "partial-or-conditional";
  if (request.forbidsStoring) return "request-no-store"; // §5.2.1.5
  return undefined;
}

function responseSpeaksAgainst(
  request: StoreRequest,
  response: StoreResponse,
  cacheControl: CacheControl,
): NotStorableBecause | undefined {
  const { status, field } = response;
  if (!isStorableStatus(status)) return "status";
  if (cacheControl.mustUnderstand && !isUnderstoodStatus(status)) return "status"; // §5.2.2.3
  if (cacheControl.noStore && !cacheControl.mustUnderstand) return "no-store"; // §5.2.2.5, §5.2.2.3
  if (cacheControl.private === "whole") return "private"; // §5.2.2.7
  if (field("set-cookie") !== null && !withheldFields(cacheControl).includes("set-cookie")) return "set-cookie"; // §7.3
  if (varyFields(field("vary")) === "*") return "vary"; // §4.1
  if (request.identifying && !isMeantForAll(cacheControl)) return "cookie";
  if (isErrorStatus(status) && !request.plain) return "error-for-odd-request";
  if (!isFramed(response)) return "unframed-body";
  return undefined;
}

/** Why nothing could ever be answered with it: it is not fresh, may not be used stale, and cannot be validated. */
function isUseless(
  response: StoreResponse,
  cacheControl: CacheControl,
  freshness: FreshnessLifetime,
  ageMs: number,
  { validateAlways, mayServeStale, staleWhileRevalidateSeconds }: ReuseRules,
): NotStorableBecause | undefined {
  const hasReason = isExplicit(freshness) || cacheControl.public || isHeuristicallyCacheable(response.status); // §3
  if (validateAlways) {
    if (!hasReason && freshness.seconds <= 0) return "no-freshness";
    return hasValidator(response) ? undefined : "no-cache";
  }
  const usableSeconds = freshness.seconds + (mayServeStale ? staleWhileRevalidateSeconds : 0);
  const isNeverFresh = freshness.seconds <= 0;
  if (isNeverFresh && !isExplicit(freshness)) return "no-freshness";
  if (ageMs < usableSeconds * 1000 || hasValidator(response)) return undefined;
  return isNeverFresh ? "no-freshness" : "stale-on-arrival";
}

/** Whether the origin can be asked if this is still what it has. RFC 9110 §8.8. */
function hasValidator({ field, receivedAt }: StoreResponse): boolean {
  return ENTITY_TAG.test(field("etag") ?? "") || parseHttpDate(field("last-modified"), receivedAt) !== undefined;
}

/** RFC 9110 §8.8.3. */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;

/** Fields that are for one visitor, or not to be used again without validation: they are left out. */
function withheldFields({ private: ofOne, noCache }: CacheControl): readonly string[] {
  const ofOneVisitor = typeof ofOne === "string" ? [] : ofOne;
  return typeof noCache === "string" ? ofOneVisitor : [...new Set([...ofOneVisitor, ...noCache])];
}

/** Whether the origin says that one answer is for everybody: `s-maxage=0` and garbage do not say so. */
function isMeantForAll({ public: isPublic, sMaxage }: CacheControl): boolean {
  return isPublic || (typeof sMaxage === "number" && sMaxage > 0);
}

/** Whether a cut in the body would show: a length, chunks, or no body at all. RFC 9112 §6.3, §8. */
function isFramed(response: StoreResponse): boolean {
  if (response.status === 204) return true;
  return response.field("content-length") !== null || response.field("transfer-encoding") !== null;
}
