import type { Reporter } from "../../ports.ts";
import type { StoreAsk } from "../../rules/request/request-facts.ts";
import type { StoredResponse } from "../../rules/storing/stored-response.ts";
import { letGo } from "../origin/cancel-body.ts";
import type { Passage } from "../request-context.ts";
import { collapseKey, otherVariants } from "../selection.ts";
import { fetchAndKeep } from "./fetch-and-store.ts";

/**
 * Fetches anew what has just been answered stale, behind the answer. RFC 5861 §3. One at a time for a page: others may
 * join it as any other fetch. Who forbids storing has nothing fetched for the others: the next one has.
 */
export function refreshBehind(passage: Passage, stored: StoredResponse, storeAsk: StoreAsk): void {
  const { flights, ask, behind, ports } = passage;
  if (ask.directives.forbidsStoring) return;
  const anonymousKey = collapseKey(passage);
  const key = storeAsk.identifying ? `cookies ${anonymousKey}` : anonymousKey;
  if (flights.find(anonymousKey) || flights.find(key)) return;
  const held = [stored, ...otherVariants(passage, stored)];
  const unseen: Passage = {
    ...passage,
    ask: { ...ask, method: "GET" },
    ports: { ...ports, reporter: withoutAnswers(ports.reporter) },
  };
  const miss = { xCache: "EXPIRED", reason: "stale", detail: undefined, selected: null, held } as const;
  // The whole page is fetched anew, also behind the answer to who asked for a part.
  const refreshed = fetchAndKeep(unseen, { ...storeAsk, partial: false }, miss, key);
  behind.run(refreshed.then((answer) => letGo(answer.body)));
}

/** Nobody sees the answer, so it is not counted as one. */
function withoutAnswers(reporter: Reporter): Reporter {
  return {
    report: (event) => {
      if (event.kind !== "answered" && event.kind !== "answered-by-edge") reporter.report(event);
    },
  };
}
