import type { StoredResponse } from "../../rules/storing/stored-response.ts";
import { collapsingKeys } from "../collapsing/collapsing-key.ts";
import type { Miss } from "../miss.ts";
import { cancelBody } from "../origin/cancel-body.ts";
import type { RequestContext } from "../request-context.ts";
import { otherVariants } from "../selection.ts";
import { fetchAndStore } from "./fetch-and-store.ts";
import { withoutAnswerEvents } from "./without-answer-events.ts";

/**
 * Refetches, in the background, a response that has just been served stale. RFC 5861 §3. A page has one refresh at a
 * time, which other requests may join like any fetch. A request with `no-store` must not start it; the next request
 * will.
 */
export function refreshInBackground(context: RequestContext, stored: StoredResponse): void {
  const { facts, background, ports } = context;
  if (facts.directives.forbidsStoring) return;
  const { own, leader } = collapsingKeys(context);
  if (leader) return;
  const unseen: RequestContext = {
    ...context,
    facts: facts.forWholePage(),
    answersHead: false,
    ports: { ...ports, reporter: withoutAnswerEvents(ports.reporter) },
  };
  const toValidate = [stored, ...otherVariants(context, stored)];
  const miss: Miss = { xCache: "EXPIRED", reason: "stale", detail: undefined, selected: null, toValidate };
  background.run(fetchAndStore(unseen, miss, own).then((answer) => cancelBody(answer.body)));
}
