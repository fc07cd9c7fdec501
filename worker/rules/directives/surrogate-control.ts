import { type CacheControl, KNOWN_DIRECTIVES, parseCacheControl } from "./cache-control.ts";
import { type CacheDirective, readCacheDirectives } from "./cache-directives.ts";

/**
 * `Surrogate-Control` as a `Cache-Control`: the W3C's Edge Architecture note of 2001, §2.2, and what origins write into
 * it from RFC 9111 and RFC 5861. `undefined` where it says nothing about caching to this cache.
 *
 * `max-age=3600+600` allows 600 seconds of staleness more. `no-store-remote` counts as `no-store`, for an edge is
 * remote. A directive for a named surrogate, `max-age=60;name`, is for another one: this cache tells no name of its
 * own. A field that cannot be read counts as `no-store`.
 */
export function parseSurrogateControl(text: string): CacheControl | undefined {
  const directives = readCacheDirectives(text.replace(MEMBER, (member) => (FOR_ANOTHER.test(member) ? "" : member)));
  if (directives === undefined) return parseCacheControl("no-store");
  const members = directives.flatMap(inCacheControl);
  return members.length === 0 ? undefined : parseCacheControl(members.join(","));
}

/** What stands between two commas outside quotes. */
const MEMBER = /(?:"(?:[^"\\]|\\.)*"?|[^,"])+/g;

/** A directive and the name of the surrogate that it is for. */
const FOR_ANOTHER = /^\s*[\w-]+\s*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;"]+)\s*)?;\s*[\w.-]+\s*$/;

const EXTENDED = /^([0-9]+)\+([0-9]+)$/;

function inCacheControl({ name, value, isQuoted }: CacheDirective): readonly string[] {
  if (name === "no-store-remote") return ["no-store"];
  const extended = name === "max-age" ? EXTENDED.exec(value ?? "") : null;
  if (extended) {
    const [, freshSeconds, staleSeconds] = extended;
    return [`max-age=${freshSeconds}`, `stale-while-revalidate=${staleSeconds}`, `stale-if-error=${staleSeconds}`];
  }
  if (!KNOWN_DIRECTIVES.has(name)) return [];
  if (value === undefined) return [name];
  return [isQuoted ? `${name}="${value}"` : `${name}=${value}`];
}
