/** Response fields by their names. */
export type Fields = Readonly<Record<string, string>>;

export interface PublicCaching {
  /** How long the edge may keep the response. This can be long, because a purge ends it sooner. */
  edgeSeconds: number;
  /** How long browsers may keep the response. No purge reaches a browser, so 0 for anything that an editor can change. */
  browserSeconds: number;
  /** The tags by which a purge finds the response: the kind of page, and every row that it shows. */
  tags: readonly string[];
}

const DAY_SECONDS = 86_400;
const STALE_WHILE_REVALIDATE_SECONDS = 30;

/** The fields of a response for everybody. RFC 9111 §5.2.2, RFC 5861. */
export function publicFields({ edgeSeconds, browserSeconds, tags }: PublicCaching): Fields {
  const directives = [
    "public",
    `max-age=${browserSeconds}`,
    `s-maxage=${edgeSeconds}`,
    `stale-while-revalidate=${STALE_WHILE_REVALIDATE_SECONDS}`,
    `stale-if-error=${7 * DAY_SECONDS}`,
  ];
  return { "cache-control": directives.join(", "), "cache-tag": [...new Set(tags)].join(", ") };
}

/** For files that never change, or have their version in their URL: four weeks without revalidation (RFC 8246). */
export function immutableFields(tag: string): Fields {
  return { "cache-control": `public, max-age=${28 * DAY_SECONDS}, immutable`, "cache-tag": tag };
}

/** For responses that one person may see. */
export const PRIVATE_FIELDS: Fields = { "cache-control": "private, no-store" };

/** For errors and refusals, which must not be stored. */
export const UNSTORED_FIELDS: Fields = { "cache-control": "no-store" };

/** The tag of a post. The post's page has it, and every other page that shows the post's title. */
export function postTag(slug: string): string {
  return `plog:${slug}`;
}

export function songTag(id: number): string {
  return `song:${id}`;
}
