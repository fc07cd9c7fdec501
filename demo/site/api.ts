import { setTimeout as pause } from "node:timers/promises";
import * as z from "zod";
import { type Fields, type PublicCaching, publicFields, songTag, UNSTORED_FIELDS } from "./cache-fields.ts";
import type { DemoContext } from "./context.ts";
import { requestedPage, searchText } from "./query.ts";

const SONGS_PER_PAGE = 20;
const SUGGESTIONS = 8;
const DAY_SECONDS = 86_400;

/**
 * Any page may read the API's answers, and what the edge says about them. They are public and sent without
 * credentials, so `*` is enough, and no `Vary: Origin` is needed.
 */
export const API_FIELDS: Fields = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "Age, Cache-Status, X-Cache, X-Demo-Render",
  "timing-allow-origin": "*",
};

const songId = z
  .string()
  .regex(/^[1-9][0-9]{0,8}$/)
  .transform(Number);

/** `/api/search?q=…&page=…` */
export function apiSearch(context: DemoContext): Response {
  const query = searchText(context);
  const page = requestedPage(context);
  const { items, total } = context.var.site.database.searchSongs(query, SONGS_PER_PAGE, (page - 1) * SONGS_PER_PAGE);
  const tags = ["songs", ...items.map((song) => songTag(song.id))];
  const fields = renderedFields(context, { edgeSeconds: 3600, browserSeconds: 60, tags });
  return context.json({ q: query, page, total, songs: items }, 200, fields);
}

/** `/api/song/42` */
export function apiSong(context: DemoContext): Response {
  const id = songId.safeParse(context.req.param("id"));
  if (!id.success) return context.json({ error: "a song's id is a whole number, like 42" }, 400, UNSTORED_FIELDS);
  const song = context.var.site.database.song(id.data);
  const tags = ["songs", songTag(id.data)];
  if (song === undefined) {
    const fields = renderedFields(context, { edgeSeconds: 60, browserSeconds: 0, tags });
    return context.json({ error: `there is no song ${id.data}` }, 404, fields);
  }
  return context.json(song, 200, renderedFields(context, { edgeSeconds: DAY_SECONDS, browserSeconds: 60, tags }));
}

/**
 * `/api/search/autocomplete?q=…`, as slow as a search over a much larger collection.
 *
 * The answer does not depend on upper case or on spaces around the text, so an edge may leave both out of its key.
 */
export async function apiAutocomplete(context: DemoContext): Promise<Response> {
  const { database, autocompleteDelayMs, closing } = context.var.site;
  const text = searchText(context).toLowerCase();
  const signal = AbortSignal.any([context.req.raw.signal, closing]);
  await pause(autocompleteDelayMs, undefined, { signal });
  const fields = renderedFields(context, { edgeSeconds: 3600, browserSeconds: 5, tags: ["autocomplete"] });
  return context.json({ q: text, suggestions: database.suggest(text, SUGGESTIONS) }, 200, fields);
}

function renderedFields(context: DemoContext, caching: PublicCaching): Fields {
  return { "x-demo-render": String(context.var.site.stamp().number), ...publicFields(caching) };
}
