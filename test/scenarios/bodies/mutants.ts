import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of framing and of large bodies. */
export const mutants: Mutants = {
  R19: {
    "a large page is not refreshed for five seconds after it was stored": {
      in: "copyBeside",
      drop: "isolate.collapsed.forgetHitForMiss(fetchKeyOf(context));",
      foundBy: "bodies/large-refreshed-at-once",
    },
  },
  "docs/protocol.md#promise-4-whole-and-unchanged-or-not-at-all": {
    "the bytes before a cut are stored as the whole body": {
      in: "pump",
      replace: 'drop("cut-off");',
      by: 'tell({ kind: "whole", bytes: joined(chunks, readBytes) });',
      foundBy: "bodies/cut-off",
    },
    "the chunks before a cut are stored as the whole body": {
      in: "pump",
      replace: 'drop("cut-off");',
      by: 'lengthBytes === null ? tell({ kind: "whole", bytes: joined(chunks, readBytes) }) : drop("cut-off");',
      foundBy: "bodies/chunked-cut-off",
    },
    "the client gets a clean end where the body was cut off": {
      in: "pump",
      replace: "await client.abort(cause);",
      by: "await client.close();",
      foundBy: "bodies/cut-off",
    },
  },
  "docs/http.md#bodies-and-ranges": {
    "a body that outgrows the limit is stored": {
      in: "pump",
      replace: "readBytes > maxBytes",
      by: "false",
      foundBy: "bodies/over-the-limit",
    },
    "a body exactly as large as the limit is not stored": {
      in: "pump",
      replace: "readBytes > maxBytes",
      by: "readBytes >= maxBytes",
      foundBy: "bodies/over-the-limit",
    },
    "a body over storeBytes is passed on": {
      in: "mayStore",
      replace: "lengthBytes > rules.maxLargeBodyBytes",
      by: "lengthBytes > rules.maxBodyBytes",
      foundBy: "bodies/stored-in-two-steps",
    },
    "other requests for the page wait until a large body is stored": {
      in: "copyBeside",
      drop: 'tellFollowers({ kind: early ? "look-again" : "not-shareable" });',
      foundBy: "bodies/while-being-stored",
    },
    "every one of several simultaneous requests stores a large body": {
      in: "LargeFills.begin",
      drop: "if (this.#fills.get(key)?.isOutdated() === false) return null;",
      foundBy: "bodies/while-being-stored",
    },
    "a fill that a purge has reached keeps the next version from being stored": {
      in: "LargeFills.begin",
      replace: "this.#fills.get(key)?.isOutdated() === false",
      by: "this.#fills.has(key)",
      foundBy: "bodies/fill-after-purge",
    },
    "a request that is passed on beside a fill is not told the reason": {
      in: "answerFetched",
      replace: 'pass({ because: "being-stored" })',
      by: "passOn(context, response, miss, undefined)",
      foundBy: "bodies/while-being-stored",
    },
    "a fill that has stalled keeps its page from being stored": {
      in: "LargeFills.begin",
      replace: "now - fill.lastChunkAt > DEAD_AFTER_MS",
      by: "false",
      foundBy: "bodies/stalled-fill",
    },
    "a fill counts as stalled a millisecond too early": {
      in: "LargeFills.begin",
      replace: "now - fill.lastChunkAt > DEAD_AFTER_MS",
      by: "now - fill.lastChunkAt >= DEAD_AFTER_MS",
      foundBy: "bodies/stalled-fill",
    },
    "a body that announces too many bytes is reported as stored": {
      in: "mayStore",
      replace: "{ field, status, lengthBytes } = response",
      by: "{ field, status } = response; const lengthBytes = null as number | null",
      foundBy: "bodies/over-the-limit",
    },
    "an answer that is not stored is reported as stored": {
      in: "passOn",
      replace: "stored: false, collapsed: false, because",
      by: "stored: true, collapsed: false",
      foundBy: "bodies/over-the-limit",
    },
  },
  "docs/http.md#limits": {
    "a body exactly as large as storeBytes is stored apart": {
      in: "mayStore",
      replace: "lengthBytes > rules.maxBodyBytes",
      by: "lengthBytes >= rules.maxBodyBytes",
      foundBy: "bodies/limits-by-size",
    },
    "a body exactly as large as largeBytes is not stored": {
      in: "mayStore",
      replace: "lengthBytes > rules.maxLargeBodyBytes",
      by: "lengthBytes >= rules.maxLargeBodyBytes",
      foundBy: "bodies/limits-by-size",
    },
    "a body larger than largeBytes is stored": {
      in: "mayStore",
      replace: "lengthBytes !== null && lengthBytes > rules.maxLargeBodyBytes",
      by: "false",
      foundBy: "bodies/limits-by-size",
    },
  },
  R1: {
    "a fill that has ended keeps the next from beginning": {
      in: "copyLargeBody",
      replace: "copied.finally(() => largeFills.end(fill))",
      by: "copied",
      foundBy: "bodies/large-cut-off",
    },
    "a large body that was purged before it arrived is stored": {
      in: "copyBeside",
      replace: "storeUnlessPurged(context, stored, tellNobody)",
      by: 'storeUnlessPurged({ ...context, ports: { ...ports, purges: { check: () => "not-purged" } } } as never, stored, tellNobody)',
      foundBy: "bodies/purge-during-fill",
    },
    "a large body is stamped with the view that is held when it ends": {
      in: "copyBeside",
      replace: "{ ...head, bodyKey }",
      by: "{ ...head, bodyKey, stamp: ports.purges.stamp() }",
      foundBy: "bodies/purge-during-fill",
    },
  },
  "RFC 9112 §8": {
    "the bytes before a cut are stored as the whole large body": {
      in: "copyBeside",
      replace: "await Promise.all([isBehind || client.abort(cause), copy.abort(cause)]); return false;",
      by: "await client.abort(cause);",
      foundBy: "bodies/large-cut-off",
    },
    "the client gets a clean end where a large body was cut off": {
      in: "copyBeside",
      replace: "client.abort(cause), copy.abort(cause)",
      by: "client.close(), copy.abort(cause)",
      foundBy: "bodies/large-cut-off",
    },
    "a large body that was cut off is not counted": {
      in: "copyBeside",
      drop: 'reportNotStored(context, { because: "cut-off" });',
      foundBy: "bodies/large-cut-off",
    },
  },
  "RFC 9110 §14.2": {
    "a part is cut from a large body that is read whole": {
      in: "partsStoredApart",
      replace: "store.readBody(bodyKey, first && { first: first.first, last: parts.at(-1)!.last, hasGaps });",
      by: `(async () => {
  const whole = await store.readBody(bodyKey, null);
  if (!whole || !first) return whole;
  const bytes = new Uint8Array(await new Response(whole).arrayBuffer());
  return new Response(bytes.slice(first.first, parts.at(-1)!.last + 1)).body!;
})();`,
      foundBy: "bodies/only-requested-bytes",
    },
    "a HEAD reads a body that is stored apart": {
      in: "answerInForm",
      replace: "return headAlone(context, form, fields);",
      by: `{
  if (!head.bodyKey) return headAlone(context, form, fields);
  return context.ports.store.readBody(head.bodyKey, null).then((body) => body && headAlone(context, form, fields) || null);
}`,
      foundBy: "bodies/only-requested-bytes",
    },
    "a part of a large body lacks its last byte": {
      in: "answerWithParts",
      replace: "streamed(context, found, parts, only.last - only.first + 1, 206, partFields, isHit)",
      by: "streamed(context, found, [{ first: only.first, last: only.last - 1 }], only.last - only.first, 206, partFields, isHit)",
      foundBy: "bodies/parts-of-large-body",
    },
    "several parts of a large body are cut as if it were read from its beginning": {
      in: "partsStoredApart",
      replace: "first!.first",
      by: "0",
      foundBy: "bodies/only-requested-bytes",
    },
  },
  "RFC 9110 §13.1.5": {
    "a part of a large body is sent whatever If-Range says": {
      in: "holdsThisForm",
      replace: 'rangeStillHolds(facts.field("if-range"), strong, ports.clock.now())',
      by: "true",
      foundBy: "bodies/if-range-of-large-body",
    },
  },
  "docs/protocol.md#promise-6-failures-fall-back-to-the-origin": {
    "an evicted body is not given as the reason": {
      in: "BODY_GONE",
      replace: 'because: "body-gone"',
      by: 'because: "nothing"',
      foundBy: "bodies/evicted-is-miss",
    },
    "a page whose body has been evicted is an error": {
      in: "hit",
      replace: "if (!streamed) return fetchFromOrigin(context, BODY_GONE, context.facts.receiptToken);",
      by: 'if (!streamed) return answerOurselves(context, 502, "body-gone", "The body is gone.");',
      foundBy: "bodies/evicted-is-miss",
    },
  },
  "RFC 5861 §4": {
    "a page without its body replaces a failed origin's answer": {
      in: "staleAnswer",
      replace: "if (!answer) return null;",
      by: "if (!answer) return new Response(null, { status: 200 });",
      foundBy: "bodies/evicted-and-stale-if-error",
    },
  },
  "RFC 9111 §4.3.4": {
    "a page that a 304 freshened loses the place of its body": {
      in: "freshen",
      replace: "givenPurgeKeys, bodyBytes, bodyKey }",
      by: "givenPurgeKeys, bodyBytes, bodyKey: null }",
      foundBy: "bodies/kept-by-304",
    },
  },
  "RFC 9111 §4.3.3": {
    "the origin is asked again to confirm a body that is gone": {
      in: "answerFreshened",
      replace: "{ ...miss, toValidate: null }, tellNobody",
      by: "miss, () => undefined",
      foundBy: "bodies/304-for-evicted-body",
    },
  },
  "docs/http.md#what-clients-see": {
    "browserTtl does not apply to the first answer": {
      in: "answerWhileStoring",
      drop: "setBrowserLifetime(fields, resolved.route.browserTtlSeconds, Math.floor(head.initialAgeMs / 1000), head);",
      foundBy: "bodies/browser-ttl",
    },
  },
  "RFC 9111 §4.3.2": {
    "a client that holds the page is sent the whole of it, because it was not stored": {
      in: "answerWhileStoring",
      replace: "response.status === 200 && isHeldByClient(context, head)",
      by: "false",
      foundBy: "bodies/client-304-while-storing",
    },
  },
  "RFC 5861 §3": {
    "a client that goes away ends the fill of a large body": {
      in: "copyBeside",
      replace: "(isBehind || client.isGone) && copy.isGone",
      by: "client.isGone",
      foundBy: "bodies/large-stale-while-revalidate",
    },
  },
  "RFC 9111 §4.1": {
    "a large body is kept under the page's key, whichever variant it is": {
      in: "copyBeside",
      replace: "await storeUnlessPurged(context, stored, tellNobody)",
      by: "await ports.store.keep({ ...stored, head: { ...stored.head, key: context.resolved.cacheKey } }).then(() => true)",
      foundBy: "bodies/variants-with-large-bodies",
    },
  },
  "RFC 9112 §6.3": {
    "a body whose end may be a cut is stored": {
      in: "reasonInResponse",
      replace: "if (!isFramed(status, field))",
      by: "if (false)",
      foundBy: "bodies/close-delimited",
    },
  },
};
