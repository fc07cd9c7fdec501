import { judge, type PurgeAnswer, type Verdict } from "../rules/freshness/judge.ts";
import type { ReceiptToken } from "../rules/request/receipt-token.ts";
import type { StoredHead } from "../rules/storing/stored-response.ts";
import type { UsableVerdict } from "./miss.ts";
import type { RequestContext } from "./request-context.ts";

/** Judges a stored response by the current time and view, whether or not the view is usable. */
export function judgeNow(
  context: RequestContext,
  stored: StoredHead,
  token: ReceiptToken | null,
  now: number,
): Verdict {
  const { purges } = context.ports;
  const isUsable = purges.isUsable(now, token, maxViewAgeMs(context, stored));
  return judgeBy(context, stored, purges.check(stored, isUsable), token, now);
}

/** Judges a stored response by the answer that a view has given for it. */
export function judgeBy(
  context: RequestContext,
  stored: StoredHead,
  answer: PurgeAnswer,
  token: ReceiptToken | null,
  now: number,
): Verdict {
  const { ports, facts, isolate, resolved } = context;
  const { purges } = ports;
  const soft = answer === "soft" ? { seenAt: purges.madeStaleAt(stored), forMs: isolate.site.purge.softForMs } : null;
  const maxAgeMs = purges.unknownForMs(now, maxViewAgeMs(context, stored));
  return judge(
    stored,
    facts,
    { answer, maxViewAgeMs: maxAgeMs, awaitsToken: token !== null, soft },
    resolved.route.stale,
    now,
  );
}

/** The oldest view, in milliseconds, that may judge this response, if its route allows more than the lease (R6). */
export function maxViewAgeMs({ resolved }: RequestContext, { reuse }: StoredHead): number {
  const { maxViewAgeMs, maxViewAgeImmutableMs } = resolved.route.purge;
  return reuse.immutable ? maxViewAgeImmutableMs : maxViewAgeMs;
}

export function mayAnswer(verdict: Verdict): verdict is UsableVerdict {
  return verdict.kind === "fresh" || verdict.kind === "stale-usable";
}
