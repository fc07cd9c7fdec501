import type { Answer } from "../../ports/answer.ts";
import { isWorthStoring } from "../../rules/freshness/judge.ts";
import type { ReceiptToken } from "../../rules/request/receipt-token.ts";
import { validatorsOf } from "../../rules/storing/stored-response.ts";
import { freshenByHead } from "../../rules/validation/freshen.ts";
import { passOn } from "../answering/pass-on.ts";
import { staleAnswer } from "../answering/stale-answer.ts";
import { collapse } from "../collapsing/collapse.ts";
import type { Miss } from "../miss.ts";
import type { RequestContext } from "../request-context.ts";
import { storeResponse } from "../selection.ts";
import { forgetOutdated, forgetWithdrawn, freshen } from "../storing/freshening.ts";
import { askOrigin, hasFailed } from "./ask-origin.ts";
import { cancelBody } from "./cancel-body.ts";

/** Fetches the page as a GET would, and answers with its head. */
export async function headByGet(
  context: RequestContext,
  miss: Miss,
  token: ReceiptToken | null,
  lookAgain: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const asGet = { ...context, facts: context.facts.forWholePage() };
  const answer = await collapse({ context: asGet, miss, token, lookAgain });
  context.background.run(cancelBody(answer.body)); // it is read for the store alone
  return { ...answer, body: null };
}

/**
 * Forwards a HEAD that no stored response answers. Its answer is not stored, but may freshen or invalidate a stored
 * response. RFC 9111 §4.3.5.
 */
export async function forwardHead(context: RequestContext, miss: Miss): Promise<Answer> {
  const { ports, background } = context;
  const result = await askOrigin(context, { storing: true });
  const answer = hasFailed(result) ? await staleAnswer(context, miss, result) : null;
  if (answer) return answer;
  if (result.kind !== "answered") return result.answer();
  const { response } = result;
  const stored = miss.selected;
  if (stored && !ports.origin.isCache && response.status === 200 && stored.head.status === 200) {
    const { fields, announcedBytes } = response;
    const effect = freshenByHead(
      { ...validatorsOf(stored.head), bodyBytes: stored.head.bodyBytes },
      {
        etag: fields.get("etag"),
        lastModified: fields.get("last-modified"),
        contentLength: announcedBytes === null ? null : String(announcedBytes),
      },
    );
    if (effect === "invalidate") forgetOutdated(context, stored);
    if (effect === "freshen") {
      const freshened = freshen(context, stored, response); // as if by a 304 (R2)
      if (freshened) forgetWithdrawn(context, freshened);
      if (freshened?.notStored === null && isWorthStoring(ports.purges.check(freshened.stored.head))) {
        background.run(storeResponse(context, freshened.stored));
      }
    }
  }
  return passOn(context, response, miss, undefined);
}
