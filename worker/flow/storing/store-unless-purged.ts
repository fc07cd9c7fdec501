import type { FetchTurn } from "../../ports/fetches-elsewhere.ts";
import { isWorthStoring } from "../../rules/freshness/judge.ts";
import type { StoredHead, StoredResponse } from "../../rules/storing/stored-response.ts";
import { pageOf, type RequestContext } from "../request-context.ts";
import { storeResponse } from "../selection.ts";

export type TellFollowers = FetchTurn["tell"];

/** For a fetch that is not shared. */
export const tellNobody: TellFollowers = () => undefined;

/** Whether the current view, or an unsafe request in this isolate (R15), says that what was fetched is not to be stored. */
export function isOutdated({ ports, isolate, resolved, arrival }: RequestContext, head: StoredHead): boolean {
  return (
    !isWorthStoring(ports.purges.check(head)) || isolate.collapsed.wasAbandonedSince(resolved.cacheKey, arrival.order)
  );
}

/**
 * Stores a response unless it is outdated. In that case only requests that arrived before the purge may receive it, and it
 * is not stored (R23). Resolves to true if it is stored.
 */
export function storeUnlessPurged(
  context: RequestContext,
  stored: StoredResponse,
  tellFollowers: TellFollowers,
): Promise<boolean> {
  const { reporter, clock, compression } = context.ports;
  if (isOutdated(context, stored.head)) {
    reporter.report({ kind: "fill-discarded", because: "purged" });
    const kept = Promise.resolve(false);
    tellFollowers({ kind: "storable", stored, kept });
    return kept;
  }
  const kept = storeResponse(context, stored);
  compression?.prepare(context, stored, kept);
  tellFollowers({ kind: "storable", stored, kept });
  return kept.then((isKept) => {
    const { selectingNames } = context.resolved.route;
    reporter.report({ kind: "fetched", ...pageOf(context), selectingNames, stored, at: clock.now() });
    return isKept;
  });
}
