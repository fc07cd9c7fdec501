import {
  type RequestDirectives,
  type RequestDirectivesPolicy,
  readRequestDirectives,
} from "../directives/request-directives.ts";
import { cookieValue, type RequestCookies, readCookies } from "./cookies.ts";

/** What the corridor needs to know of a request, read once. */
export interface RequestFacts {
  readonly method: string;
  /** How the request is treated, and why it is not looked up if it is not. */
  readonly mode: "look-up" | "refresh" | "bypass";
  readonly authorized: boolean;
  /** What its `Cache-Control` asks for, as far as the route lets visitors ask. */
  readonly directives: RequestDirectives;
  /** The receipt's token that it carries, unparsed; `null` for none. */
  readonly after: string | null;
  /** True if it carries one: it takes nothing stale (R9). */
  readonly awaitsPurge: boolean;
  /** The value of `Tidemark-Refresh`; `null` for none. */
  readonly refreshToken: string | null;
}

/** The names of our own that a request may carry; none of them reaches the origin. */
const REFRESH_FIELD = "tidemark-refresh";
const AFTER_FIELD = "tidemark-after";
const AFTER_COOKIE = "tidemark-after";

/** Sorts a request. `field` gives a field's text or `null`. */
export function readRequestFacts(
  method: string,
  field: (name: string) => string | null,
  passes: boolean,
  policy: RequestDirectivesPolicy,
): RequestFacts {
  const refreshToken = field(REFRESH_FIELD);
  const after = field(AFTER_FIELD) ?? afterCookie(field("cookie"));
  return {
    method,
    mode: mode(method, field, passes, refreshToken),
    authorized: field("authorization") !== null,
    directives: readRequestDirectives(field, policy),
    after,
    awaitsPurge: after !== null,
    refreshToken,
  };
}

function mode(
  method: string,
  field: (name: string) => string | null,
  passes: boolean,
  refreshToken: string | null,
): RequestFacts["mode"] {
  if (method !== "GET" && method !== "HEAD") return "bypass";
  if (passes || isWebSocket(field("upgrade"))) return "bypass";
  // Conditions on the origin's own state: a cache cannot answer for it. RFC 9111 §4.3.2.
  if (field("if-match") !== null || field("if-unmodified-since") !== null) return "bypass";
  return refreshToken !== null && method === "GET" ? "refresh" : "look-up";
}

/** Whether the connection is to become a WebSocket. RFC 6455 §4.1. */
export function isWebSocket(upgrade: string | null): boolean {
  return upgrade?.toLowerCase() === "websocket";
}

function afterCookie(cookies: string | null): string | null {
  return cookies?.includes(AFTER_COOKIE) ? cookieValue(cookies, AFTER_COOKIE) : null;
}

/** What a request brings to the question whether its answer may be stored. Read once, and only where the origin is asked. */
export interface StorageRequest {
  /** True if it carries cookies that may tell visitors apart. */
  readonly identifying: boolean;
  /** The `Cookie` field for the origin. */
  readonly cookie: string | null;
  /** True if it asks for a part. */
  readonly partial: boolean;
}

export function readStorageRequest(
  ask: RequestFacts,
  field: (name: string) => string | null,
  ignoredCookies: readonly string[],
): StorageRequest {
  const cookies = readForwardedCookies(field, ignoredCookies);
  return {
    identifying: cookies.identifying,
    cookie: cookies.forwarded,
    partial: ask.mode !== "refresh" && field("range") !== null,
  };
}

/** The cookies of a request without our own. */
export function readForwardedCookies(
  field: (name: string) => string | null,
  ignoredCookies: readonly string[],
): RequestCookies {
  return readCookies(field("cookie"), ignoredCookies, [AFTER_COOKIE]);
}
