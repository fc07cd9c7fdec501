import { isKeepable } from "../../rules/freshness/judge.ts";
import { readStoreAsk } from "../../rules/request/request-facts.ts";
import { freshenedByHead } from "../../rules/validation/head-freshens.ts";
import { staleAnswer } from "../answering/stale-answer.ts";
import type { Miss, Passage } from "../request-context.ts";
import { keepSelected } from "../selection.ts";
import { freshen, isWithdrawn, speaksForAll, validatorsOf } from "../storing/freshening.ts";
import { askOrigin, contentLength, hasFailed, stream } from "./ask-origin.ts";

/**
 * A HEAD that nothing stored answers. Its answer is not stored, but it tells whether what is stored still holds.
 * RFC 9111 §4.3.5.
 */
export async function headOfOrigin(passage: Passage, miss: Miss): Promise<Response> {
  const { ports, ask, request, site, behind } = passage;
  const storeAsk = readStoreAsk(ask, (name) => request.headers.get(name), site.ignoredCookies);
  const stamp = ports.purges.stamp(); // R2: a HEAD that freshens is a validation
  const fetchedAt = ports.clock.now();
  const asked = await askOrigin(passage, { storing: true, cookie: storeAsk.cookie, conditions: [] });
  const stale = hasFailed(asked) ? await staleAnswer(passage, miss, asked) : null;
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
    if (said === "invalidate" && speaksForAll(passage, storeAsk, stored))
      behind.run(ports.store.forget(stored.head.key));
    if (said === "freshen") {
      const freshened = freshen(passage, storeAsk, [stored], { status: 304, fields: headers, stamp, fetchedAt });
      if (freshened && isWithdrawn(passage, storeAsk, freshened)) behind.run(ports.store.forget(stored.head.key));
      if (freshened?.passBecause === null && isKeepable(ports.purges.check(freshened.stored.head, false))) {
        behind.run(keepSelected(passage, freshened.stored));
      }
    }
  }
  return stream(passage, response, miss, undefined);
}
