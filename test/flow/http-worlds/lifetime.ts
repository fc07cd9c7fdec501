import type { Given } from "./origin-record.ts";

/** Directives by name, each with its argument, or `true`. The origin of these worlds writes them well-formed. */
export type Directives = ReadonlyMap<string, string | true>;

export function readDirectives(text: string | undefined): Directives {
  const members = (text ?? "").match(/[\w-]+(="[^"]*"|=[^,\s]*)?/g) ?? [];
  return new Map(
    members.map((member) => {
      const [name, value] = member.split(/=(.*)/s);
      return [name!, value === undefined ? true : value.replaceAll('"', "")];
    }),
  );
}

export function secondsOf(directives: Directives, name: string): number | null {
  const value = directives.get(name);
  return value === undefined || value === true ? null : Number(value);
}

/** The directives for a shared cache like this one. RFC 9213 §2.2. */
export function directivesOf({ fields }: Given): Directives {
  return readDirectives(fields["cdn-cache-control"] ?? fields["cache-control"]);
}

/** What the owner says of lifetimes; `null` where nothing is said. */
export interface OwnersLifetimes {
  /** Seconds in place of what the origin says. */
  readonly ttlSeconds: number | null;
  /** Seconds where the origin says nothing. */
  readonly defaultTtlSeconds: number | null;
  /** The fraction of a guess by `Last-Modified`. */
  readonly guessed: number | null;
}

/** For how many seconds it is fresh. docs/http.md, how long it is fresh: errors and unknown statuses keep the origin's. */
export function lifetimeSeconds(given: Given, { ttlSeconds, defaultTtlSeconds, guessed }: OwnersLifetimes): number {
  const origins = originsSeconds(given, guessed);
  const isKnown = given.status < 500 && given.status !== 299;
  if (ttlSeconds === null || !isKnown) return origins ?? defaultTtlSeconds ?? 0;
  return given.asked.authorization === undefined ? ttlSeconds : Math.min(ttlSeconds, origins ?? 0);
}

/** RFC 9111 §4.2.1, §4.2.2; RFC 9110 §6.6.1 for a response without `Date`. `null` if the origin says nothing. */
function originsSeconds(given: Given, guessed: number | null): number | null {
  const { fields, at } = given;
  const said = directivesOf(given);
  const stated = secondsOf(said, "s-maxage") ?? secondsOf(said, "max-age");
  if (stated !== null) return stated;
  const generatedAt = fields.date === undefined ? Math.floor(at / 1000) * 1000 : Date.parse(fields.date);
  const isTargeted = fields["cdn-cache-control"] !== undefined;
  if (fields.expires !== undefined && !isTargeted) return Math.max(0, Date.parse(fields.expires) - generatedAt) / 1000;
  if (guessed === null || fields["last-modified"] === undefined) return null;
  return ((Math.min(generatedAt, at) - Date.parse(fields["last-modified"])) / 1000) * guessed;
}

/** How old it is. RFC 9111 §4.2.3; `Date` counts whole seconds. */
export function ageSeconds({ fields, at }: Given, now: number): number {
  const apparent = fields.date === undefined ? 0 : Math.floor(at / 1000) - Date.parse(fields.date) / 1000;
  return Math.max(0, apparent, Number(fields.age ?? 0)) + (now - at) / 1000;
}
