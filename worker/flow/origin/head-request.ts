import { isWorthStoring } from "../../rules/freshness/judge.ts";
import { readStorageRequest } from "../../rules/request/request-facts.ts";
import { freshenedByHead } from "../../rules/validation/head-freshens.ts";
import { staleAnswer } from "../answering/stale-answer.ts";
import type { Miss, RequestContext } from "../request-context.ts";
import { storeSelected } from "../selection.ts";
import { appliesToEverybody, freshen, isWithdrawn, validatorsOf } from "../storing/freshening.ts";
import { askOrigin, contentLength, hasFailed, stream } from "./ask-origin.ts";

/**
 * A HEAD that nothing stored answers. Its answer is not stored, but it tells whether what is stored still holds.
 * RFC 9111 §4.3.5.
 */
export async function forwardHead(context: RequestContext, miss: Miss): Promise<Response> {
  const { ports, facts, request, site, background } = context;
  const storageRequest = readStorageRequest(facts, (name) => request.headers.get(name), site.ignoredCookies);
  const stamp = ports.purges.stamp(); // R2: a HEAD that freshens is a validation
  const fetchedAt = ports.clock.now();
  const asked = await askOrigin(context, { storing: true, cookie: storageRequest.cookie, conditions: [] });
  const stale = hasFailed(asked) ? await staleAnswer(context, miss, asked) : null;
  if (stale) return stale;
  if (asked.kind !== "answered") return asked.answer();
  const { response } = asked;
  const stored = miss.selected;
  if (stored && response.status === 200 && stored.head.status === 200) {
    const { headers } = response;
    const length = contentLength(response);
    const said = freshenedByHead(
      {
        ...validatorsOf(stored),
        bodyBytes: stored.head.bodyBytes,
      },
      {
        etag: headers.get("etag"),
        lastModified: headers.get("last-modified"),
        contentLength: length === null ? null : String(length),
      },
    );
    if (said === "invalidate" && appliesToEverybody(context, storageRequest, stored))
      background.run(ports.store.forget(stored.head.key));
    if (said === "freshen") {
      const freshened = freshen(context, storageRequest, [stored], { status: 304, fields: headers, stamp, fetchedAt });
      if (freshened && isWithdrawn(context, storageRequest, freshened))
        background.run(ports.store.forget(stored.head.key));
      if (freshened?.passBecause === null && isWorthStoring(ports.purges.check(freshened.stored.head, false))) {
        background.run(storeSelected(context, freshened.stored));
      }
    }
  }
  return stream(context, response, miss, undefined);
}
