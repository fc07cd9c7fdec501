import { html } from "hono/html";
import type { Post, Song } from "../../data/database.ts";
import { postTag, publicFields, songTag } from "../cache-fields.ts";
import type { DemoContext } from "../context.ts";
import { requestedPage } from "../query.ts";
import { day } from "./dates.ts";
import { errorPage } from "./error-page.ts";
import { type Html, page, SITE_NAME } from "./layout.ts";
import { pager } from "./paging.ts";

export const LIST_TAG = "plog-list";

const POSTS_PER_PAGE = 20;
const DAY_SECONDS = 86_400;

/** One page of the list: `/plog/`, `/plog/?page=2`. */
export function plogList(context: DemoContext): Promise<Response> {
  const number = requestedPage(context);
  const { items, total } = context.var.site.database.posts(POSTS_PER_PAGE, (number - 1) * POSTS_PER_PAGE);
  const tags = [LIST_TAG, ...items.map((post) => postTag(post.slug))];
  if (items.length === 0) {
    return errorPage(context, 404, publicFields({ edgeSeconds: 60, browserSeconds: 0, tags }), {
      title: "The plog ends before this page",
      text: `There are ${total} posts, and none on page ${number}.`,
    });
  }
  const path = number === 1 ? "/plog/" : `/plog/?page=${number}`;
  return page(context, 200, publicFields({ edgeSeconds: DAY_SECONDS, browserSeconds: 0, tags }), {
    title: number === 1 ? "The plog" : `The plog, page ${number}`,
    description: "Notes about songs, the newest first.",
    section: "plog",
    canonicalPath: path,
    main: html`<h1>The plog</h1>
<p class="lead">${total.toLocaleString("en")} notes about songs, the newest first.</p>
${postList(items)}
${pager("/plog/", number, Math.ceil(total / POSTS_PER_PAGE))}`,
  });
}

/** The titles with their summaries, as the list and the front page show them. */
export function postList(posts: readonly Post[]): Html {
  return html`<ol class="posts">${posts.map(
    (post) => html`
<li><article>
<p class="kicker">${day(post.publishedAt)}</p>
<h2><a href="/plog/${post.slug}">${post.title}</a></h2>
<p>${post.summary}</p>
</article></li>`,
  )}
</ol>`;
}

/** A post's page: `/plog/a-slug`. */
export function plogPost(context: DemoContext): Promise<Response> {
  const { database } = context.var.site;
  const slug = context.req.param("slug") ?? "";
  const post = database.post(slug);
  if (post === undefined) return noSuchPost(context, slug);
  const { older, newer } = database.neighbours(post);
  const song = database.song(post.songId);
  const tags = ["plog", postTag(slug), songTag(post.songId)];
  for (const neighbour of [older, newer]) if (neighbour) tags.push(postTag(neighbour.slug));
  return page(context, 200, publicFields({ edgeSeconds: DAY_SECONDS, browserSeconds: 0, tags }), {
    title: post.title,
    description: post.summary,
    section: "plog",
    canonicalPath: `/plog/${slug}`,
    main: html`<article class="post">
<header>
<p class="kicker">${day(post.publishedAt)}${post.revision > 1 && html` · edited ${day(post.updatedAt)}, revision ${post.revision}`}</p>
<h1>${post.title}</h1>
</header>
<img class="wide" src="/images/cover-32k.jpg" width="720" height="304" alt="A low sun over the sea" decoding="async">
${post.body.split(/\n\s*\n/).map((paragraph) => html`<p>${paragraph}</p>\n`)}
${song && listenedTo(song)}
<p class="aside">By the desk of ${SITE_NAME}. Something wrong with it? <a href="/admin/posts/${slug}" rel="nofollow">Edit this post</a>.</p>
</article>
<nav class="neighbours" aria-label="More posts">
${older && html`<a rel="prev" href="/plog/${older.slug}"><small>Older</small>${older.title}</a>`}
${newer && html`<a rel="next" href="/plog/${newer.slug}"><small>Newer</small>${newer.title}</a>`}
</nav>`,
  });
}

function noSuchPost(context: DemoContext, slug: string): Promise<Response> {
  const known = /^[a-z0-9-]{1,200}$/.test(slug);
  const tags = known ? ["plog", postTag(slug)] : ["plog"];
  return errorPage(context, 404, publicFields({ edgeSeconds: 60, browserSeconds: 0, tags }), {
    title: "No such post",
    text: "It may have been deleted, or the address is misspelt.",
  });
}

function listenedTo(song: Song): Html {
  return html`<aside class="card">
<p class="kicker">Listened to while writing</p>
<p><strong>${song.title}</strong> by ${song.artist}, from <cite>${song.album}</cite> (${song.year}). <a href="/api/song/${song.id}">As JSON</a></p>
</aside>`;
}
