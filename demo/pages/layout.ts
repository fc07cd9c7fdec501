import type { OutgoingHttpHeaders } from "node:http";
import { type Answer, strongEtag } from "../answer.ts";
import { type Html, html } from "../html.ts";
import type { DemoRequest } from "../router.ts";
import type { RenderStamp, Site } from "../site.ts";
import { STYLESHEET_PATH } from "../stylesheet.ts";

export const SITE_NAME = "Slack Water";

export interface PageContent {
  title: string;
  description?: string;
  section: "home" | "plog" | "songs" | "admin" | "none";
  /** The path under which this page wants to be known; for public pages. */
  canonicalPath?: string;
  main: Html;
}

/**
 * A page of the site in its frame.
 *
 * Two renderings of the same rows differ in their stamp alone, so the entity tag is made without the stamp, and is a
 * weak one (RFC 9110 §8.8.1): a copy that is asked about again gets a 304 and keeps the stamp of its making.
 */
export function page(
  site: Site,
  request: DemoRequest,
  status: number,
  caching: OutgoingHttpHeaders,
  content: PageContent,
): Answer {
  const stamp = site.stamp();
  const fields: OutgoingHttpHeaders = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy":
      "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-demo-render": String(stamp.number),
    ...caching,
  };
  if (status === 200) fields.etag = `W/${strongEtag(frame(request, content, undefined).text)}`;
  return { status, fields, body: frame(request, content, stamp).text };
}

function frame(request: DemoRequest, content: PageContent, stamp: RenderStamp | undefined): Html {
  const link = (section: PageContent["section"], path: string, name: string): Html =>
    html`<a href="${path}"${content.section === section && html` aria-current="page"`}>${name}</a>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${content.section === "home" ? content.title : `${content.title} · ${SITE_NAME}`}</title>
${content.description !== undefined && html`<meta name="description" content="${content.description}">`}
${content.canonicalPath !== undefined && html`<link rel="canonical" href="${request.publicUrl}${content.canonicalPath}">`}
<link rel="alternate" type="application/rss+xml" title="${SITE_NAME}" href="/plog/feed.xml">
<link rel="icon" type="image/svg+xml" href="/images/mark.svg">
<link rel="stylesheet" href="${STYLESHEET_PATH}">
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header class="masthead">
<a class="name" href="/">${SITE_NAME}</a>
<nav aria-label="The site">${link("plog", "/plog/", "Plog")}${link("songs", "/songs", "Songs")}${link("admin", "/admin/", "Admin")}</nav>
</header>
${stamp && stampLine(stamp)}
<main id="main">
${content.main}
</main>
<footer class="colophon">
<p>${SITE_NAME} is a demo: songs that nobody sang, and notes about them. <a href="/">What to try</a> · <a href="/plog/feed.xml">Feed</a> · <a href="/sitemap.xml">Sitemap</a></p>
</footer>
</body>
</html>
`;
}

function stampLine({ number, at }: RenderStamp): Html {
  const instant = new Date(at).toISOString();
  const words = instant.replace("T", " ").replace("Z", " UTC");
  return html`<p class="stamp"><span>Rendered by the origin</span> <time datetime="${instant}">${words}</time> <span>render <b>#${number}</b></span></p>`;
}
