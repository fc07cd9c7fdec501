import { html } from "hono/html";
import { DEMO_PASSWORD, DEMO_USER } from "../admin/login.ts";
import { COPY_BUTTON } from "../assets.ts";
import { postTag, publicFields } from "../cache-fields.ts";
import type { DemoContext, Site } from "../context.ts";
import { type Html, page, SITE_NAME } from "./layout.ts";
import { postList } from "./plog.ts";

export const HOME_TAG = "home";

const POSTS_ON_HOME = 3;
const DAY_SECONDS = 86_400;

/** `/`: what to try, step by step. */
export function home(context: DemoContext): Promise<Response> {
  const { site, publicUrl, forwarded } = context.var;
  const { items } = site.database.posts(POSTS_ON_HOME);
  const slug = items[0]?.slug ?? "the-newest-post";
  const tags = [HOME_TAG, ...items.map((post) => postTag(post.slug))];
  return page(context, 200, publicFields({ edgeSeconds: DAY_SECONDS, browserSeconds: 0, tags }), {
    title: `${SITE_NAME}: what to try`,
    description: "A small real site behind an edge cache, and what to try with it.",
    section: "home",
    canonicalPath: "/",
    script: COPY_BUTTON,
    main: html`<img class="wide" src="/images/cover-100k.jpg" width="1200" height="504" alt="Waves under a low sun" decoding="async">
<h1>A small site behind an edge cache</h1>
<p class="lead">This is a plog and a song search, as somebody might run them. The edge stands in front of it: it stores what may be stored,
and drops it when the site purges it. The line at the top of every page says when the origin rendered it; a stored copy keeps its line.
Here are six things to try, in this order:</p>
${!forwarded && noEdge()}
<ol class="steps">
${steps(site, publicUrl, slug)}
</ol>
<section>
<h2>Also here</h2>
${alsoHere(site, publicUrl)}
</section>
<section>
<h2>The newest in the plog</h2>
${postList(items)}
</section>`,
  });
}

function noEdge(): Html {
  return html`<p class="note"><strong>You are talking to the origin itself.</strong> No edge passed this request on, so every view is rendered anew.
Start the edge with <code>npm run dev</code> and open the address that it prints.</p>`;
}

function steps(site: Site, publicUrl: string, slug: string): Html[] {
  const ask = command(`curl -sD- -o /dev/null ${publicUrl}/plog/${slug}`);
  return [
    step(
      "A miss",
      html`${ask}
<p>The edge has no copy yet, so it asks the origin and stores the answer: <samp>X-Cache: MISS</samp>. Note the number in <samp>X-Demo-Render</samp>.</p>`,
    ),
    step(
      "A hit",
      html`${ask}
<p>The same line again: <samp>X-Cache: HIT</samp>, an <samp>Age</samp>, and the same render number. The origin was not asked.
It is the same <a href="/plog/${slug}">in the browser</a>: reload, and the line at the top stays.</p>`,
    ),
    step(
      "Stop the origin",
      html`<p>Type <kbd>o</kbd> and <kbd>Enter</kbd> in the terminal of <code>npm run dev</code>: the origin stops, and the edge keeps running. Ask once more.</p>
${ask}
<p>Still <samp>HIT</samp>. A page that nobody has requested before cannot be fetched now, and the edge says so:</p>
${command(`curl -sD- -o /dev/null '${publicUrl}/plog/?page=41'`)}
<p>Type <kbd>o</kbd> and <kbd>Enter</kbd> again: the origin is back.</p>`,
    ),
    step(
      "Edit",
      html`<p><a href="/admin/posts/${slug}">Open the post in the admin area</a> as <samp>${DEMO_USER}</samp> with the password
<samp>${DEMO_PASSWORD}</samp>, change its title, and save. The admin area is never stored: <samp>X-Cache: BYPASS</samp>.</p>`,
    ),
    step(
      "Purge",
      html`${
        site.outbox
          ? html`<p>This has already happened: saving commits the row first, then purges the one tag <code>${postTag(slug)}</code>, and the edge answers with a receipt.</p>`
          : html`<p class="note">This origin has no purger, so saving purges nothing. Set <code>TIDEMARK_ENDPOINT</code> to
the address of the edge and <code>TIDEMARK_TOKEN</code> to its token, and start the origin again.</p>`
      }
<p>To purge by hand, once <code>TIDEMARK_TOKEN</code> is set to the token that <code>npm run dev</code> has printed:</p>
${command(`curl ${publicUrl}/_tidemark/purge \\
  -H "Authorization: Bearer $TIDEMARK_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"tags":["${postTag(slug)}"],"reason":"trying it"}'`)}
<p>The receipt says after how many milliseconds no old copy is left anywhere.</p>`,
    ),
    step(
      "Look",
      html`${ask}
<p><samp>MISS</samp> with a new render number, then <samp>HIT</samp> again. The <a href="/plog/">list</a>, the <a href="/plog/feed.xml">feed</a> and this page
show the new title too: every page that shows a post carries its tag. All other posts are still the stored copies.</p>`,
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
<dd>It calls the autocomplete through the edge, across origins. The origin takes ${site.autocompleteDelayMs} ms for each call; type a word twice.
Spellings that differ in upper case or in spaces around them share one copy:
${command(`curl -sD- -G ${publicUrl}/api/search/autocomplete \\\n  --data-urlencode 'q= LANtern '`)}</dd>
<dt><a href="/songs?q=harbour">The song search</a></dt>
<dd>As a page, and as JSON: <a href="/api/search?q=harbour">/api/search?q=harbour</a>, <a href="/api/song/42">/api/song/42</a>.</dd>
<dt><a href="/images/cover-32k.jpg">32 KB</a> and <a href="/images/cover-100k.jpg">100 KB</a> images</dt>
<dd>Exactly as many bytes as they say, and <samp>immutable</samp>: for measuring.</dd>
<dt>What has the edge done so far?</dt>
<dd>Its counters say, with the same token:
${command(`curl ${publicUrl}/_tidemark/stats \\\n  -H "Authorization: Bearer $TIDEMARK_TOKEN"`)}</dd>
</dl>`;
}

function command(line: string): Html {
  return html`<pre><code>${line}</code></pre>`;
}
