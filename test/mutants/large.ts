import type { Mutants } from "./mutant.ts";

const FETCH = "worker/flow/storing/fetch-and-store.ts";
const LARGE = "worker/flow/storing/large-body.ts";
const FILLS = "worker/flow/storing/large-fills.ts";
const FROM_STORE = "worker/flow/answering/answer-from-store.ts";

const LIMITS = "a body of up to storeBytes is kept in memory, one of up to largeBytes apart, a larger one not at all";
const TWO_STEPS = "a large body of known length is stored in two steps, and the second visitor gets it from store";
const CUT = "a large body that is cut off reaches the client as a cut, and is never a hit";
const BEING_STORED = "while a large body is being stored, others for the same page are passed on, and then it is a hit";
const STANDS_STILL = "a fill of a large body that has stood still for half a minute keeps no other from beginning";
const PURGED = "a purge wins over the fill of a large body that began before it";
const ONLY_PARTS = "of a large body only the bytes that are asked for are read";
const EVICTED = "a large body that has been evicted is a miss, and is stored again";
const KEEPS_BODY = "a 304 keeps the body of a large page, and the origin sends it once";

/** Wrong rules of bodies that are stored apart from their heads. */
export const large: Mutants = {
  "large-is-never-stored": {
    name: "a body over storeBytes is passed on",
    file: "worker/rules/storing/may-store.ts",
    from: "lengthBytes > rules.maxLargeBodyBytes",
    to: "lengthBytes > rules.maxBodyBytes",
    reddens: TWO_STEPS,
  },
  "limit-of-memory-is-outside": {
    name: "a body just as large as storeBytes is stored apart",
    file: "worker/rules/storing/may-store.ts",
    from: "lengthBytes > rules.maxBodyBytes",
    to: "lengthBytes >= rules.maxBodyBytes",
    reddens: LIMITS,
  },
  "limit-is-outside": {
    name: "a body just as large as largeBytes is not stored",
    file: "worker/rules/storing/may-store.ts",
    from: "lengthBytes > rules.maxLargeBodyBytes",
    to: "lengthBytes >= rules.maxLargeBodyBytes",
    reddens: LIMITS,
  },
  "limit-is-not-read": {
    name: "a body larger than largeBytes is stored",
    file: "worker/rules/storing/may-store.ts",
    from: "lengthBytes !== null && lengthBytes > rules.maxLargeBodyBytes",
    to: "false",
    reddens: LIMITS,
  },
  "others-wait-for-a-large-body": {
    name: "others for the same page wait until a large body is stored",
    file: FETCH,
    from: `tellFollowers({ kind: "not-shareable" });
    const toClient`,
    to: "const toClient",
    reddens: BEING_STORED,
  },
  "everybody-stores": {
    name: "all who ask for a large body at once store it",
    file: FILLS,
    from: "if (this.#fills.has(key)) return null;",
    to: "",
    reddens: BEING_STORED,
  },
  "being-stored-is-not-told": {
    name: "who is passed on beside a fill does not learn why",
    file: FETCH,
    from: 'miss, "being-stored")',
    to: "miss, undefined)",
    reddens: BEING_STORED,
  },
  "dead-fill-holds-for-ever": {
    name: "a fill whose request is dead keeps its page from being stored",
    file: FILLS,
    from: "now - fill.lastChunkAt > DEAD_AFTER_MS",
    to: "false",
    reddens: STANDS_STILL,
  },
  "fill-is-dead-too-early": {
    name: "a fill is taken for dead a millisecond too early",
    file: FILLS,
    from: "now - fill.lastChunkAt > DEAD_AFTER_MS",
    to: "now - fill.lastChunkAt >= DEAD_AFTER_MS",
    reddens: STANDS_STILL,
  },
  "fill-never-ends": {
    name: "a fill that is done keeps the next from beginning",
    file: LARGE,
    from: "copied.finally(() => largeFills.end(fill))",
    to: "copied",
    reddens: PURGED,
  },
  "cut-is-kept": {
    name: "what came before the cut is kept as the whole",
    file: LARGE,
    from: "await Promise.all([client.abort(cause), copy.abort(cause)]);\n    return;",
    to: "await client.abort(cause);",
    reddens: CUT,
  },
  "cut-is-not-seen": {
    name: "the client is given a clean end where a large body was cut off",
    file: LARGE,
    from: "client.abort(cause), copy.abort(cause)",
    to: "client.close(), copy.abort(cause)",
    reddens: CUT,
  },
  "cut-is-not-counted": {
    name: "a large body that was cut off is not counted",
    file: LARGE,
    from: 'ports.reporter.report({ kind: "body-cut-off" });',
    to: "",
    reddens: CUT,
  },
  "purged-is-kept": {
    name: "a large body that its own purge has overtaken is kept",
    file: LARGE,
    from: "!isWorthStoring(ports.purges.check(stored.head, false))",
    to: "false",
    reddens: PURGED,
  },
  "stamp-of-the-last-byte": {
    name: "a large body is stamped with the view of when it ended",
    file: LARGE,
    from: "{ ...head, bodyBytes: lengthBytes, bodyKey }",
    to: "{ ...head, bodyBytes: lengthBytes, bodyKey, stamp: ports.purges.stamp() }",
    reddens: PURGED,
  },
  "all-is-read-for-a-part": {
    name: "a part is cut from a body that is read whole",
    file: FROM_STORE,
    from: "ports.store.readBody(bodyKey, piece);",
    to: `(async () => {
      const whole = await ports.store.readBody(bodyKey, null);
      if (!whole || !piece) return whole;
      const bytes = new Uint8Array(await new Response(whole).arrayBuffer());
      return new Response(bytes.slice(piece.first, piece.last + 1)).body!;
    })();`,
    reddens: ONLY_PARTS,
  },
  "head-reads-the-body": {
    name: "a HEAD reads a body that is stored apart",
    file: FROM_STORE,
    from: 'if (facts.method === "HEAD") return headAlone(head, fields);',
    to: `if (facts.method === "HEAD") {
      if (!head.bodyKey) return headAlone(head, fields);
      return context.ports.store.readBody(head.bodyKey, null).then((body) => body && headAlone(head, fields) || null);
    }`,
    reddens: ONLY_PARTS,
  },
  "if-range-is-not-asked": {
    name: "a part of a large body is sent whatever If-Range says",
    file: FROM_STORE,
    from: 'rangeStillHolds(facts.field("if-range"), validatorsOf(head))',
    to: "true",
    reddens: "If-Range decides whether a part of a large body is sent, or all of it",
  },
  "last-byte-is-outside": {
    name: "a part of a large body lacks its last byte",
    file: FROM_STORE,
    from: "streamed(context, head, parts, only.last - only.first + 1, 206, fields)",
    to: "streamed(context, head, [{ first: only.first, last: only.last - 1 }], only.last - only.first, 206, fields)",
    reddens:
      "parts of a large body are cut from the stored one: single, open, suffix, several, and none that is beyond it",
  },
  "first-part-is-all": {
    name: "of several parts of a large body each has the bytes of the first",
    file: FROM_STORE,
    from: "first ?? (await read(piece))",
    to: "first ?? (await read(firstPart))",
    reddens:
      "parts of a large body are cut from the stored one: single, open, suffix, several, and none that is beyond it",
  },
  "gone-is-told-as-never-there": {
    name: "nobody learns that a body has been evicted",
    file: "worker/flow/miss.ts",
    from: 'detail: "body-gone"',
    to: "detail: undefined",
    reddens: EVICTED,
  },
  "evicted-is-an-error": {
    name: "a page whose body has been evicted is an error",
    file: "worker/flow/corridor.ts",
    from: "if (!streamed) return fetchFromOrigin(context, BODY_GONE, context.facts.receiptToken);",
    to: 'if (!streamed) return answerOurselves(context, 502, "body-gone", "The body is gone.");',
    reddens: EVICTED,
  },
  "evicted-stands-in": {
    name: "a page without its body stands in for an origin that fails",
    file: "worker/flow/answering/stale-answer.ts",
    from: "if (!served) return null;",
    to: "if (!served) return new Response(null, { status: 200 });",
    reddens: "a large body that has been evicted stands in for no origin that fails",
  },
  "freshened-body-is-lost": {
    name: "a page that a 304 freshened does not know where its body lies",
    file: "worker/flow/storing/freshening.ts",
    from: "purgeKeys, bodyBytes, bodyKey }",
    to: "purgeKeys, bodyBytes, bodyKey: null }",
    reddens: KEEPS_BODY,
  },
  "evicted-is-validated": {
    name: "the origin is asked again whether a body that is gone still holds",
    file: FETCH,
    from: "{ ...miss, toValidate: [] }, () => undefined",
    to: "miss, () => undefined",
    reddens: "a 304 for a large page whose body has been evicted is asked again without conditions",
  },
  "browsers-are-told-later": {
    name: "browserTtl is not told with the first answer",
    file: FETCH,
    from: "setBrowserLifetime(fields, resolved.route.browserTtlSeconds, Math.floor(head.initialAgeMs / 1000));",
    to: "",
    reddens: "what browsers are told to keep a large page for, they are told from the first answer on",
  },
  "held-page-is-sent": {
    name: "a client gets the whole page that it holds, because it was not stored",
    file: FETCH,
    from: "response.status === 200 && isHeldByClient(facts, head)",
    to: "false",
    reddens: "a client that holds a large page gets a 304 while the page is stored for others",
  },
  "client-takes-the-fill-along": {
    name: "a client that goes away takes the fill of a large body along",
    file: LARGE,
    from: "client.isGone && copy.isGone",
    to: "client.isGone",
    reddens: "a large stale page is answered at once, and the new one is stored behind the answer",
  },
  "variants-share-a-fill": {
    name: "a large body is kept under the page's key, whichever variant it is",
    file: LARGE,
    from: "await storeResponse(context, stored);",
    to: "await ports.store.keep({ ...stored, head: { ...stored.head, key: context.resolved.cacheKey } });",
    reddens: "variants of a page may have large bodies, each its own",
  },
};
