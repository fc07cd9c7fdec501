import { dictionaryValues } from "../fields/structured-field.ts";
import {
  type CacheControl,
  emptyCacheControl,
  KNOWN_DIRECTIVES,
  PERMISSIONS,
  parseCacheControl,
  readFieldScope,
} from "./cache-control.ts";
import { MAX_DELTA_SECONDS } from "./delta-seconds.ts";
import { parseSurrogateControl } from "./surrogate-control.ts";

/** The directives that apply to this cache, and the name, in lower case, of the field that they are from. */
export interface EffectiveCacheControl {
  readonly cacheControl: CacheControl;
  /** If this is not `cache-control`, `Cache-Control` and `Expires` are ignored. */
  readonly source: string;
}

/** Read after the fields that the site names. RFC 9213 §3; the W3C's Edge Architecture note of 2001. */
const USUAL_TARGETS = ["cdn-cache-control", "surrogate-control"];

/**
 * Selects the one field that applies to this cache: the first that is valid and not empty. RFC 9213 §2.2. `targeted`
 * are the names, in lower case, that the site puts before the usual ones.
 *
 * A targeted field without a lifetime still overrides `Cache-Control` and `Expires`. The lifetime is then guessed or
 * comes from the route, as if no field gave one.
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
 * A targeted field's value; `undefined` if the field is empty or not a dictionary, and therefore ignored. RFC 9213
 * §2.1.
 *
 * A value of the wrong type is not read. A lifetime then leaves nothing fresh (RFC 9111 §4.2.1), and a permission is
 * not given. A restriction still restricts, unless its value is `?0`.
 */
export function parseTargetedField(text: string): CacheControl | undefined {
  const values = dictionaryValues(text);
  if (values.size === 0) return undefined;
  const said = emptyCacheControl();
  for (const [name, value] of values) {
    const known = KNOWN_DIRECTIVES.get(name);
    if (known === undefined || value === false) continue;
    if (known.kind === "flag") {
      said[known.key] = value === true || !PERMISSIONS.has(name);
    } else if (known.kind === "scope") {
      said[known.key] = typeof value === "string" ? readFieldScope(value) : "whole";
    } else {
      const isSeconds = typeof value === "number" && value >= 0;
      said[known.key] = isSeconds ? Math.min(value, MAX_DELTA_SECONDS) : "invalid";
    }
  }
  return said;
}
