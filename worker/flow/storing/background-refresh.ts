import type { Reporter } from "../../ports.ts";
import type { StoredResponse } from "../../rules/storing/stored-response.ts";
import { collapsingKeys } from "../collapsing/collapsing-key.ts";
import type { Miss } from "../miss.ts";
import { cancelBody } from "../origin/cancel-body.ts";
import type { RequestContext } from "../request-context.ts";
import { otherVariants } from "../selection.ts";
import { fetchAndStore } from "./fetch-and-store.ts";

/**
 * Fetches anew, behind the answer, what has just been answered stale. RFC 5861 §3. One refresh at a time for a page:
 * other requests may join it like any other fetch. A request with `no-store` must not trigger the refresh; the next
 * request will.
 */
export function refreshInBackground(context: RequestContext, stored: StoredResponse): void {
  const { facts, background, ports } = context;
  if (facts.directives.forbidsStoring) return;
  const { own, leader } = collapsingKeys(context);
  if (leader) return;
  const unseen: RequestContext = {
    ...context,
    facts: facts.forWholePage(),
    ports: { ...ports, reporter: withoutAnswerEvents(ports.reporter) },
  };
  const toValidate = [stored, ...otherVariants(context, stored)];
  const miss: Miss = { xCache: "EXPIRED", reason: "stale", detail: undefined, selected: null, toValidate };
  background.run(fetchAndStore(unseen, miss, own).then((answer) => cancelBody(answer.body)));
}

/** No client gets the answer, so it is not counted as one. */
function withoutAnswerEvents(reporter: Reporter): Reporter {
  return {
    report: (event) => {
      if (event.kind !== "answered" && event.kind !== "answered-by-edge") reporter.report(event);
    },
  };
}
