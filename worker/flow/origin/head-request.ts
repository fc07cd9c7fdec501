import type { Answer } from "../../ports/answer.ts";
import { isWorthStoring } from "../../rules/freshness/judge.ts";
import { validatorsOf } from "../../rules/storing/stored-response.ts";
import { freshenByHead } from "../../rules/validation/freshen.ts";
import { passOn } from "../answering/pass-on.ts";
import { staleAnswer } from "../answering/stale-answer.ts";
import type { Miss } from "../miss.ts";
import type { RequestContext } from "../request-context.ts";
import { storeResponse } from "../selection.ts";
import { forgetOutdated, forgetWithdrawn, freshen } from "../storing/freshening.ts";
import { askOrigin, hasFailed } from "./ask-origin.ts";

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
