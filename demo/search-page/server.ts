import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { html } from "../html.ts";
import { type Listening, listen, stopListening } from "../listening.ts";
import { STYLESHEET, STYLESHEET_PATH } from "../stylesheet.ts";

export interface SearchPageOptions {
  /** 0, the default, takes a free one. */
  port?: number;
  /** The address to listen on; default `127.0.0.1`. */
  host?: string;
  /** Scheme and host of the site whose autocomplete is called: the edge, as a browser sees it. */
  siteUrl: string;
}

const SCRIPT = readFileSync(new URL("autocomplete.js", import.meta.url), "utf8");

/** A static page on an origin of its own, with a search box that calls the site's autocomplete across origins. */
export async function startSearchPage(options: SearchPageOptions): Promise<Listening & { close(): Promise<void> }> {
  const siteUrl = new URL(options.siteUrl).origin;
  const files = new Map([
    ["/", { type: "text/html", text: searchPage(siteUrl) }],
    ["/style.css", { type: "text/css", text: STYLESHEET }],
    ["/autocomplete.js", { type: "text/javascript", text: SCRIPT }],
  ]);
  const server = createServer((request, response) => {
    const file = files.get(request.url?.split("?")[0] ?? "");
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { allow: "GET, HEAD" }).end();
    } else if (file === undefined) {
      response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end("There is nothing here.\n");
    } else {
      response.writeHead(200, {
        "content-type": `${file.type}; charset=utf-8`,
        "content-security-policy": `default-src 'none'; style-src 'self'; script-src 'self'; connect-src ${siteUrl}; img-src data:; base-uri 'none'`,
        "cache-control": "no-cache",
      });
      response.end(request.method === "HEAD" ? undefined : file.text);
    }
  });
  const listening = await listen(server, options.port ?? 0, options.host ?? "127.0.0.1");
  return { ...listening, close: () => stopListening(server) };
}

function searchPage(siteUrl: string): string {
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
The site takes 200 ms for each; a copy at the edge takes none of them. Type <kbd>lantern</kbd>, clear it, and type it again.</p>
<form class="search" role="search">
<label for="q">Title or artist</label>
<div class="row"><input id="q" type="search" maxlength="100" autocomplete="off" spellcheck="false" aria-controls="suggestions"></div>
</form>
<ul id="suggestions" class="rows suggestions" aria-live="polite"></ul>
<section>
<h2>The last questions</h2>
<table class="songs log"><thead><tr><th scope="col">q</th><th scope="col">Answered by</th><th scope="col" class="number">Time</th><th scope="col" class="number">Render</th></tr></thead>
<tbody id="log"><tr><td colspan="4" class="aside">Nothing was asked yet.</td></tr></tbody></table>
<p class="aside">For five seconds a browser may use its own copy; after that it asks the edge again.</p>
</section>
</main>
</body>
</html>
`.text;
}
