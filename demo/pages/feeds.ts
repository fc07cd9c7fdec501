import { type Answer, strongEtag } from "../answer.ts";
import { postTag, publicFields } from "../cache-fields.ts";
import { escapeMarkup } from "../html.ts";
import type { DemoRequest } from "../router.ts";
import type { Site } from "../site.ts";
import { SITE_NAME } from "./layout.ts";

export const FEED_TAG = "feed";
export const SITEMAP_TAG = "sitemap";

const POSTS_IN_FEED = 20;
const HOUR_SECONDS = 3600;

/** RSS 2.0: `/plog/feed.xml`. Feed readers come back by themselves, so they may keep it for a while. */
export function rssFeed(site: Site, request: DemoRequest): Answer {
  const { items } = site.database.posts(POSTS_IN_FEED);
  const updatedAt = Math.max(0, ...items.map((post) => post.updatedAt));
  const entries = items.map((post) => {
    const link = `${request.publicUrl}/plog/${post.slug}`;
    return `<item>
<title>${escapeMarkup(post.title)}</title>
<link>${escapeMarkup(link)}</link>
<guid>${escapeMarkup(link)}</guid>
<pubDate>${new Date(post.publishedAt).toUTCString()}</pubDate>
<description>${escapeMarkup(post.summary)}</description>
</item>`;
  });
  return xml(
    site,
    "application/rss+xml",
    `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>${SITE_NAME}</title>
<link>${escapeMarkup(request.publicUrl)}/plog/</link>
<atom:link rel="self" type="application/rss+xml" href="${escapeMarkup(request.publicUrl)}/plog/feed.xml"/>
<description>Notes about songs that nobody sang.</description>
<language>en</language>
<lastBuildDate>${new Date(updatedAt).toUTCString()}</lastBuildDate>
${entries.join("\n")}
</channel>
</rss>
`,
    { browserSeconds: 300, tags: [FEED_TAG, ...items.map((post) => postTag(post.slug))] },
  );
}

/** `/sitemap.xml`. It tells addresses and no dates, so an edit leaves it as it is; only a coming or going changes it. */
export function sitemap(site: Site, request: DemoRequest): Answer {
  const paths = ["/", "/plog/", "/songs", ...site.database.slugs().map((slug) => `/plog/${slug}`)];
  const urls = paths.map((path) => `<url><loc>${escapeMarkup(request.publicUrl + path)}</loc></url>`);
  return xml(
    site,
    "application/xml",
    `<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${urls.join("\n")}
</urlset>
`,
    { browserSeconds: 0, tags: [SITEMAP_TAG] },
  );
}

/** `/robots.txt`, from a corner of the site where nobody thought of caching: it says nothing about it. */
export function robots(request: DemoRequest): Answer {
  const body = `User-agent: *\nDisallow: /admin/\nSitemap: ${request.publicUrl}/sitemap.xml\n`;
  return { status: 200, fields: { "content-type": "text/plain; charset=utf-8" }, body };
}

function xml(site: Site, type: string, body: string, caching: { browserSeconds: number; tags: string[] }): Answer {
  return {
    status: 200,
    fields: {
      "content-type": `${type}; charset=utf-8`,
      etag: strongEtag(body),
      "x-demo-render": String(site.stamp().number),
      ...publicFields({ edgeSeconds: 24 * HOUR_SECONDS, ...caching }),
    },
    body,
  };
}
