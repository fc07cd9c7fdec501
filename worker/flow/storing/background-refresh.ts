import { cancelBody } from "../../ports/cancel-body.ts";
import type { FoundResponse } from "../../ports/store.ts";
import { beginRefresh } from "../collapsing/begin-fetch.ts";
import type { LeadingFetch } from "../collapsing/collapsed-fetches.ts";
import type { Miss } from "../miss.ts";
import { type RequestContext, unattended } from "../request-context.ts";
import { fetchAndStore } from "./fetch-and-store.ts";

/**
 * Refetches, in the background, a response that has just been served stale. RFC 5861 §3. A page has one refresh at a
 * time, which other requests may join like any fetch. A request with `no-store` must not start it; the next request
 * will. If another isolate is refreshing the page, or has done so, its response is taken from the shared tier.
 */
export function refreshInBackground(context: RequestContext, stored: FoundResponse): void {
  const { facts, background, isolate } = context;
  if (facts.directives.forbidsStoring) return;
  const begun = beginRefresh(context);
  if (begun?.kind === "lead") background.run(refresh(context, stored, begun.fetch));
  else if (begun?.kind === "follow") {
    background.run(begun.fetch.outcome.then(() => isolate.neighbours!.takeOver(context, stored)));
  }
}

async function refresh(context: RequestContext, found: FoundResponse, fetch: LeadingFetch): Promise<void> {
  const { facts, isolate } = context;
  const { neighbours } = isolate;
  if (neighbours && (await neighbours.takeOver(context, found))) return fetch.tell({ kind: "look-again" });
  const miss: Miss = { kind: "stale", because: "stale", selected: null, toValidate: found };
  const answer = await fetchAndStore(unattended(context, facts.forWholePage()), miss, fetch);
  if (answer.status >= 400) isolate.collapsed.rememberFailedRefresh(fetch.key);
  await cancelBody(answer.body);
}
