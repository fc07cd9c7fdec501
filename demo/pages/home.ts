import { DEMO_PASSWORD, DEMO_USER } from "../admin/credentials.ts";
import type { Answer } from "../answer.ts";
import { postTag, publicFields } from "../cache-fields.ts";
import { type Html, html } from "../html.ts";
import type { DemoRequest } from "../router.ts";
import type { Site } from "../site.ts";
import { page, SITE_NAME } from "./layout.ts";
import { postList } from "./plog.ts";

export const HOME_TAG = "home";

const POSTS_ON_HOME = 3;
const DAY_SECONDS = 86_400;

/** `/`: what to try, in the order that tells the story. */
export function home(site: Site, request: DemoRequest): Answer {
  const { items } = site.database.posts(POSTS_ON_HOME);
  const slug = items[0]?.slug ?? "the-newest-post";
  const tags = [HOME_TAG, ...items.map((post) => postTag(post.slug))];
  return page(site, request, 200, publicFields({ edgeSeconds: DAY_SECONDS, browserSeconds: 0, tags }), {
    title: `${SITE_NAME}: what to try`,
    description: "A small real site behind an edge cache, and what to try with it.",
    section: "home",
    canonicalPath: "/",
    main: html`<img class="wide" src="/images/cover-100k.jpg" width="1200" height="504" alt="Waves under a low sun" decoding="async">
<h1>A small site behind an edge cache</h1>
<p class="lead">This is a plog and a song search, as somebody might run them. In front of it stands the edge: it keeps what may be kept,
and forgets it when the site says so. Every page tells, in the line at its top, when the origin made it: a copy keeps the line of its making.
Six things to try, in this order:</p>
${!request.forwarded && direct()}
<ol class="steps">
${steps(site, request.publicUrl, slug)}
</ol>
<section>
<h2>Also here</h2>
${alsoHere(site, request.publicUrl)}
</section>
<section>
<h2>The newest in the plog</h2>
${postList(items)}
</section>`,
  });
}

function direct(): Html {
  return html`<p class="note"><strong>You are talking to the origin itself.</strong> No edge passed this request on, so every view is made anew.
Start the edge with <code>npm run dev</code> and open the address that it prints.</p>`;
}

function steps(site: Site, publicUrl: string, slug: string): Html[] {
  const ask = command(`curl -sD- -o /dev/null ${publicUrl}/plog/${slug}`);
  return [
    step(
      "A miss",
      html`${ask}
<p>The edge holds no copy yet, asks the origin, and keeps the answer: <samp>X-Cache: MISS</samp>. Note the number in <samp>X-Demo-Render</samp>.</p>`,
    ),
    step(
      "A hit",
      html`${ask}
<p>The same line again: <samp>X-Cache: HIT</samp>, an <samp>Age</samp>, and the same render number. The origin was not asked.
<a href="/plog/${slug}">In the browser</a> it is the same: reload, and the line at the top stays.</p>`,
    ),
    step(
      "Stop the origin",
      html`<p>Type <kbd>o</kbd> and <kbd>Enter</kbd> in the terminal of <code>npm run dev</code>: the origin stops, the edge goes on. Ask once more.</p>
${ask}
<p>Still <samp>HIT</samp>. A page that nobody has asked for yet is not there now, and says so:</p>
${command(`curl -sD- -o /dev/null '${publicUrl}/plog/?page=41'`)}
<p>Type <kbd>o</kbd> and <kbd>Enter</kbd> again: the origin is back.</p>`,
    ),
    step(
      "Edit",
      html`<p><a href="/admin/posts/${slug}">Open the post in the admin area</a> as <samp>${DEMO_USER}</samp> with the password
<samp>${DEMO_PASSWORD}</samp>, change its title, and save. The admin area is never kept: <samp>X-Cache: BYPASS</samp>.</p>`,
    ),
    step(
      "Purge",
      html`${
        site.purger
          ? html`<p>That has happened already: saving commits the row first, then purges the one tag <code>${postTag(slug)}</code>; the edge answers with a receipt.</p>`
          : html`<p class="note">This origin has nobody to purge with, so saving purges nothing. Set <code>TIDEMARK_ENDPOINT</code> to
the address of the edge and <code>TIDEMARK_TOKEN</code> to its token, and start the origin again.</p>`
      }
<p>By hand, from anywhere, once <code>TIDEMARK_TOKEN</code> is set to the token that <code>npm run dev</code> printed:</p>
${command(`curl ${publicUrl}/_tidemark/purge \\
  -H "Authorization: Bearer $TIDEMARK_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"tags":["${postTag(slug)}"],"reason":"trying it"}'`)}
<p>The receipt says how many milliseconds it takes until no copy anywhere is the old one.</p>`,
    ),
    step(
      "Look",
      html`${ask}
<p><samp>MISS</samp> with a new render number, then <samp>HIT</samp> again. The <a href="/plog/">list</a>, the <a href="/plog/feed.xml">feed</a> and this page
show the new title too: whatever shows a post carries its tag. All other posts are still the old copies.</p>`,
    ),
  ];
}

function step(title: string, body: Html): Html {
  return html`<li>
<h2>${title}</h2>
${body}
</li>
`;
}

function alsoHere(site: Site, publicUrl: string): Html {
  return html`<dl class="also">
<dt><a href="${site.searchPageUrl}">A search box on another origin</a></dt>
<dd>It calls the autocomplete through the edge, across origins. The origin takes ${site.autocompleteDelayMs} ms for each; type a word twice.
Upper case and spaces share one copy:
${command(`curl -sD- -G ${publicUrl}/api/search/autocomplete --data-urlencode 'q= LANtern '`)}</dd>
<dt><a href="/songs?q=harbour">The song search</a></dt>
<dd>As a page, and as JSON: <a href="/api/search?q=harbour">/api/search?q=harbour</a>, <a href="/api/song/42">/api/song/42</a>.</dd>
<dt><a href="/images/cover-32k.jpg">32 KB</a> and <a href="/images/cover-100k.jpg">100 KB</a> of picture</dt>
<dd>Exactly so many bytes, and <samp>immutable</samp>: for measuring.</dd>
<dt>What has the edge done so far?</dt>
<dd>Its counters, with the same token:
${command(`curl ${publicUrl}/_tidemark/stats -H "Authorization: Bearer $TIDEMARK_TOKEN"`)}</dd>
</dl>`;
}

function command(line: string): Html {
  return html`<pre><code>${line}</code></pre>`;
}
