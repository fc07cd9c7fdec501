import { readFileSync } from "node:fs";
import { Hono } from "hono";
import { html } from "hono/html";
import { methodNotAllowed } from "hono/method-not-allowed";
import { type Listening, listen } from "../listen.ts";
import { STYLESHEET, STYLESHEET_PATH } from "../site/assets.ts";
import type { Html } from "../site/pages/layout.ts";

export interface SearchPageOptions {
  /** The port to listen on. The default, 0, takes a free one. */
  port?: number;
  /** The address to listen on; default `127.0.0.1`. */
  host?: string;
  /** Scheme and host of the site whose autocomplete the page calls: the edge, as a browser sees it. */
  siteUrl: string;
}

const SCRIPT = readFileSync(new URL("autocomplete.js", import.meta.url), "utf8");

/** A static page on another origin, with a search box that calls the site's autocomplete across origins. */
export async function startSearchPage(options: SearchPageOptions): Promise<Listening> {
  const siteUrl = new URL(options.siteUrl).origin;
  const app = new Hono();
  app.use(methodNotAllowed({ app }));
  app.use(async (context, next) => {
    await next();
    context.header(
      "content-security-policy",
      `default-src 'none'; style-src 'self'; script-src 'self'; connect-src ${siteUrl}; img-src data:; base-uri 'none'`,
    );
    context.header("cache-control", "no-cache");
  });
  app.get("/", (context) => context.html(searchPage(siteUrl)));
  app.get("/style.css", (context) => context.body(STYLESHEET, 200, { "content-type": "text/css; charset=utf-8" }));
  app.get("/autocomplete.js", (context) =>
    context.body(SCRIPT, 200, { "content-type": "text/javascript; charset=utf-8" }),
  );
  app.notFound((context) => context.text("There is nothing here.\n", 404));
  return await listen(app.fetch, options.port ?? 0, options.host ?? "127.0.0.1");
}

function searchPage(siteUrl: string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Find a song</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${STYLESHEET_PATH}">
<script type="module" src="/autocomplete.js"></script>
</head>
<body data-site="${siteUrl}">
<header class="masthead"><span class="name">Find a song</span><nav aria-label="The site"><a href="${siteUrl}/">The site</a></nav></header>
<main>
<h1>A search box on another origin</h1>
<p class="lead">Every letter asks <a href="${siteUrl}/api/search/autocomplete?q=lan"><code>${siteUrl}</code></a> for suggestions.
The site takes 200 ms for each; a copy at the edge takes almost no time. Type <kbd>lantern</kbd>, clear it, and type it again.</p>
<form class="search" role="search">
<label for="q">Title or artist</label>
<div class="row"><input id="q" type="search" maxlength="100" autocomplete="off" spellcheck="false" aria-controls="suggestions"></div>
</form>
<ul id="suggestions" class="rows suggestions" aria-live="polite"></ul>
<section>
<h2>The last requests</h2>
<table class="songs log"><thead><tr><th scope="col">q</th><th scope="col">Answered by</th><th scope="col" class="number">Time</th><th scope="col" class="number">Render</th></tr></thead>
<tbody id="log"><tr><td colspan="4" class="aside">There was no request yet.</td></tr></tbody></table>
<p class="aside">A browser may use its own copy for five seconds; after that it asks the edge again.</p>
</section>
</main>
</body>
</html>
`;
}
