import type { FoundResponse } from "../../ports/store.ts";
import { readFound } from "../found-response.ts";
import { judgeNow } from "../judging.ts";
import { cancelBody } from "../origin/cancel-body.ts";
import type { RequestContext } from "../request-context.ts";
import { selectInSharedTier } from "../selection.ts";

/**
 * Takes into memory what another isolate has stored in place of a stale response. Returns whether there is a fresh one.
 */
export async function takeFromElsewhere(context: RequestContext, stale: FoundResponse): Promise<boolean> {
  const { ports, background } = context;
  const found = await selectInSharedTier(context);
  if (!found) return false;
  const isFresh = judgeNow(context, found.head, null, ports.clock.now()).kind === "fresh";
  if (found.head.fetchedAt <= stale.head.fetchedAt || !isFresh) {
    background.run(cancelBody(found.body));
    return false;
  }
  const read = await readFound(context, found);
  if (read) ports.store.remember(read);
  return read !== undefined;
}
