import { html } from "hono/html";
import { postTag, publicFields } from "../cache-fields.ts";
import type { DemoContext } from "../context.ts";
import { type Html, SITE_NAME } from "./layout.ts";

export const FEED_TAG = "feed";
export const SITEMAP_TAG = "sitemap";

const POSTS_IN_FEED = 20;
const HOUR_SECONDS = 3600;

/** RSS 2.0: `/plog/feed.xml`. Feed readers poll, so browsers may keep it for five minutes. */
export function rssFeed(context: DemoContext): Promise<Response> {
  const { site, publicUrl } = context.var;
  const { items } = site.database.posts(POSTS_IN_FEED);
  const updatedAt = Math.max(0, ...items.map((post) => post.updatedAt));
  const entries = items.map((post) => {
    const link = `${publicUrl}/plog/${post.slug}`;
    return html`<item>
<title>${post.title}</title>
<link>${link}</link>
<guid>${link}</guid>
<pubDate>${new Date(post.publishedAt).toUTCString()}</pubDate>
<description>${post.summary}</description>
</item>
`;
  });
  return xml(
    context,
    "application/rss+xml",
    html`<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>${SITE_NAME}</title>
<link>${publicUrl}/plog/</link>
<atom:link rel="self" type="application/rss+xml" href="${publicUrl}/plog/feed.xml"/>
<description>Notes about songs that nobody sang.</description>
<language>en</language>
<lastBuildDate>${new Date(updatedAt).toUTCString()}</lastBuildDate>
${entries}</channel>
</rss>
`,
    { browserSeconds: 300, tags: [FEED_TAG, ...items.map((post) => postTag(post.slug))] },
  );
}

/** `/sitemap.xml`. It lists addresses without dates, so only a new or a deleted post changes it; an edit does not. */
export function sitemap(context: DemoContext): Promise<Response> {
  const { site, publicUrl } = context.var;
  const paths = ["/", "/plog/", "/songs", ...site.database.slugs().map((slug) => `/plog/${slug}`)];
  return xml(
    context,
    "application/xml",
    html`<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${paths.map((path) => html`<url><loc>${publicUrl}${path}</loc></url>\n`)}</urlset>
`,
    { browserSeconds: 0, tags: [SITEMAP_TAG] },
  );
}

/** `/robots.txt` has no `Cache-Control`, like parts of a site for which nobody thought about caching. */
export function robots(context: DemoContext): Response {
  const lines = ["User-agent: *", "Disallow: /admin/", `Sitemap: ${context.var.publicUrl}/sitemap.xml`, ""];
  return context.text(lines.join("\n"));
}

/** The templates of `hono/html` escape `& < > " '`, which is also enough for XML. */
async function xml(
  context: DemoContext,
  type: string,
  body: Html,
  caching: { browserSeconds: number; tags: string[] },
): Promise<Response> {
  return context.body(String(await body), 200, {
    "content-type": `${type}; charset=utf-8`,
    "x-demo-render": String(context.var.site.stamp().number),
    ...publicFields({ edgeSeconds: 24 * HOUR_SECONDS, ...caching }),
  });
}
