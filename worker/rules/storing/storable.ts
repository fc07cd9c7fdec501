import { type CacheControl, UNREADABLE } from "../directives/cache-control.ts";
import { type ReuseRules, reuseRules } from "../directives/reuse-rules.ts";
import { effectiveCacheControl } from "../directives/targeted-fields.ts";
import type { Fields } from "../fields/fields.ts";
import { parseHttpDate } from "../fields/http-date.ts";
import { isEventStream } from "../forwarding/event-stream.ts";
import { initialAgeMs } from "../freshness/current-age.ts";
import {
  type FreshnessLifetime,
  freshnessLifetime,
  isExplicit,
  type LifetimeRules,
  type ReceivedResponse,
} from "../freshness/freshness-lifetime.ts";
import { isHeuristicallyCacheable } from "../freshness/heuristic-freshness.ts";
import { mayBeStale, type StaleRules, secondsWhileRevalidated } from "../freshness/judge.ts";
import { type Identity, mayStoreAnswer } from "../identity/identity.ts";
import { handsOutCredentials } from "../request/credential-names.ts";
import { isEntityTag } from "../validation/entity-tag.ts";
import { varyFields } from "../variants/vary.ts";
import { isFramed } from "./framing.ts";
import type { NotStored, NotStoredBecause } from "./not-stored.ts";
import { isErrorStatus, isStorableStatus, isUnderstoodStatus } from "./storable-status.ts";

/** The properties of the request that affect storing. */
export interface StorableRequest {
  readonly identity: Identity;
  /** True if its `Cache-Control` says `no-store`. */
  readonly forbidsStoring: boolean;
  /** True if no field of it can have made the origin fail: `isPlainRequest`. */
  readonly isPlain: boolean;
}

/** The properties of the response that affect storing. */
export interface StorableResponse extends ReceivedResponse {
  readonly fields: Fields;
  /** When the fetch began: epoch milliseconds. */
  readonly requestedAt: number;
}

/** The owner's rules for storing. */
export interface StorableRules extends LifetimeRules {
  /** The site's targeted fields, in lower case. They come before the usual ones. RFC 9213 §2.2. */
  readonly targetedFields: readonly string[];
  readonly stale: StaleRules;
}

export type StorableVerdict =
  | ({ readonly kind: "storable" } & Storable)
  | ({ readonly kind: "not-stored" } & NotStored);

/** The derived rules for a response that may be stored. */
export interface Storable {
  readonly freshness: FreshnessLifetime;
  readonly initialAgeMs: number;
  readonly sharedWithAuthorized: boolean;
  readonly sharedWithSessions: boolean;
  /** Fields of a response that are not stored, in lower case. RFC 9111 §5.2.2.4, §5.2.2.7. */
  readonly withheldFields: readonly string[];
  readonly reuse: ReuseRules;
}

/**
 * Whether a shared cache may store the answer to a GET, and with which rules. RFC 9111 §3. In case of doubt it is
 * stricter than the RFC. This cache's own limits are checked afterwards, in `may-store.ts`.
 */
export function storable(request: StorableRequest, response: StorableResponse, rules: StorableRules): StorableVerdict {
  const { field, requestedAt, receivedAt } = response;
  const speaking = effectiveCacheControl(field, rules.targetedFields);
  const { cacheControl, source } = speaking;
  const atMost = Math.min(accelSeconds(field("x-accel-expires"), receivedAt), nextSeconds(field("x-nextjs-cache")));
  if (request.forbidsStoring) return { kind: "not-stored", because: "request-no-store" }; // §5.2.1.5
  const because = reasonInResponse(request, response, cacheControl, atMost);
  if (because === "unreadable-cache-control") {
    const given = source === "cache-control" ? inAscii(field(source)!) : source; // Clients see no Surrogate-Control.
    return { kind: "not-stored", because, given };
  }
  if (because) return { kind: "not-stored", because };
  const ofOwner = freshnessLifetime(response, speaking, rules);
  const ofOrigin = isExplicit(ofOwner) ? ofOwner : freshnessLifetime(response, speaking, { heuristic: null });
  // The owner may shorten the lifetime of an answer to credentials, and not lengthen it.
  const isForCredentials = mayStoreAnswer(request.identity) === "if-wholly-for-everybody";
  const lifetime = isForCredentials && ofOrigin.seconds < ofOwner.seconds ? ofOrigin : ofOwner;
  const originAllowsReuse = isMeantForAll(cacheControl) || ofOrigin.seconds > 0;
  // A page that begins a session often holds its token, too, although the origin withholds the cookie by name.
  if (field("set-cookie") !== null && !originAllowsReuse) return { kind: "not-stored", because: "set-cookie" };
  const freshness = lifetime.seconds > atMost ? { ...lifetime, seconds: atMost } : lifetime;
  const ageMs = initialAgeMs(field("age"), field("date"), requestedAt, receivedAt);
  const reuse = reuseRules(cacheControl);
  const useless = isUseless(response, cacheControl, freshness, ageMs, reuse, rules.stale);
  if (useless) return { kind: "not-stored", because: useless };
  // With Bearer tokens, frameworks begin a session by such a field, and forget Cache-Control.
  const given = originAllowsReuse ? undefined : response.fields.lines(handsOutCredentials)[0];
  if (given) return { kind: "not-stored", because: "set-cookie", given };
  const sharedWithSessions = originAllowsReuse || !freshness.source.startsWith("route");
  return {
    kind: "storable",
    freshness,
    initialAgeMs: ageMs,
    sharedWithAuthorized: isMeantForAll(cacheControl) || (cacheControl.mustRevalidate && sharedWithSessions), // §3.5
    sharedWithSessions,
    withheldFields: withheldFields(cacheControl),
    reuse,
  };
}

function reasonInResponse(
  request: StorableRequest,
  response: StorableResponse,
  cacheControl: CacheControl,
  atMostSeconds: number,
): NotStoredBecause | undefined {
  const { status, field } = response;
  const mayStore = mayStoreAnswer(request.identity);
  if (mayStore === "if-wholly-for-everybody" && !isWhollyMeantForAll(status, cacheControl)) return "authorization"; // §3.5
  if (!isStorableStatus(status)) return "status";
  if (cacheControl.mustUnderstand && !isUnderstoodStatus(status)) return "status"; // §5.2.2.3
  if (cacheControl === UNREADABLE) return "unreadable-cache-control";
  if (cacheControl.noStore && !cacheControl.mustUnderstand) return "no-store"; // §5.2.2.5, §5.2.2.3
  if (cacheControl.private === "whole") return "private"; // §5.2.2.7
  if (atMostSeconds <= 0) return "x-accel-expires";
  if (asksForFile(field)) return "sendfile";
  if (field("set-cookie") !== null && !withheldFields(cacheControl).includes("set-cookie")) return "set-cookie"; // §7.3
  if (varyFields(field("vary")) === "*") return "vary"; // §4.1
  if (mayStore === "if-for-everybody" && !isMeantForAll(cacheControl)) return "cookie";
  if (isErrorStatus(status) && !request.isPlain) return "error-for-odd-request";
  if (!isFramed(status, field)) return "unframed-body"; // RFC 9112 §8
  if (isEventStream(field("content-type"))) return "no-freshness"; // A copy would repeat old events.
  return undefined;
}

/**
 * The reason for which it could never answer a request: it is not fresh, may not be used stale, and cannot be
 * validated.
 */
function isUseless(
  response: StorableResponse,
  cacheControl: CacheControl,
  freshness: FreshnessLifetime,
  ageMs: number,
  reuse: ReuseRules,
  stale: StaleRules,
): NotStoredBecause | undefined {
  const hasReason = isExplicit(freshness) || isHeuristicallyCacheable(response.status, cacheControl.public); // §3
  if (reuse.validateAlways) {
    if (!hasReason && freshness.seconds <= 0) return "no-freshness";
    return hasValidator(response) ? undefined : "no-cache";
  }
  const stored = { reuse, freshnessSeconds: freshness.seconds, status: response.status };
  const usableSeconds = freshness.seconds + (mayBeStale(reuse, stale) ? secondsWhileRevalidated(stored, stale) : 0);
  const isNeverFresh = freshness.seconds <= 0;
  if (isNeverFresh && !isExplicit(freshness)) return "no-freshness";
  if (ageMs < usableSeconds * 1000 || hasValidator(response)) return undefined;
  return isNeverFresh ? "no-freshness" : "stale-on-arrival";
}

/** Whether the response can be validated. RFC 9110 §8.8. */
function hasValidator({ field, receivedAt }: StorableResponse): boolean {
  return isEntityTag(field("etag") ?? "") || parseHttpDate(field("last-modified"), receivedAt) !== undefined;
}

/** Fields that are for one visitor, or must not be reused without validation. They are not stored. */
export function withheldFields({ private: ofOne, noCache }: CacheControl): readonly string[] {
  const ofOneVisitor = typeof ofOne === "string" ? [] : ofOne;
  return typeof noCache === "string" ? ofOneVisitor : [...new Set([...ofOneVisitor, ...noCache])];
}

/** Statuses of answers to credentials that may be for everybody: none of them tells whether the visitor was let in. */
const WHOLLY_SHAREABLE = new Set([200, 203, 204, 300, 301, 308]);

function isWhollyMeantForAll(status: number, cacheControl: CacheControl): boolean {
  return WHOLLY_SHAREABLE.has(status) && isMeantForAll(cacheControl);
}

/** Whether the origin says that this one answer is for everybody. `s-maxage=0` and malformed values do not say so. */
function isMeantForAll({ public: isPublic, sMaxage }: CacheControl): boolean {
  return isPublic || (typeof sMaxage === "number" && sMaxage > 0);
}

/** The beginning of a value, as `Cache-Status` can have it. RFC 9651 §3.3.3. */
function inAscii(value: string): string {
  return value.slice(0, 64).replace(/[^ -~]/g, "?");
}

/** Fields in which an app asks the web server before it to send a file in place of the body, which is empty. */
const SENDFILE_FIELDS = ["x-accel-redirect", "x-sendfile", "x-lighttpd-send-file"];

/** Whether the body is not the page: a web server behind this cache would have sent a file, and none has. */
function asksForFile(field: (name: string) => string | null): boolean {
  return SENDFILE_FIELDS.some((name) => field(name) !== null);
}

/** The seconds in a unit of nginx's times. */
const UNITS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/**
 * The most seconds for which nginx would keep a response by its own field, `X-Accel-Expires`: a time like `60` or `5m`, or
 * `@` and the seconds since 1970 at which it ends; the least of several. Nothing or less forbids storing. Infinite if the
 * field says neither, which nginx ignores.
 */
function accelSeconds(value: string | null, receivedAt: number): number {
  if (value === null) return Number.POSITIVE_INFINITY;
  const times = value.split(",").map((each) => {
    const [, end, time, unit = "s"] = /^(?:@(\d+)|(\d+)(ms|[smhdw])?)$/.exec(each.trim()) ?? [];
    if (end !== undefined) return Number(end) - receivedAt / 1000;
    return time === undefined ? Number.POSITIVE_INFINITY : Number(time) * UNITS[unit]!;
  });
  return Math.min(...times);
}

/**
 * The most seconds for which a response of Next is fresh. A page that Next calls stale, and is rendering anew, comes with
 * the lifetime of a new one, and without `Age`. A lifetime of zero would forbid `stale-while-revalidate`.
 */
function nextSeconds(value: string | null): number {
  return value === "STALE" ? 1 : Number.POSITIVE_INFINITY;
}
