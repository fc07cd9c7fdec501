import { html } from "hono/html";
import type { Song } from "../../data/database.ts";
import { publicFields } from "../cache-fields.ts";
import type { DemoContext } from "../context.ts";
import { requestedPage, searchText } from "../query.ts";
import { errorPage } from "./error-page.ts";
import { type Html, page } from "./layout.ts";
import { pager } from "./paging.ts";

const SONGS_PER_PAGE = 25;

/** The search as a page that works without scripts: `/songs?q=…`. */
export function songsPage(context: DemoContext): Promise<Response> {
  const { site } = context.var;
  const query = searchText(context);
  const number = requestedPage(context);
  const { items, total } = site.database.searchSongs(query, SONGS_PER_PAGE, (number - 1) * SONGS_PER_PAGE);
  const caching = publicFields({ edgeSeconds: 3600, browserSeconds: 0, tags: ["songs"] });
  if (items.length === 0 && number > 1) {
    return errorPage(context, 404, caching, {
      title: "The list ends before this page",
      text: `The search found ${total} songs, and none on page ${number}.`,
    });
  }
  const path = query === "" ? "/songs" : `/songs?q=${encodeURIComponent(query)}`;
  return page(context, 200, caching, {
    title: query === "" ? "Songs" : `Songs: ${query}`,
    description: "A search in songs that nobody sang.",
    section: "songs",
    canonicalPath: path,
    main: html`<h1>Songs</h1>
<form class="search" action="/songs" role="search">
<label for="q">Title, artist or album</label>
<div class="row"><input id="q" name="q" type="search" value="${query}" maxlength="100" autocomplete="off"><button>Search</button></div>
</form>
<p class="lead">${found(query, total)}</p>
${items.length > 0 && songTable(items)}
${pager(path, number, Math.ceil(total / SONGS_PER_PAGE))}
<p class="aside">The same as JSON: <a href="/api/search?q=${encodeURIComponent(query)}">/api/search?q=${encodeURIComponent(query)}</a>.
A search box that suggests while you type lives on <a href="${site.searchPageUrl}">another origin</a>.</p>`,
  });
}

function found(query: string, total: number): string {
  const count = total.toLocaleString("en");
  if (query === "") return `${count} songs in all.`;
  if (total === 0) return `Nothing is called “${query}”. Try “harbour”.`;
  return total === 1 ? `One song for “${query}”.` : `${count} songs for “${query}”.`;
}

function songTable(songs: readonly Song[]): Html {
  return html`<table class="songs">
<thead><tr><th scope="col">Title</th><th scope="col">Artist</th><th scope="col">Album</th><th scope="col" class="number">Length</th></tr></thead>
<tbody>${songs.map(
    (song) => html`
<tr><td><a href="/api/song/${song.id}">${song.title}</a></td><td>${song.artist}</td><td><cite>${song.album}</cite> ${song.year}</td><td class="number">${length(song.lengthSeconds)}</td></tr>`,
  )}
</tbody>
</table>`;
}

function length(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
