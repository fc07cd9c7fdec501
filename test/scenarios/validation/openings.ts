import type { Step } from "../../engine/scenario.ts";
import { page } from "../page.ts";

/** A page with an entity tag, its next version, and the 304 that confirms the first. */
export const v1 = page("max-age=60", "v1", { etag: '"1"' });

export const v2 = page("max-age=60", "v2", { etag: '"2"' });

export const stillV1 = { status: 304, fields: { "cache-control": "max-age=60", etag: '"1"' } };

/** The page is stored and has just become stale. */
export const storedAndStale: readonly Step[] = [
  { get: "/a", expect: { status: 200, xCache: "MISS", body: "v1" } },
  { advanceMs: 60_000 },
];

export const MODIFIED = "Thu, 01 Jan 2026 10:00:00 GMT";

export const briefFields = { "cache-control": "max-age=1", "cache-tag": "song:42" };

export const briefV1 = { fields: { ...briefFields, etag: '"1"' }, body: "v1" };

export const briefV2 = { fields: { ...briefFields, etag: '"2"' }, body: "v2" };

export const stillBriefV1 = { status: 304, fields: briefV1.fields };
