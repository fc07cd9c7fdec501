import type { FetchKey } from "../../rules/key/fetch-key.ts";
import { oddField } from "../../rules/request/unkeyed-field.ts";
import { variantOf } from "../../rules/variants/vary.ts";
import { mustAskForItself } from "../judging.ts";
import { clientOf, isLoop, type RequestContext } from "../request-context.ts";
import { selectInMemory, selectingNames } from "../selection.ts";
import { DEAD_AFTER_MS } from "../storing/large-fills.ts";
import type { Begun } from "./collapsed-fetches.ts";

/** What a fetch for this request is for, whichever odd field the request has. */
export function fetchKeyOf(context: RequestContext): FetchKey {
  const { resolved, facts } = context;
  return {
    page: resolved.cacheKey,
    variant: variantOf(selectingNames(context), facts.originView),
    audience: facts.identity,
  };
}

/** The key under which others may join the fetch of this request. */
export function sharedKeyOf(context: RequestContext): FetchKey {
  const field = oddField(context.facts.fields, selectingNames(context), context.resolved.route);
  return { ...fetchKeyOf(context), ...(field !== null && { field }) };
}

/**
 * Begins a fetch for a request without credentials: it leads, follows, or goes alone where waiting is pointless. `mayJoin`:
 * whether it may wait for other isolates. A request that goes first in the queue for the origin does not, because the
 * place of a fetch elsewhere is not known.
 */
export function beginFetch(context: RequestContext, mayJoin = true): Begun {
  const { collapsed, originGate } = context.isolate;
  const joins = mayJoin && !originGate?.goesFirst(context.resolved.route.pattern, clientOf(context));
  const key = sharedKeyOf(context);
  const waitsInVain = isHitForMiss(context, key) || mustAskForItself(context);
  // A stream of events does not end, and its place at the origin may be another one than that of a page. A loop would wait
  // for itself.
  if (context.facts.asksForStream || waitsInVain || isLoop(context)) return { kind: "alone" };
  const fetch = collapsed.find(key);
  if (fetch && (joins || !fetch.isElsewhere)) return { kind: "follow", fetch };
  return collapsed.begin(key, joins);
}

/**
 * Whether the last answer for this key could not be stored. Another isolate, or the request of another visitor, may have
 * stored one since.
 */
export function isHitForMiss(context: RequestContext, key: FetchKey): boolean {
  const unstoredAt = context.isolate.collapsed.unstoredAt(key);
  if (unstoredAt === Number.NEGATIVE_INFINITY) return false;
  const held = selectInMemory(context);
  return !held || held.head.fetchedAt <= unstoredAt;
}

/**
 * Begins the one refresh of a page behind its answers; `null` if its fetch is under way, or if one for such visitors
 * has just failed or brought nothing to store. It follows another isolate's. On Workers a fetch behind an answer may
 * have died with its request.
 */
export function beginRefresh(context: RequestContext): Begun | null {
  const { collapsed } = context.isolate;
  const shared = sharedKeyOf(context);
  // One for all odd fields: anybody can invent names, and all get their answers without it.
  const key = shared.field === undefined ? shared : { ...shared, field: "*" };
  const fetch = collapsed.find(key);
  if (fetch) {
    if (context.ports.clock.now() - (fetch.begunAt ?? Infinity) <= DEAD_AFTER_MS) return null;
    collapsed.abandon(fetch);
  }
  return collapsed.refreshesInVain(key) ? null : collapsed.begin(key, true);
}
