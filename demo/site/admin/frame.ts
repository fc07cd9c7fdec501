import { html } from "hono/html";
import { PRIVATE_FIELDS } from "../cache-fields.ts";
import type { DemoContext, Site } from "../context.ts";
import { type Html, page } from "../pages/layout.ts";
import type { PurgeOutcome } from "./purge-after-save.ts";
import type { Notice, Session } from "./session.ts";

/** A page for the editor: first the outcome of the last action, then the purges still to be sent, then the content. */
export function adminPage(
  context: DemoContext,
  session: Session,
  status: 200 | 422,
  content: { title: string; main: Html },
): Promise<Response> {
  const { site } = context.var;
  const { notice } = session;
  session.notice = undefined;
  return page(context, status, PRIVATE_FIELDS, {
    title: content.title,
    section: "admin",
    main: html`${notice && noticeBox(notice)}
${unsentBoxes(site, session)}
${content.main}
<form method="post" action="/admin/logout" class="logout">${csrfField(session)}<button class="quiet">Log out</button></form>`,
  });
}

export function csrfField(session: Session): Html {
  return html`<input type="hidden" name="csrf" value="${session.csrfToken}">`;
}

function noticeBox({ headline, purge }: Notice): Html {
  return html`<div class="note ${purge.kind === "purged" ? "good" : "bad"}" role="status">
<p><strong>${headline}</strong> ${outcomeWords(purge)}</p>
</div>`;
}

function outcomeWords(purge: PurgeOutcome): Html {
  switch (purge.kind) {
    case "purged": {
      const { seq, settlesInMs } = purge.receipt;
      return html`Purged ${tagList(purge.tags)}${seq !== undefined && html`, purge no. ${seq}`}.${
        settlesInMs !== undefined &&
        html` You see the change at once; every other visitor does within ${(settlesInMs / 1000).toFixed(1)} s.`
      }`;
    }
    case "failed":
      return html`But the purge of ${tagList(purge.tags)} failed, so visitors may still be shown the old pages: ${purge.message}`;
    case "no-purger":
      return html`Nothing was purged, because this origin has no purger. If an edge stands in front of it, visitors may be shown
the old pages until their lifetime is over. Set <code>TIDEMARK_ENDPOINT</code> and <code>TIDEMARK_TOKEN</code>, and start the origin again.`;
  }
}

function unsentBoxes(site: Site, session: Session): Html[] {
  const purges = site.outbox?.list() ?? [];
  return purges.map(
    ({ id, request }) => html`<form class="note bad" method="post" action="/admin/purges/${id}">
${csrfField(session)}
<p>Not purged yet: ${tagList(request.tags ?? [])} (${request.reason}).</p>
<button>Try the purge again</button>
</form>`,
  );
}

function tagList(tags: readonly string[]): Html[] {
  return tags.map((tag, index) => html`${index > 0 && " "}<code>${tag}</code>`);
}
