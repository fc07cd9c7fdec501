import type { BeingStored, SharedFetchOutcome } from "../../ports.ts";
import { isWorthStoring } from "../../rules/freshness/judge.ts";
import type { StoredResponse } from "../../rules/storing/stored-response.ts";
import type { RequestContext } from "../request-context.ts";
import { storeResponse } from "../selection.ts";

export type TellFollowers = (news: SharedFetchOutcome | BeingStored) => void;

/**
 * Stores a response unless the current view says that it is purged. In that case only requests that arrived before the
 * purge may receive it, and it is not stored (R23).
 */
export async function storeUnlessPurged(
  context: RequestContext,
  stored: StoredResponse,
  tellFollowers: TellFollowers,
): Promise<void> {
  const { purges, reporter, clock } = context.ports;
  const { cacheKey: url, route } = context.resolved;
  const isPurged = !isWorthStoring(purges.check(stored.head));
  if (isPurged) reporter.report({ kind: "fill-discarded", because: "purged" });
  const stores = isPurged ? Promise.resolve() : storeResponse(context, stored);
  if (!isPurged) context.ports.compression?.prepare(context, stored, stores);
  tellFollowers({ kind: "storable", stored, kept: stores });
  await stores;
  if (!isPurged) reporter.report({ kind: "fetched", route: route.pattern, url, stored, at: clock.now() });
}
