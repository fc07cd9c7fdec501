import { type CacheDirective, readCacheDirectives } from "./cache-directives.ts";
import { readDeltaSeconds, secondsOrNone } from "./delta-seconds.ts";

/**
 * Which directives of a request are obeyed. `harmless`: those that can neither empty the cache nor send requests to the
 * origin. `all`: also those that send a visitor's requests to the origin.
 */
export type RequestDirectivesPolicy = "harmless" | "all";

/** The demands of a request's `Cache-Control`, as far as they are obeyed. RFC 9111 §5.2.1; RFC 5861 §4. */
export interface RequestDirectives {
  readonly forbidsStoring: boolean;
  readonly onlyIfCached: boolean;
  /** How stale an answer may be, in seconds: 0 for not at all, `Infinity` for any staleness. */
  readonly maxStaleSeconds: number;
  /** How stale an answer may be if the origin fails, in seconds. */
  readonly staleIfErrorSeconds: number;
  /** True if the answer has to be validated. */
  readonly noCache: boolean;
  /** The greatest age of an answer, in seconds; `null` for any. */
  readonly maxAgeSeconds: number | null;
  /** How many seconds the answer has to remain fresh. */
  readonly minFreshSeconds: number;
}

/** Of a request that asks for nothing special. */
export const NO_DIRECTIVES: RequestDirectives = {
  forbidsStoring: false,
  onlyIfCached: false,
  maxStaleSeconds: 0,
  staleIfErrorSeconds: 0,
  noCache: false,
  maxAgeSeconds: null,
  minFreshSeconds: 0,
};

/** Reads the directives of a request. `field` gives a field's text or `null`. Almost all requests have none. */
export function readRequestDirectives(
  field: (name: string) => string | null,
  policy: RequestDirectivesPolicy,
): RequestDirectives {
  const text = field("cache-control");
  if (text !== null) return parse(text, policy);
  // RFC 9111 §5.4: without Cache-Control, Pragma has this meaning.
  if (policy === "all" && saysNoCache(field("pragma"))) return { ...NO_DIRECTIVES, noCache: true };
  return NO_DIRECTIVES;
}

/**
 * A value that is not a number of seconds is ignored. If a directive comes several times, the strictest value counts.
 */
function parse(text: string, policy: RequestDirectivesPolicy): RequestDirectives {
  const directives = readCacheDirectives(text);
  if (directives === undefined) return { ...NO_DIRECTIVES, forbidsStoring: true }; // It may forbid storing.
  const has = (name: string) => directives.some((directive) => directive.name === name);
  const harmless: RequestDirectives = {
    ...NO_DIRECTIVES,
    forbidsStoring: has("no-store"),
    onlyIfCached: has("only-if-cached"),
    maxStaleSeconds: toleratedSeconds(directives, "max-stale", Number.POSITIVE_INFINITY),
    staleIfErrorSeconds: toleratedSeconds(directives, "stale-if-error", 0),
  };
  if (policy === "harmless") return harmless;
  const maxAges = statedSeconds(directives, "max-age");
  return {
    ...harmless,
    noCache: has("no-cache"),
    maxAgeSeconds: maxAges.length === 0 ? null : Math.min(...maxAges),
    minFreshSeconds: Math.max(0, ...statedSeconds(directives, "min-fresh")),
  };
}

/** The staleness that a directive tolerates, in seconds; `bareSeconds` if it has no argument. */
function toleratedSeconds(directives: readonly CacheDirective[], name: string, bareSeconds: number): number {
  const tolerated = directives
    .filter((directive) => directive.name === name)
    .map(({ value }) => (value === undefined ? bareSeconds : secondsOrNone(readDeltaSeconds(value))));
  return tolerated.length === 0 ? 0 : Math.min(...tolerated);
}

function statedSeconds(directives: readonly CacheDirective[], name: string): readonly number[] {
  return directives
    .filter((directive) => directive.name === name)
    .map(({ value }) => readDeltaSeconds(value))
    .filter((seconds) => seconds !== "invalid");
}

/** RFC 9111 §5.4. */
function saysNoCache(pragma: string | null): boolean {
  return pragma?.split(",").some((directive) => directive.trim().toLowerCase() === "no-cache") ?? false;
}
