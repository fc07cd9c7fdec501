import type { OutgoingHttpHeaders } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import * as z from "zod";
import { type Answer, json } from "./answer.ts";
import { publicFields, songTag, UNSTORED_FIELDS } from "./cache-fields.ts";
import { pageAsked } from "./pages/paging.ts";
import type { DemoRequest } from "./router.ts";
import type { Site } from "./site.ts";
import { searchText } from "./song-query.ts";

const SONGS_PER_PAGE = 20;
const SUGGESTIONS = 8;
const DAY_SECONDS = 86_400;

/** Any page may read these answers, and what the edge says about them. There is nothing personal in them. */
export const CORS_FIELDS: OutgoingHttpHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "Age, Cache-Status, X-Cache, X-Demo-Render",
  "timing-allow-origin": "*",
};

const songId = z
  .string()
  .regex(/^[1-9][0-9]{0,8}$/)
  .transform(Number);

/** `/api/search?q=…&page=…` */
export function apiSearch(site: Site, request: DemoRequest): Answer {
  const query = searchText(request.url.searchParams);
  const number = pageAsked(request.url.searchParams);
  const { items, total } = site.database.searchSongs(query, SONGS_PER_PAGE, (number - 1) * SONGS_PER_PAGE);
  return json(
    200,
    { q: query, page: number, total, songs: items },
    apiFields(site, {
      edgeSeconds: 3600,
      browserSeconds: 60,
      tags: ["songs", ...items.map((song) => songTag(song.id))],
    }),
  );
}

/** `/api/song/42` */
export function apiSong(site: Site, request: DemoRequest): Answer {
  const id = songId.safeParse(request.params.id);
  if (!id.success) {
    return json(400, { error: "a song's id is a whole number, like 42" }, { ...UNSTORED_FIELDS, ...CORS_FIELDS });
  }
  const song = site.database.song(id.data);
  const tags = ["songs", songTag(id.data)];
  if (song === undefined) {
    return json(
      404,
      { error: `there is no song ${id.data}` },
      apiFields(site, { edgeSeconds: 60, browserSeconds: 0, tags }),
    );
  }
  return json(200, song, apiFields(site, { edgeSeconds: DAY_SECONDS, browserSeconds: 60, tags }));
}

/**
 * `/api/search/autocomplete?q=…`, as slow as a search over more songs than these would be.
 *
 * Upper case and spaces around the text make no difference to the answer, so an edge may drop them from its key.
 */
export async function apiAutocomplete(site: Site, request: DemoRequest): Promise<Answer> {
  const text = searchText(request.url.searchParams).toLowerCase();
  await pause(site.autocompleteDelayMs, undefined, { signal: request.signal });
  return json(
    200,
    { q: text, suggestions: site.database.suggest(text, SUGGESTIONS) },
    apiFields(site, { edgeSeconds: 3600, browserSeconds: 5, tags: ["autocomplete"] }),
  );
}

function apiFields(site: Site, caching: Parameters<typeof publicFields>[0]): OutgoingHttpHeaders {
  return { "x-demo-render": String(site.stamp().number), ...CORS_FIELDS, ...publicFields(caching) };
}
