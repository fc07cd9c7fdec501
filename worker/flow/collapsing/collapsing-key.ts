import { type Identity, mayJoinFetchesOf } from "../../rules/identity/identity.ts";
import { variantKey } from "../../rules/key/cache-key.ts";
import { variantOf } from "../../rules/variants/vary.ts";
import type { RequestContext } from "../request-context.ts";
import { selectingNames } from "../selection.ts";
import type { SharedFetch } from "./collapsed-fetches.ts";

/** The keys under which a request looks for a fetch to join, and under which others may join its own fetch. */
export interface CollapsingKeys {
  readonly own: string;
  /** The fetch under way that the request may wait for. */
  readonly leader: SharedFetch | undefined;
}

/** The keys of a request without credentials. It may only join a fetch whose answer the store would also give to it. */
export function collapsingKeys(context: RequestContext): CollapsingKeys {
  const { collapsed, facts } = context;
  const key = variantToBe(context);
  const own = keyOf(facts.identity, key);
  for (const identity of mayJoinFetchesOf(facts.identity)) {
    const leader = collapsed.find(keyOf(identity, key));
    if (leader) return { own, leader };
  }
  return { own, leader: undefined };
}

function keyOf(identity: Identity, key: string): string {
  return identity === "anonymous" ? key : `${key} ${identity}`;
}

/** The key of the variant that will be stored, as far as the selecting fields are known. */
function variantToBe(context: RequestContext): string {
  return variantKey(context.resolved.cacheKey, variantOf(selectingNames(context), context.facts.originView));
}
