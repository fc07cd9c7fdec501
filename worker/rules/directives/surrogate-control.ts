import { membersOf } from "../fields/list-members.ts";
import { type CacheControl, KNOWN_DIRECTIVES, parseCacheControl, UNREADABLE } from "./cache-control.ts";
import { type CacheDirective, readCacheDirectives } from "./cache-directives.ts";

/**
 * `Surrogate-Control` as a `Cache-Control`: the directives of the W3C's Edge Architecture note of 2001, §2.2, and those
 * of RFC 9111 and RFC 5861 that origins write into it. `undefined` if it says nothing about caching to this cache.
 *
 * `max-age=3600+600` allows 600 further seconds of staleness. `no-store-remote` counts as `no-store`, because an edge
 * is remote. A directive for a named surrogate, `max-age=60;name`, is ignored, because this cache announces no name. A
 * field that cannot be read counts as `no-store`.
 */
export function parseSurrogateControl(text: string): CacheControl | undefined {
  const ours = membersOf(text).filter((member) => !FOR_ANOTHER.test(member));
  const directives = readCacheDirectives(ours.join(","));
  if (directives === undefined) return UNREADABLE;
  const members = directives.flatMap(inCacheControl);
  return members.length === 0 ? undefined : parseCacheControl(members.join(","));
}

/** A directive followed by the name of the surrogate that it is for. */
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
