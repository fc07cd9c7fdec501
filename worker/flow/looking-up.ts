import { cancelBody } from "../ports/cancel-body.ts";
import type { FoundResponse } from "../ports/store.ts";
import type { ReceiptToken } from "../rules/request/receipt-token.ts";
import type { StoredResponse } from "../rules/storing/stored-response.ts";
import { judgeAtOnce, judgeNow, mayAnswer, renewUnlessUsable } from "./judging.ts";
import type { UnusableResponse, UsableVerdict } from "./miss.ts";
import { isInMemory, readFound } from "./reading-bodies.ts";
import type { RequestContext } from "./request-context.ts";
import { selectInMemory, selectInSharedTier } from "./selection.ts";

/** What the store has for a request. `found` is the response of the shared tier. */
export type Look = Answering | None;

/** The response that answers. The body of one from the shared tier may not have been read. */
interface Answering {
  readonly kind: "answers";
  readonly stored: FoundResponse;
  readonly verdict: UsableVerdict;
  readonly found: FoundResponse | undefined;
}

/** The responses that may not answer. `token`: the receipt's token that the answer still has to honour. */
interface None {
  readonly kind: "none";
  readonly unusable: readonly UnusableResponse[];
  readonly token: ReceiptToken | null;
  readonly found: FoundResponse | undefined;
}

/** The body of a larger response that may not answer is left unread: as many requests may wait as there are visitors. */
const MAX_READ_BYTES = 64 * 1024;

/**
 * Looks beyond memory: asks the shared tier and, if the lease is over, renews the view at the same time. Chooses when both
 * are done (R4): at once if there is nothing to wait for. `remembered`: the response that the request selects in memory
 * `now`.
 */
export function lookFurther(
  context: RequestContext,
  remembered: StoredResponse | undefined,
  now: number,
): Look | Promise<Look> {
  const { ports, facts, background } = context;
  const { purges } = ports;
  const token = facts.receiptToken;
  const isUsable = purges.isUsable(now, token);
  const renewal = isUsable ? token : purges.renew(background, token);
  if (isUsable && purges.isDue(now)) background.run(purges.renew(background, null));
  const finding = selectInSharedTier(context);
  if (isUsable && !finding) return choose(context, remembered, undefined, token);
  return chooseWhenDone(context, finding, isUsable, renewal);
}

async function chooseWhenDone(
  context: RequestContext,
  finding: Promise<FoundResponse | undefined> | undefined,
  isUsable: boolean,
  renewal: Promise<ReceiptToken | null> | ReceiptToken | null,
): Promise<Look> {
  const { background } = context;
  const found = await finding;
  if (!isUsable) {
    const look = chooseBeforeRenewal(context, found);
    if (look) {
      background.run(Promise.resolve(renewal));
      return look;
    }
  }
  const token = await renewUnlessUsable(context, await renewal);
  const look = choose(context, selectInMemory(context), found, token);
  if (!found || isInMemory(found) || look.kind === "answers") return look;
  if (found.head.bodyBytes > MAX_READ_BYTES) {
    background.run(cancelBody(found.body));
    return look;
  }
  const stored = await readFound(context, found);
  // While the body was read, a fetch shared with others may have brought a usable response.
  return choose(context, selectInMemory(context), stored, token);
}

/** Chooses by the current time and view among the response in memory and the one of the shared tier. */
function choose(
  context: RequestContext,
  remembered: StoredResponse | undefined,
  found: FoundResponse | undefined,
  token: ReceiptToken | null,
): Look {
  const { clock } = context.ports;
  const unusable: UnusableResponse[] = [];
  for (const stored of candidates(remembered, found)) {
    const verdict = judgeNow(context, stored.head, token, clock.now());
    if (mayAnswer(verdict)) return answering(context, stored, found, verdict);
    unusable.push({ stored, verdict });
  }
  return { kind: "none", unusable, token, found };
}

/**
 * The choice that need not wait for the renewal of the view: the route may allow an older view to decide, and a fetch
 * that begins now needs only the view that is held (R1). `undefined` if the request has to wait for the newer view.
 */
function chooseBeforeRenewal(context: RequestContext, found: FoundResponse | undefined): Look | undefined {
  const { purges, clock } = context.ports;
  if (context.facts.receiptToken !== null) return undefined;
  const remembered = selectInMemory(context);
  if (!remembered && !found && purges.stamp() !== null) return { kind: "none", unusable: [], token: null, found };
  const now = clock.now();
  for (const stored of candidates(remembered, found)) {
    const verdict = judgeAtOnce(context, stored.head, now);
    if (verdict) return answering(context, stored, found, verdict);
  }
  return undefined;
}

/**
 * The stored responses that may answer: the one in memory, where a fetch shared with others may have put it in the
 * meantime, and the one in the shared tier.
 */
function candidates(remembered: StoredResponse | undefined, found: FoundResponse | undefined): FoundResponse[] {
  return [remembered, found].filter((stored) => stored !== undefined);
}

/** Memory takes the chosen response if the shared tier gave it whole. Nobody reads the body of one that is passed over. */
function answering(
  { ports, background }: RequestContext,
  stored: FoundResponse,
  found: FoundResponse | undefined,
  verdict: UsableVerdict,
): Answering {
  if (found && stored !== found) background.run(cancelBody(found.body));
  else if (found && isInMemory(found)) ports.store.remember(found);
  return { kind: "answers", stored, verdict, found };
}
