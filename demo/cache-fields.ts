import type { OutgoingHttpHeaders } from "node:http";

export interface PublicCaching {
  /** How long the edge may keep it. Long, because a purge ends it sooner. */
  edgeSeconds: number;
  /** How long browsers may keep it. No purge reaches a browser, so 0 for whatever an editor can change. */
  browserSeconds: number;
  /** What a purge can name: every row that shows on the page, and the kind of page. */
  tags: readonly string[];
}

const DAY_SECONDS = 86_400;
const STALE_WHILE_REVALIDATE_SECONDS = 30;

/** The fields of a response that anybody may see. RFC 9111 §5.2.2, RFC 5861. */
export function publicFields({ edgeSeconds, browserSeconds, tags }: PublicCaching): OutgoingHttpHeaders {
  const directives = [
    "public",
    `max-age=${browserSeconds}`,
    `s-maxage=${edgeSeconds}`,
    `stale-while-revalidate=${STALE_WHILE_REVALIDATE_SECONDS}`,
    `stale-if-error=${7 * DAY_SECONDS}`,
  ];
  return { "cache-control": directives.join(", "), "cache-tag": [...new Set(tags)].join(", ") };
}

/** For what has its version in its URL, or never changes: four weeks, without asking again (RFC 8246). */
export function immutableFields(tag: string): OutgoingHttpHeaders {
  return { "cache-control": `public, max-age=${28 * DAY_SECONDS}, immutable`, "cache-tag": tag };
}

/** For what one person may see. */
export const PRIVATE_FIELDS: OutgoingHttpHeaders = { "cache-control": "private, no-store" };

/** For refusals and slips that nobody should be shown again. */
export const UNSTORED_FIELDS: OutgoingHttpHeaders = { "cache-control": "no-store" };

/** The tag of a post; of its page, and of every other page that shows its title. */
export function postTag(slug: string): string {
  return `plog:${slug}`;
}

export function songTag(id: number): string {
  return `song:${id}`;
}
