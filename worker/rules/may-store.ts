import { type CacheControl, parseCacheControl } from "./cache-control.ts";
import { initialAgeMs } from "./current-age.ts";
import { type FreshnessLifetime, freshnessLifetime, type LifetimeRules } from "./freshness-lifetime.ts";

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
}

/** What the response brings that matters for storing. */
export interface StoreResponse {
  readonly status: number;
  /** When the fetch began, and when the head arrived: epoch milliseconds. */
  readonly requestedAt: number;
  readonly receivedAt: number;
  /** A field's text, several lines joined with commas; `null` if absent. */
  readonly field: (name: string) => string | null;
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
  | "targeted-field"
  | "set-cookie"
  | "vary"
  | "content-encoding"
  | "cookie"
  | "unframed-body"
  | "no-freshness"
  | "stale-on-arrival";

export type StoreVerdict =
  | {
      readonly kind: "store";
      readonly freshness: FreshnessLifetime;
      readonly initialAgeMs: number;
      readonly sharedWithAuthorized: boolean;
    }
  | { readonly kind: "pass"; readonly because: NotStorableBecause };

/** Final statuses whose meaning this cache understands and keeps. RFC 9111 §3. */
const STORABLE_STATUSES = new Set([200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 410]);

/** Fields of RFC 9213 and its forerunners. They outrank `Cache-Control` and are not read yet. */
const TARGETED_FIELDS = ["cdn-cache-control", "surrogate-control", "cloudflare-cdn-cache-control"];

/**
 * Whether a shared cache may keep this response, and for how long it is fresh. RFC 9111 §3.
 * Stricter than the RFC in doubt: variants, parts, encoded bodies and `no-cache` are not kept.
 */
export function mayStore(request: StoreRequest, response: StoreResponse, rules: LifetimeRules): StoreVerdict {
  const cacheControl = parseCacheControl(response.field("cache-control"));
  const because = requestSpeaksAgainst(request) ?? responseSpeaksAgainst(request, response, cacheControl);
  if (because) return { kind: "pass", because };
  const freshness = freshnessLifetime(
    cacheControl,
    response.field("expires"),
    response.field("date"),
    response.receivedAt,
    rules,
  );
  if (freshness.seconds <= 0) return { kind: "pass", because: "no-freshness" };
  const ageMs = initialAgeMs(response.field("age"), response.field("date"), response.requestedAt, response.receivedAt);
  if (ageMs >= freshness.seconds * 1000) return { kind: "pass", because: "stale-on-arrival" };
  const sharedWithAuthorized = isMeantForAll(cacheControl) || cacheControl.mustRevalidate; // §3.5
  return { kind: "store", freshness, initialAgeMs: ageMs, sharedWithAuthorized };
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
  if (!STORABLE_STATUSES.has(response.status)) return "status";
  if (TARGETED_FIELDS.some((name) => response.field(name) !== null)) return "targeted-field";
  if (cacheControl.noStore) return "no-store"; // §5.2.2.5
  if (cacheControl.private) return "private"; // §5.2.2.7
  if (cacheControl.noCache) return "no-cache"; // §5.2.2.4
  if (response.field("set-cookie") !== null) return "set-cookie"; // §7.3
  if (!variesByNothingSent(response.field("vary"))) return "vary"; // §4.1
  if (response.field("content-encoding") !== null) return "content-encoding";
  if (request.identifying && !isMeantForAll(cacheControl)) return "cookie";
  if (!isFramed(response)) return "unframed-body";
  return undefined;
}

/** Whether the origin says that one answer is for everybody: `s-maxage=0` and garbage do not say so. */
function isMeantForAll({ public: isPublic, sMaxage }: CacheControl): boolean {
  return isPublic || (typeof sMaxage === "number" && sMaxage > 0);
}

/** `Vary: Accept-Encoding` names a field that is always `identity` on a route that stores, so it selects nothing. */
function variesByNothingSent(vary: string | null): boolean {
  if (vary === null) return true;
  return vary.split(",").every((name) => ["", "accept-encoding"].includes(name.trim().toLowerCase()));
}

/** Whether a cut in the body would show: a length, chunks, or no body at all. RFC 9112 §6.3, §8. */
function isFramed(response: StoreResponse): boolean {
  if (response.status === 204) return true;
  return response.field("content-length") !== null || response.field("transfer-encoding") !== null;
}
