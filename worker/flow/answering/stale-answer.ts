import { isMadeStale, type PurgeAnswer } from "../../rules/freshness/judge.ts";
import { mayServeOnError } from "../../rules/freshness/stale-if-error.ts";
import { forwarded, type OriginResult } from "../origin/ask-origin.ts";
import { cancelBody } from "../origin/cancel-body.ts";
import type { Miss, RequestContext } from "../request-context.ts";
import { answerFromStore } from "./answer-from-store.ts";
import { answerMetadata } from "./answer-metadata.ts";

/**
 * What is stored, in place of an origin that failed; `null` if nothing may stand in. RFC 5861 §4. The view is brought up
 * first: the origin may have been waited for longer than a lease, and what was purged meanwhile is not to be shown (R18).
 * `asked` is how the origin failed; `null` where another request found that out.
 */
export async function staleAnswer(
  context: RequestContext,
  miss: Miss,
  asked: OriginResult | null,
): Promise<Response | null> {
  const { ports, facts, background, target } = context;
  const stored = miss.selected;
  if (!stored) return null;
  const { purges, clock } = ports;
  if (!purges.isUsable(clock.now(), null)) await purges.renew(background, null);
  const now = clock.now();
  const mayServe = (answer: PurgeAnswer) => {
    const madeStaleAt = isMadeStale(answer) ? purges.madeStaleAt(stored.head) : null;
    return mayServeOnError(stored.head, facts, answer, target.route.stale, now, madeStaleAt);
  };
  const usable = purges.isUsable(now, null);
  if (!mayServe(purges.check(stored.head, usable))) return null;
  if (!usable && !mayServe("unknown")) return null; // beside what is known, worse may have come
  const status = asked?.kind === "answered" ? asked.response.status : undefined;
  const because = "stale-if-error";
  const outcome = forwarded(miss, { ...(status && { status }), stored: false, collapsed: asked === null, because });
  const served = await answerFromStore(context, stored, answerMetadata(context, stored, "STALE", outcome));
  if (!served) return null;
  if (asked?.kind === "answered") background.run(cancelBody(asked.response.body));
  ports.reporter.report({ kind: "answered", xCache: "STALE" });
  return served;
}
