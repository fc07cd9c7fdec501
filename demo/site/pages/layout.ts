import { createHash } from "node:crypto";
import { html, raw } from "hono/html";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { STYLESHEET_PATH } from "../assets.ts";
import type { Fields } from "../cache-fields.ts";
import type { DemoContext, RenderStamp } from "../context.ts";

/** Escaped markup, as the templates of `hono/html` make it. */
export type Html = ReturnType<typeof html>;

export const SITE_NAME = "Slack Water";

export interface PageContent {
  title: string;
  description?: string;
  section: "home" | "plog" | "songs" | "admin" | "none";
  /** The preferred path of this page. Only public pages have one. */
  canonicalPath?: string;
  main: Html;
  /** A script for the end of the page. Its hash is the only one that the page's policy allows. Default: none. */
  script?: string;
}

/**
 * A page of the site with its header and footer.
 *
 * Two renderings of the same rows differ only in their stamp. The entity tag therefore leaves the stamp out and is a
 * weak one (RFC 9110 §8.8.1): a stored copy that is revalidated gets a 304 and keeps its stamp.
 */
export async function page(
  context: DemoContext,
  status: ContentfulStatusCode,
  caching: Fields,
  content: PageContent,
): Promise<Response> {
  const { site, publicUrl } = context.var;
  const stamp = site.stamp();
  const fields: Record<string, string> = {
    "content-security-policy": policyFor(content),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-demo-render": String(stamp.number),
    ...caching,
  };
  if (status === 200) fields.etag = weakEtag(String(await frame(publicUrl, content, undefined)));
  return context.html(frame(publicUrl, content, stamp), status, fields);
}

function policyFor({ script }: PageContent): string {
  const scripts =
    script === undefined ? "" : ` script-src 'sha256-${createHash("sha256").update(script).digest("base64")}';`;
  return `default-src 'none'; style-src 'self'; img-src 'self';${scripts} form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;
}

function weakEtag(text: string): string {
  return `W/"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
}

function frame(publicUrl: string, content: PageContent, stamp: RenderStamp | undefined): Html {
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
${content.canonicalPath !== undefined && html`<link rel="canonical" href="${publicUrl}${content.canonicalPath}">`}
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
${content.script !== undefined && html`<script>${raw(content.script)}</script>`}
</body>
</html>
`;
}

function stampLine({ number, at }: RenderStamp): Html {
  const instant = new Date(at).toISOString();
  const words = instant.replace("T", " ").replace("Z", " UTC");
  return html`<p class="stamp"><span>Rendered by the origin</span> <time datetime="${instant}">${words}</time> <span>render <b>#${number}</b></span></p>`;
}
