import type { Reporter } from "../../ports.ts";
import type { StorageRequest } from "../../rules/request/request-facts.ts";
import type { StoredResponse } from "../../rules/storing/stored-response.ts";
import { cancelBody } from "../origin/cancel-body.ts";
import type { RequestContext } from "../request-context.ts";
import { collapseKey, otherVariants } from "../selection.ts";
import { fetchAndStore } from "./fetch-and-store.ts";

/**
 * Fetches anew what has just been answered stale, behind the answer. RFC 5861 §3. One at a time for a page: others may
 * join it as any other fetch. Who forbids storing has nothing fetched for the others: the next one has.
 */
export function refreshInBackground(
  context: RequestContext,
  stored: StoredResponse,
  storageRequest: StorageRequest,
): void {
  const { collapsed, facts, background, ports } = context;
  if (facts.directives.forbidsStoring) return;
  const anonymousKey = collapseKey(context);
  const key = storageRequest.identifying ? `cookies ${anonymousKey}` : anonymousKey;
  if (collapsed.find(anonymousKey) || collapsed.find(key)) return;
  const held = [stored, ...otherVariants(context, stored)];
  const unseen: RequestContext = {
    ...context,
    facts: { ...facts, method: "GET" },
    ports: { ...ports, reporter: withoutAnswerEvents(ports.reporter) },
  };
  const miss = { xCache: "EXPIRED", reason: "stale", detail: undefined, selected: null, held } as const;
  // The whole page is fetched anew, also behind the answer to who asked for a part.
  const refreshed = fetchAndStore(unseen, { ...storageRequest, partial: false }, miss, key);
  background.run(refreshed.then((answer) => cancelBody(answer.body)));
}

/** Nobody sees the answer, so it is not counted as one. */
function withoutAnswerEvents(reporter: Reporter): Reporter {
  return {
    report: (event) => {
      if (event.kind !== "answered" && event.kind !== "answered-by-edge") reporter.report(event);
    },
  };
}
