import type { FoundResponse } from "../ports/store.ts";
import type { ReceiptToken } from "../rules/request/receipt-token.ts";
import type { StoredResponse } from "../rules/storing/stored-response.ts";
import { judgeBy, judgeNow, maxViewAgeMs, mayAnswer } from "./judging.ts";
import type { UnusableVerdict, UsableVerdict } from "./miss.ts";
import type { RequestContext } from "./request-context.ts";
import { selectInMemory, selectInSharedTier } from "./selection.ts";

/** The stored response that answers or, if there is none, those that may not. */
export type Choice<T extends FoundResponse = FoundResponse> =
  | { readonly kind: "answers"; readonly stored: StoredResponse | T; readonly verdict: UsableVerdict }
  | {
      readonly kind: "none";
      readonly unusable: readonly { readonly stored: StoredResponse | T; readonly verdict: UnusableVerdict }[];
    };

const NOTHING = { kind: "none", unusable: [] } as const satisfies Choice;

/** The verdict on a response in memory, if the view may be used now and the response may answer. */
export function judgeInMemory(
  context: RequestContext,
  remembered: StoredResponse,
  now: number,
): UsableVerdict | undefined {
  const { purges } = context.ports;
  const token = context.facts.receiptToken;
  const isUsable = purges.isUsable(now, token, maxViewAgeMs(context, remembered.head));
  if (!isUsable) return undefined;
  const verdict = judgeBy(context, remembered.head, purges.check(remembered.head, isUsable), token, now);
  return mayAnswer(verdict) ? verdict : undefined;
}

/** The result of looking beyond memory. */
export interface FurtherLook {
  /** The response of the shared tier. Its body has not been read. */
  readonly found: FoundResponse | undefined;
  readonly choice: Choice;
  /** The receipt's token that the answer still has to honour. */
  readonly token: ReceiptToken | null;
}

/**
 * Asks the shared tier and, if the lease is over, renews the view at the same time. Judges when both are done (R4): at
 * once if there is nothing to wait for. `remembered`: the response that the request selects in memory `now`.
 */
export function lookInSharedTier(
  context: RequestContext,
  remembered: StoredResponse | undefined,
  now: number,
): FurtherLook | Promise<FurtherLook> {
  const { ports, facts, background } = context;
  const { purges } = ports;
  const sent = facts.receiptToken;
  const isUsable = purges.isUsable(now, sent);
  const renewal = isUsable ? sent : purges.renew(background, sent);
  if (isUsable && purges.isDue(now)) background.run(purges.renew(background, null));
  const looked = selectInSharedTier(context);
  if (isUsable && !looked) {
    return { found: undefined, choice: choose(context, remembered, undefined, sent), token: sent };
  }
  return judgeWhenDone(context, looked, isUsable, renewal);
}

async function judgeWhenDone(
  context: RequestContext,
  looked: Promise<FoundResponse | undefined> | undefined,
  isUsable: boolean,
  renewal: Promise<ReceiptToken | null> | ReceiptToken | null,
): Promise<FurtherLook> {
  const { ports, background } = context;
  const { purges, clock } = ports;
  const found = await looked;
  const early = isUsable ? undefined : chooseBeforeRenewal(context, found);
  if (early) {
    background.run(Promise.resolve(renewal));
    return { found, choice: early, token: null };
  }
  let token = await renewal;
  if (!purges.isUsable(clock.now(), token)) token = await purges.renew(background, token);
  return { found, choice: choose(context, selectInMemory(context), found, token), token };
}

/** Chooses by the current time and view among the response in memory and the one of the shared tier. */
export function choose<T extends FoundResponse>(
  context: RequestContext,
  remembered: StoredResponse | undefined,
  found: T | undefined,
  token: ReceiptToken | null,
): Choice<T> {
  if (!remembered && !found) return NOTHING;
  const { clock } = context.ports;
  const unusable: { stored: StoredResponse | T; verdict: UnusableVerdict }[] = [];
  for (const stored of candidates(remembered, found)) {
    const verdict = judgeNow(context, stored.head, token, clock.now());
    if (mayAnswer(verdict)) return { kind: "answers", stored, verdict };
    unusable.push({ stored, verdict });
  }
  return { kind: "none", unusable };
}

/**
 * The choice that need not wait for the renewal of the view: the route may allow an older view to decide, and a fetch
 * that begins now needs only the view that is held (R1). `undefined` if the request has to wait for the newer view.
 */
function chooseBeforeRenewal(context: RequestContext, found: FoundResponse | undefined): Choice | undefined {
  const { purges, clock } = context.ports;
  if (context.facts.receiptToken !== null) return undefined;
  const stored = candidates(selectInMemory(context), found);
  if (stored.length === 0 && purges.stamp() !== null) return NOTHING;
  const now = clock.now();
  for (const each of stored) {
    if (!purges.isUsable(now, null, maxViewAgeMs(context, each.head))) continue;
    const verdict = judgeNow(context, each.head, null, now);
    if (mayAnswer(verdict)) return { kind: "answers", stored: each, verdict };
  }
  return undefined;
}

/**
 * The stored responses that may answer: the one in memory, where a fetch shared with others may have put it in the
 * meantime, and the one in the shared tier.
 */
function candidates<T extends FoundResponse>(
  remembered: StoredResponse | undefined,
  found: T | undefined,
): (StoredResponse | T)[] {
  return [remembered, found].filter((stored) => stored !== undefined);
}
