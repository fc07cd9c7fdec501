import type { Site } from "../../worker/site/site.ts";

/**
 * More than parents of three tiers add to an origin's fields: `X-Cache`, `Cache-Status`, `Age`, and what is for a child. Also
 * more than children add to a visitor's: what is for a parent, `Via`, `CDN-Loop`, and where the request came from.
 */
export const ADDED_FIELDS = 16;
/** The same in bytes. */
export const ADDED_BYTES = 1024;

/** A site whose limits leave room for what parents add, so that a child takes every page that its parent has taken. */
export function withRoomForTiers(site: Site): Site {
  const { responseFields, responseFieldBytes } = site.limits;
  const limits = {
    ...site.limits,
    responseFields: responseFields + ADDED_FIELDS,
    responseFieldBytes: responseFieldBytes + ADDED_BYTES,
  };
  return { ...site, limits };
}
