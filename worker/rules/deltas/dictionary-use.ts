import { parseCacheControl } from "../directives/cache-control.ts";
import { parseHttpDate } from "../fields/http-date.ts";
import { type CodableResponse, type CodingRules, type StaysPlain, whyPlain } from "../variants/coded-form.ts";
import { dictionaryMatch } from "./dictionary-match.ts";

/** The owner's rules for deltas on a route. */
export interface DeltaRules {
  /** The pattern of the URLs for which each page of the route is a dictionary; `null`: derived from its path. */
  readonly match: string | null;
  /** For how long a version stays a dictionary after it was last sent, in milliseconds. */
  readonly keepMs: number;
}

/** A stored response, as far as it decides whether it may be a dictionary. */
export interface DictionaryCandidate extends CodableResponse {
  readonly scheme: "http" | "https";
  readonly host: string;
  /** The path and the query of its key. */
  readonly pathAndQuery: string;
  /** The names of the request's fields that select it. */
  readonly selectedBy: readonly string[];
  /** The lifetime that the route gives to browsers, in seconds; `null` for the origin's. */
  readonly browserTtlSeconds: number | null;
}

/** What a response is the dictionary for. */
export interface DictionaryUse {
  /** `match` of `Use-As-Dictionary`. */
  readonly match: string;
  /** The responses that may be compressed by each other: those of one origin with the same `match`. */
  readonly family: string;
}

/** Why a response is no dictionary, and is compressed by none. */
export type NoDelta =
  | StaysPlain
  | "keyed"
  | "insecure"
  | "private"
  | "no-browser-lifetime"
  | "own-dictionary"
  | "hash-alone";

/**
 * Whether a stored response may be a dictionary, and be compressed by one: by its head, only what everybody may see, and
 * what browsers take. The one who asked for it counts as well (`mayBecomeDictionary`).
 *
 * It is public, is keyed by nothing but its path and the codings, came in a secure context (RFC 9842 §8), may be
 * transformed, and gives browsers a time in which they may use it (§2.2.1).
 */
export function dictionaryUse(response: DictionaryCandidate, { match }: DeltaRules): DictionaryUse | NoDelta {
  const { field, directives, scheme, host, pathAndQuery, selectedBy } = response;
  const plain = whyPlain(response, DELTA_BODIES);
  if (plain !== null) return plain;
  if (field("use-as-dictionary") !== null) return "own-dictionary";
  if (pathAndQuery.includes("?") || selectedBy.some((name) => name !== "accept-encoding")) return "keyed";
  if (!varyNamesOnlyCodings(field("vary"))) return "keyed";
  if (directives.some((text) => parseCacheControl(text).private !== "absent")) return "private";
  if (!isSecure(scheme, host)) return "insecure";
  if (!mayBrowsersUse(response)) return "no-browser-lifetime";
  const pattern = match ?? dictionaryMatch(pathAndQuery, isPage(field("content-type")));
  if (pattern === null) return "hash-alone";
  return { match: pattern, family: `${scheme}://${host} ${pattern}` };
}

/**
 * Whether the bytes of a stored response may become a dictionary: not if credentials may have made them, nor if a decoder
 * would not read them as plain bytes (RFC 8878 §5).
 */
export function mayBecomeDictionary(request: { readonly authorized: boolean }, body: Uint8Array): boolean {
  return !request.authorized && !ZSTD_DICTIONARY.every((byte, at) => body[at] === byte);
}

/** How a trained dictionary of Zstandard begins. RFC 9842 §2.1.4 has raw ones alone. */
const ZSTD_DICTIONARY = [0x37, 0xa4, 0x30, 0xec];

/** The bodies that deltas are for: text, of some size. */
export const DELTA_BODIES: CodingRules = {
  minBytes: 1024,
  maxBytes: 10 * 1024 * 1024,
  types: [
    "text/*",
    "*+json",
    "*+xml",
    "*+text",
    "application/javascript",
    "application/x-javascript",
    "application/json",
    "application/x-ndjson",
    "application/xml",
    "application/yaml",
  ],
};

function varyNamesOnlyCodings(vary: string | null): boolean {
  const names = (vary ?? "").split(",").map((name) => name.trim().toLowerCase());
  return names.every((name) => name === "" || name === "accept-encoding" || name === "available-dictionary");
}

/** RFC 9842 §8: browsers use dictionaries in secure contexts alone, of which localhost is one. */
export function isSecure(scheme: "http" | "https", host: string): boolean {
  return scheme === "https" || /^(?:(?:[^:]+\.)?localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/.test(host);
}

/** Whether the response is fresh in a browser for a while, or may be used stale there. RFC 9842 §2.2.1, RFC 5861 §3. */
function mayBrowsersUse({ field, browserTtlSeconds }: DictionaryCandidate): boolean {
  const { noStore, noCache, maxAge, mustRevalidate, staleWhileRevalidate } = parseCacheControl(field("cache-control"));
  if (noStore || noCache === "whole") return false;
  if (browserTtlSeconds !== null) return browserTtlSeconds > 0;
  if (!mustRevalidate && typeof staleWhileRevalidate === "number" && staleWhileRevalidate > 0) return true;
  if (maxAge !== "absent") return typeof maxAge === "number" && maxAge > 0;
  const date = parseHttpDate(field("date"), 0);
  const expires = parseHttpDate(field("expires"), date ?? 0);
  return date !== undefined && expires !== undefined && expires > date;
}

function isPage(contentType: string | null): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i.test(contentType ?? "");
}
