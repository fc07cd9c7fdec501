import type { OutgoingHttpHeaders } from "node:http";
import type { Answer } from "../answer.ts";
import { html } from "../html.ts";
import type { DemoRequest } from "../router.ts";
import type { Site } from "../site.ts";
import { page } from "./layout.ts";

/** A page that says what is wrong, and where to go on. */
export function sorry(
  site: Site,
  request: DemoRequest,
  status: number,
  caching: OutgoingHttpHeaders,
  words: { title: string; text: string },
): Answer {
  return page(site, request, status, caching, {
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
