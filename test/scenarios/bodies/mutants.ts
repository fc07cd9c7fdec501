import type { Mutants } from "../../mutants/mutant.ts";

const ANSWER_FROM_STORE = "worker/flow/answering/answer-from-store.ts";
const BODY_PARTS = "worker/flow/answering/body-parts.ts";
const FETCH_AND_STORE = "worker/flow/storing/fetch-and-store.ts";
const FILL = "worker/flow/storing/fill.ts";
const LARGE_BODY = "worker/flow/storing/large-body.ts";
const LARGE_FILLS = "worker/flow/storing/large-fills.ts";
const MAY_STORE = "worker/rules/storing/storable.ts";

/** Wrong rules of framing and of large bodies. */
export const mutants: Mutants = {
  "cut-body-is-whole": {
    name: "the bytes before a cut are stored as the whole body",
    file: FILL,
    from: 'tell({ kind: "cut-off" });',
    to: 'tell({ kind: "whole", bytes: joined(chunks, readBytes) });',
    reddens: "bodies/cut-off",
  },
  "cut-chunks-are-whole": {
    name: "the chunks before a cut are stored as the whole body",
    file: FILL,
    from: 'tell({ kind: "cut-off" });',
    to: 'tell(lengthBytes === null ? { kind: "whole", bytes: joined(chunks, readBytes) } : { kind: "cut-off" });',
    reddens: "bodies/chunked-cut-off",
  },
  "client-does-not-see-the-cut": {
    name: "the client gets a clean end where the body was cut off",
    file: FILL,
    from: "await client.abort(cause);",
    to: "await client.close();",
    reddens: "bodies/cut-off",
  },
  "bytes-are-not-counted": {
    name: "a body that outgrows the limit is stored",
    file: FILL,
    from: "readBytes > maxBytes",
    to: "false",
    reddens: "bodies/over-the-limit",
  },
  "limit-is-outside": {
    name: "a body exactly as large as the limit is not stored",
    file: FILL,
    from: "readBytes > maxBytes",
    to: "readBytes >= maxBytes",
    reddens: "bodies/over-the-limit",
  },
  "large-is-never-stored": {
    name: "a body over storeBytes is passed on",
    file: "worker/rules/storing/may-store.ts",
    from: "lengthBytes > rules.maxLargeBodyBytes",
    to: "lengthBytes > rules.maxBodyBytes",
    reddens: "bodies/stored-in-two-steps",
  },
  "limit-of-memory-is-outside": {
    name: "a body exactly as large as storeBytes is stored apart",
    file: "worker/rules/storing/may-store.ts",
    from: "lengthBytes > rules.maxBodyBytes",
    to: "lengthBytes >= rules.maxBodyBytes",
    reddens: "bodies/limits-by-size",
  },
  "large-limit-is-outside": {
    name: "a body exactly as large as largeBytes is not stored",
    file: "worker/rules/storing/may-store.ts",
    from: "lengthBytes > rules.maxLargeBodyBytes",
    to: "lengthBytes >= rules.maxLargeBodyBytes",
    reddens: "bodies/limits-by-size",
  },
  "large-limit-is-not-read": {
    name: "a body larger than largeBytes is stored",
    file: "worker/rules/storing/may-store.ts",
    from: "lengthBytes !== null && lengthBytes > rules.maxLargeBodyBytes",
    to: "false",
    reddens: "bodies/limits-by-size",
  },
  "others-wait-for-a-large-body": {
    name: "other requests for the page wait until a large body is stored",
    file: FETCH_AND_STORE,
    from: `tellFollowers({ kind: "not-shareable" });
    if (context.answersHead)`,
    to: "if (context.answersHead)",
    reddens: "bodies/while-being-stored",
  },
  "everybody-stores": {
    name: "every one of several simultaneous requests stores a large body",
    file: LARGE_FILLS,
    from: "if (this.#fills.has(key)) return null;",
    to: "",
    reddens: "bodies/while-being-stored",
  },
  "being-stored-is-not-told": {
    name: "a request that is passed on beside a fill is not told the reason",
    file: FETCH_AND_STORE,
    from: 'miss, { because: "being-stored" })',
    to: "miss, undefined)",
    reddens: "bodies/while-being-stored",
  },
  "stalled-fill-holds-for-ever": {
    name: "a fill that has stalled keeps its page from being stored",
    file: LARGE_FILLS,
    from: "now - fill.lastChunkAt > DEAD_AFTER_MS",
    to: "false",
    reddens: "bodies/stalled-fill",
  },
  "fill-is-stalled-too-early": {
    name: "a fill counts as stalled a millisecond too early",
    file: LARGE_FILLS,
    from: "now - fill.lastChunkAt > DEAD_AFTER_MS",
    to: "now - fill.lastChunkAt >= DEAD_AFTER_MS",
    reddens: "bodies/stalled-fill",
  },
  "fill-never-ends": {
    name: "a fill that has ended keeps the next from beginning",
    file: LARGE_BODY,
    from: "copied.finally(() => largeFills.end(fill))",
    to: "copied",
    reddens: "bodies/purge-during-fill",
  },
  "large-cut-is-kept": {
    name: "the bytes before a cut are stored as the whole large body",
    file: LARGE_BODY,
    from: "await Promise.all([client.abort(cause), copy.abort(cause)]);\n    return;",
    to: "await client.abort(cause);",
    reddens: "bodies/large-cut-off",
  },
  "large-cut-is-not-seen": {
    name: "the client gets a clean end where a large body was cut off",
    file: LARGE_BODY,
    from: "client.abort(cause), copy.abort(cause)",
    to: "client.close(), copy.abort(cause)",
    reddens: "bodies/large-cut-off",
  },
  "large-cut-is-not-counted": {
    name: "a large body that was cut off is not counted",
    file: LARGE_BODY,
    from: 'ports.reporter.report({ kind: "body-cut-off" });',
    to: "",
    reddens: "bodies/large-cut-off",
  },
  "purged-is-kept": {
    name: "a large body that was purged before it arrived is stored",
    file: LARGE_BODY,
    from: "!isWorthStoring(ports.purges.check(stored.head))",
    to: "false",
    reddens: "bodies/purge-during-fill",
  },
  "stamp-of-the-last-byte": {
    name: "a large body is stamped with the view that is held when it ends",
    file: LARGE_BODY,
    from: "{ ...head, bodyKey }",
    to: "{ ...head, bodyKey, stamp: ports.purges.stamp() }",
    reddens: "bodies/purge-during-fill",
  },
  "all-is-read-for-a-part": {
    name: "a part is cut from a large body that is read whole",
    file: BODY_PARTS,
    from: "store.readBody(bodyKey, part);",
    to: `(async () => {
      const whole = await store.readBody(bodyKey, null);
      if (!whole || !part) return whole;
      const bytes = new Uint8Array(await new Response(whole).arrayBuffer());
      return new Response(bytes.slice(part.first, part.last + 1)).body!;
    })();`,
    reddens: "bodies/only-requested-bytes",
  },
  "head-reads-the-body": {
    name: "a HEAD reads a body that is stored apart",
    file: ANSWER_FROM_STORE,
    from: "if (context.answersHead) return headAlone(context, form, fields);",
    to: `if (context.answersHead) {
      if (!head.bodyKey) return headAlone(context, form, fields);
      return context.ports.store.readBody(head.bodyKey, null).then((body) => body && headAlone(context, form, fields) || null);
    }`,
    reddens: "bodies/only-requested-bytes",
  },
  "if-range-is-not-asked": {
    name: "a part of a large body is sent whatever If-Range says",
    file: ANSWER_FROM_STORE,
    from: 'rangeStillHolds(facts.field("if-range"), strong, context.ports.clock.now())',
    to: "true",
    reddens: "bodies/if-range-of-large-body",
  },
  "last-byte-is-outside": {
    name: "a part of a large body lacks its last byte",
    file: ANSWER_FROM_STORE,
    from: "streamed(context, found, parts, only.last - only.first + 1, 206, fields)",
    to: "streamed(context, found, [{ first: only.first, last: only.last - 1 }], only.last - only.first, 206, fields)",
    reddens: "bodies/parts-of-large-body",
  },
  "first-part-is-all": {
    name: "of several parts of a large body each has the bytes of the first",
    file: BODY_PARTS,
    from: "first ?? (await read(part))",
    to: "first ?? (await read(firstPart))",
    reddens: "bodies/parts-of-large-body",
  },
  "gone-is-told-as-never-there": {
    name: "an evicted body is not given as the reason",
    file: "worker/flow/miss.ts",
    from: 'detail: "body-gone"',
    to: "detail: undefined",
    reddens: "bodies/evicted-is-miss",
  },
  "evicted-is-an-error": {
    name: "a page whose body has been evicted is an error",
    file: "worker/flow/corridor.ts",
    from: "if (!streamed) return fetchFromOrigin(context, BODY_GONE, context.facts.receiptToken);",
    to: 'if (!streamed) return answerOurselves(context, 502, "body-gone", "The body is gone.");',
    reddens: "bodies/evicted-is-miss",
  },
  "evicted-replaces-error": {
    name: "a page without its body replaces a failed origin's answer",
    file: "worker/flow/answering/stale-answer.ts",
    from: "if (!served) return null;",
    to: "if (!served) return new Response(null, { status: 200 });",
    reddens: "bodies/evicted-and-stale-if-error",
  },
  "freshened-body-is-lost": {
    name: "a page that a 304 freshened loses the place of its body",
    file: "worker/flow/storing/freshening.ts",
    from: "givenPurgeKeys, bodyBytes, bodyKey }",
    to: "givenPurgeKeys, bodyBytes, bodyKey: null }",
    reddens: "bodies/kept-by-304",
  },
  "evicted-is-validated": {
    name: "the origin is asked again to confirm a body that is gone",
    file: FETCH_AND_STORE,
    from: "{ ...miss, toValidate: null }, tellNobody",
    to: "miss, () => undefined",
    reddens: "bodies/304-for-evicted-body",
  },
  "browsers-are-told-later": {
    name: "browserTtl does not apply to the first answer",
    file: FETCH_AND_STORE,
    from: "setBrowserLifetime(fields, resolved.route.browserTtlSeconds, Math.floor(head.initialAgeMs / 1000));",
    to: "",
    reddens: "bodies/browser-ttl",
  },
  "held-page-is-sent": {
    name: "a client that holds the page is sent the whole of it, because it was not stored",
    file: FETCH_AND_STORE,
    from: "response.status === 200 && isHeldByClient(context, head)",
    to: "false",
    reddens: "bodies/client-304-while-storing",
  },
  "client-takes-the-fill-along": {
    name: "a client that goes away ends the fill of a large body",
    file: LARGE_BODY,
    from: "client.isGone && copy.isGone",
    to: "client.isGone",
    reddens: "bodies/large-stale-while-revalidate",
  },
  "variants-share-a-fill": {
    name: "a large body is kept under the page's key, whichever variant it is",
    file: LARGE_BODY,
    from: "await storeResponse(context, stored);",
    to: "await ports.store.keep({ ...stored, head: { ...stored.head, key: context.resolved.cacheKey } });",
    reddens: "bodies/variants-with-large-bodies",
  },
  "unframed-body-is-stored": {
    name: "a body whose end may be a cut is stored",
    file: MAY_STORE,
    from: "if (!isFramed(status, field))",
    to: "if (false)",
    reddens: "bodies/close-delimited",
  },
  "announced-length-is-overlooked": {
    name: "a body that announces too many bytes is reported as stored",
    file: "worker/rules/storing/may-store.ts",
    from: "const { field, status, lengthBytes } = response;",
    to: `const { field, status } = response;
  const lengthBytes = null as number | null;`,
    reddens: "bodies/over-the-limit",
  },
  "too-large-is-told-as-stored": {
    name: "an answer that is not stored is reported as stored",
    file: "worker/flow/answering/pass-on.ts",
    from: "stored: false, collapsed: false, because",
    to: "stored: true, collapsed: false",
    reddens: "bodies/over-the-limit",
  },
};
