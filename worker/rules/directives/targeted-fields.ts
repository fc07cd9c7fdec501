import { type Dictionary, parseDictionary } from "structured-headers";
import {
  type CacheControl,
  emptyCacheControl,
  KNOWN_DIRECTIVES,
  parseCacheControl,
  readFieldScope,
} from "./cache-control.ts";
import { MAX_DELTA_SECONDS } from "./delta-seconds.ts";
import { parseSurrogateControl } from "./surrogate-control.ts";

/** The directives that count for this cache, and the field that gave them, in lower case. */
export interface EffectiveCacheControl {
  readonly cacheControl: CacheControl;
  /** Unless this is `cache-control`, `Cache-Control` and `Expires` are silenced. */
  readonly source: string;
}

/** Read after those that the site names. RFC 9213 §3; the W3C's Edge Architecture note of 2001. */
const USUAL_TARGETS = ["cdn-cache-control", "surrogate-control"];

/**
 * Selects the field that speaks to this cache: the first that is valid and not empty, alone. RFC 9213 §2.2.
 * `targeted` are the names that the site puts before the usual ones, in lower case.
 *
 * A targeted field that says nothing of freshness still silences `Cache-Control` and `Expires`: then a lifetime is
 * guessed or comes from the route, as if no field said anything.
 */
export function effectiveCacheControl(
  field: (name: string) => string | null,
  targeted: readonly string[],
): EffectiveCacheControl {
  for (const names of [targeted, USUAL_TARGETS]) {
    for (const name of names) {
      const text = field(name);
      if (text === null) continue;
      const cacheControl = name === "surrogate-control" ? parseSurrogateControl(text) : parseTargetedField(text);
      if (cacheControl !== undefined) return { cacheControl, source: name };
    }
  }
  return { cacheControl: parseCacheControl(field("cache-control")), source: "cache-control" };
}

/**
 * A targeted field's value, or `undefined` where it is empty or no dictionary: then it is ignored. RFC 9213 §2.1.
 *
 * A value of another type than the directive's is not read: a lifetime leaves nothing fresh (RFC 9111 §4.2.1), a
 * permission is not given, but a restriction restricts, whatever it was meant to say beside, unless it says `?0`.
 */
export function parseTargetedField(text: string): CacheControl | undefined {
  const dictionary = readDictionary(text);
  if (dictionary === undefined || dictionary.size === 0) return undefined;
  const said = emptyCacheControl();
  const decimals = decimalMembers(text);
  for (const [name, [value]] of dictionary) {
    const known = KNOWN_DIRECTIVES.get(name);
    if (known === undefined || value === false) continue;
    if (known.kind === "flag") {
      said[known.key] = value === true || !PERMISSIONS.has(name);
    } else if (known.kind === "scope") {
      said[known.key] = typeof value === "string" ? readFieldScope(value) : "whole";
    } else {
      const isSeconds = typeof value === "number" && value >= 0 && Number.isInteger(value) && !decimals.has(name);
      said[known.key] = isSeconds ? Math.min(value, MAX_DELTA_SECONDS) : "invalid";
    }
  }
  return said;
}

/** Directives that permit something. */
const PERMISSIONS: ReadonlySet<string> = new Set(["public", "must-understand", "immutable"]);

function readDictionary(text: string): Dictionary | undefined {
  try {
    return parseDictionary(text);
  } catch {
    return undefined; // The parser tells a malformed field by throwing.
  }
}

/** The parser gives 10 for `10.0`, which is a decimal all the same and no value of a lifetime. RFC 9651 §3.3.2. */
function decimalMembers(text: string): ReadonlySet<string> {
  if (!text.includes(".")) return new Set();
  return new Set([...text.matchAll(/(?<![\w.*-])([a-z-]+)=-?\d+\./g)].map((match) => match[1]!));
}
