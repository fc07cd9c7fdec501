import { judge, type PurgeAnswer, type Verdict } from "../rules/freshness/judge.ts";
import type { ReceiptToken } from "../rules/request/receipt-token.ts";
import type { StoredHead } from "../rules/storing/stored-response.ts";
import type { UsableVerdict } from "./miss.ts";
import type { RequestContext } from "./request-context.ts";
import { selectInMemory } from "./selection.ts";

/** Judges a stored response by the current time and view, whether or not the view is usable. */
export function judgeNow(context: RequestContext, head: StoredHead, token: ReceiptToken | null, now: number): Verdict {
  const { purges } = context.ports;
  const maxViewAgeMs = maxViewAgeOf(context, head);
  const isUsable = purges.isUsable(now, token, maxViewAgeMs);
  return judgeBy(context, head, purges.check(head, isUsable), maxViewAgeMs, token, now);
}

/** The verdict on a stored response, if the view may be used now and the response may answer. */
export function judgeAtOnce(context: RequestContext, head: StoredHead, now: number): UsableVerdict | undefined {
  const { ports, facts } = context;
  const { purges } = ports;
  const token = facts.receiptToken;
  const maxViewAgeMs = maxViewAgeOf(context, head);
  const isUsable = purges.isUsable(now, token, maxViewAgeMs);
  if (!isUsable) return undefined;
  const verdict = judgeBy(context, head, purges.check(head, isUsable), maxViewAgeMs, token, now);
  return mayAnswer(verdict) ? verdict : undefined;
}

/** Judges a response once more after a wait, in which it may have been purged and the lease have ended (R4). */
export async function judgeAfterWait(context: RequestContext, head: StoredHead): Promise<Verdict> {
  const token = await renewUnlessUsable(context, context.facts.receiptToken, maxViewAgeOf(context, head));
  return judgeNow(context, head, token, context.ports.clock.now());
}

/** Renews the view unless it may be used now. Resolves to the token that it has yet to reach. */
export async function renewUnlessUsable(
  { ports, background }: RequestContext,
  token: ReceiptToken | null,
  maxViewAgeMs = 0,
): Promise<ReceiptToken | null> {
  const { purges, clock } = ports;
  return purges.isUsable(clock.now(), token, maxViewAgeMs) ? token : purges.renew(background, token);
}

function judgeBy(
  { ports, facts, resolved }: RequestContext,
  head: StoredHead,
  answer: PurgeAnswer,
  maxViewAgeMs: number,
  token: ReceiptToken | null,
  now: number,
): Verdict {
  const { purges } = ports;
  const madeStaleAt = answer === "soft" ? purges.madeStaleAt(head) : null;
  const unknownForMs = purges.unknownForMs(now, maxViewAgeMs);
  return judge(
    head,
    facts,
    { answer, maxViewAgeMs: unknownForMs, awaitsToken: token !== null, madeStaleAt },
    resolved.route.stale,
    now,
  );
}

/** The oldest view, in milliseconds, that may judge this response, if its route allows more than the lease (R6). */
function maxViewAgeOf(context: RequestContext, { reuse }: StoredHead): number {
  const { maxViewAgeMs, maxViewAgeImmutableMs } = context.resolved.route.purge;
  return reuse.immutable ? maxViewAgeImmutableMs : maxViewAgeMs;
}

export function mayAnswer(verdict: Verdict): verdict is UsableVerdict {
  return verdict.kind === "fresh" || verdict.kind === "stale-usable";
}

/**
 * Whether this visitor must ask the origin itself, because the response always needs validation, and the origin may have
 * another one for its cookies. RFC 9111 §5.2.2.4. `given`: the response. Default: the one that memory holds.
 */
export function mustAskForItself(context: RequestContext, given?: { readonly head: StoredHead }): boolean {
  if (context.facts.identity === "anonymous") return false;
  const head = (given ?? selectInMemory(context))?.head;
  return head !== undefined && (head.reuse.validateAlways || head.freshnessSeconds <= 0);
}
