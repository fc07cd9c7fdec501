import { html } from "hono/html";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Fields } from "../cache-fields.ts";
import type { DemoContext } from "../context.ts";
import { page } from "./layout.ts";

/** A page that says what went wrong, with links to pages that work. */
export function errorPage(
  context: DemoContext,
  status: ContentfulStatusCode,
  caching: Fields,
  words: { title: string; text: string },
): Promise<Response> {
  return page(context, status, caching, {
    title: words.title,
    section: "none",
    main: html`<div class="sorry">
<p class="kicker">${status}</p>
<h1>${words.title}</h1>
<p class="lead">${words.text}</p>
<div class="row"><a class="button" href="/">Back to the start</a><a class="button quiet" href="/plog/">Read the plog</a></div>
</div>`,
  });
}
