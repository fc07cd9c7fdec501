import type { Mutants } from "./mutant.ts";

const FETCH_AND_STORE = "worker/flow/storing/fetch-and-store.ts";
const FROM_STORE = "worker/flow/answering/answer-from-store.ts";
const IF_RANGE = "worker/rules/ranges/if-range.ts";
const PART_FIELDS = "worker/rules/ranges/partial-content.ts";
const RANGE = "worker/rules/ranges/range.ts";

const CUT = "a part of a stored page is cut from it: the first and last byte, from one on, the last so many";
const UNSATISFIABLE = "a part that the page does not have is a 416 with the length of the page";
const MALFORMED =
  "a Range that is malformed, of another unit or of too many parts is passed over: the whole page is sent";
const SEVERAL = "several parts come in one multipart body, each with its place and type, in the order of the request";
const JOINED = "parts that overlap or touch are sent as one, and one that is left over of several is sent alone";
const IF_RANGE_COUNTS = "If-Range gives the part to who holds this very page, and the whole page to all others";
const NOT_CUT = "nothing is cut from a stored error, a redirect, or a page without bytes";
const FETCHED_WHOLE =
  "where the site says so, a small page is fetched whole for who asks for a part of it, and is stored";

function isAskedAlone(what: string): string {
  return `where small pages are fetched whole, one that ${what} is asked for the part alone after all`;
}

/** Wrong rules of parts: what is cut from a stored page, and what is asked of the origin. */
export const ranges: Mutants = {
  "last-byte-is-left-out": {
    name: "a part ends before its last byte",
    file: FROM_STORE,
    from: "body.subarray(only.first, only.last + 1)",
    to: "body.subarray(only.first, only.last)",
    reddens: CUT,
  },
  "part-is-told-without-the-whole": {
    name: "Content-Range does not tell the length of the whole",
    file: PART_FIELDS,
    from: "part.last}/",
    to: "part.last}/*/",
    reddens: CUT,
  },
  "part-goes-beyond-the-end": {
    name: "a part may end behind the page's end",
    file: RANGE,
    from: "Math.min(last, lengthBytes - 1)",
    to: "last",
    reddens: CUT,
  },
  "suffix-goes-beyond-the-beginning": {
    name: "the last so many bytes may be more than there are",
    file: RANGE,
    from: "Math.min(Number(texts[2]), lengthBytes)",
    to: "Number(texts[2])",
    reddens: CUT,
  },
  "unit-has-a-case": {
    name: "the unit has to be in lower case",
    file: RANGE,
    from: ".trimStart().toLowerCase()",
    to: ".trimStart()",
    reddens: CUT,
  },
  "part-is-a-200": {
    name: "a part is told as the whole",
    file: FROM_STORE,
    from: "only.last + 1), 206, fields)",
    to: "only.last + 1), 200, fields)",
    reddens: CUT,
  },
  "parts-are-cut-in-memory-alone": {
    name: "a part is cut only of what is in memory",
    file: "worker/store/tiers.ts",
    from: "this.#orReport(() => this.#shared.get(key))",
    to: "this.#orReport(async () => undefined)",
    reddens: "a part is cut after the isolate has restarted, too",
  },
  "end-is-within": {
    name: "the byte behind the last one is part of the page",
    file: RANGE,
    from: "first >= lengthBytes ?",
    to: "first > lengthBytes ?",
    reddens: UNSATISFIABLE,
  },
  "nothing-is-unsatisfiable": {
    name: "for a part that is not there the whole page is sent",
    file: FROM_STORE,
    from: 'if (parsed.kind === "unsatisfiable") return unsatisfiable(head, fields);',
    to: "",
    reddens: UNSATISFIABLE,
  },
  "416-tells-no-length": {
    name: "a 416 does not tell the length of the page",
    file: FROM_STORE,
    from: 'fields.set("content-range", unsatisfiedRange(head.bodyBytes));',
    to: "",
    reddens: UNSATISFIABLE,
  },
  "416-has-the-pages-fields": {
    name: "a 416 has the fields of the page's body",
    file: FROM_STORE,
    from: "const fields = notModifiedFields(stored);",
    to: "const fields = new Headers(stored);",
    reddens: UNSATISFIABLE,
  },
  "malformed-is-left-out": {
    name: "a malformed part is left out of several",
    file: RANGE,
    from: 'if (part === "malformed") return { kind: "whole" };',
    to: 'if (part === "malformed") continue;',
    reddens: MALFORMED,
  },
  "any-unit-is-bytes": {
    name: "every unit is taken for bytes",
    file: RANGE,
    from: '.toLowerCase() !== "bytes"',
    to: '.toLowerCase() === "none"',
    reddens: MALFORMED,
  },
  "seventeen-parts-are-few": {
    name: "seventeen parts are answered",
    file: RANGE,
    from: "const MAX_RANGES = 16;",
    to: "const MAX_RANGES = 17;",
    reddens: MALFORMED,
  },
  "sixteen-parts-are-many": {
    name: "sixteen parts are too many",
    file: RANGE,
    from: "const MAX_RANGES = 16;",
    to: "const MAX_RANGES = 15;",
    reddens: MALFORMED,
  },
  "parts-exceed-the-page": {
    name: "parts may be more than the page together",
    file: RANGE,
    from: "return askedBytes > lengthBytes ?",
    to: "return false ?",
    reddens: MALFORMED,
  },
  "first-part-is-all": {
    name: "of several parts the first is sent alone",
    file: FROM_STORE,
    from: "if (only && parts.length === 1)",
    to: "if (only)",
    reddens: SEVERAL,
  },
  "parts-are-turned-round": {
    name: "several parts come in another order than asked for",
    file: RANGE,
    from: "if (touched.length === 0) return [...parts, added];",
    to: "if (touched.length === 0) return [added, ...parts];",
    reddens: SEVERAL,
  },
  "parts-have-no-end": {
    name: "the last part does not end with the boundary of the end",
    file: PART_FIELDS,
    from: "}--\\r\\n",
    to: "}\\r\\n",
    reddens: SEVERAL,
  },
  "parts-have-no-type": {
    name: "several parts do not tell their type",
    file: FROM_STORE,
    from: 'storedField(head, "content-type")',
    to: "null",
    reddens: SEVERAL,
  },
  "parts-have-the-wholes-type": {
    name: "a body of several parts has the type of the page",
    file: FROM_STORE,
    from: 'fields.set("content-type", multipart.contentType);',
    to: "",
    reddens: SEVERAL,
  },
  "no-type-is-written": {
    name: "the parts of a page without a type have an empty one",
    file: PART_FIELDS,
    from: 'contentType === null ? ""',
    to: 'contentType === "" ? ""',
    reddens: "the parts of a page without a type have none",
  },
  "touching-parts-stay-apart": {
    name: "parts that touch are sent one by one",
    file: RANGE,
    from: "part.first <= added.last + 1 && added.first <= part.last + 1",
    to: "part.first <= added.last && added.first <= part.last",
    reddens: JOINED,
  },
  "near-parts-are-one": {
    name: "parts with a byte between them are sent as one",
    file: RANGE,
    from: "part.first <= added.last + 1 && added.first <= part.last + 1",
    to: "part.first <= added.last + 2 && added.first <= part.last + 2",
    reddens: JOINED,
  },
  "one-missing-part-spoils-all": {
    name: "one part that is not there makes all a 416",
    file: RANGE,
    from: 'if (part === "unsatisfiable") continue;',
    to: 'if (part === "unsatisfiable") return { kind: "unsatisfiable" };',
    reddens: JOINED,
  },
  "if-range-is-not-read": {
    name: "a part is sent to who holds another page",
    file: FROM_STORE,
    from: 'rangeStillHolds(facts.field("if-range"), validatorsOf(head))',
    to: "true",
    reddens: IF_RANGE_COUNTS,
  },
  "if-range-takes-weak-tags": {
    name: "a weak tag is enough to put bytes together",
    file: IF_RANGE,
    from: "matchesStrongly(held, validators.etag)",
    to: "held === validators.etag",
    reddens: IF_RANGE_COUNTS,
  },
  "if-range-takes-later-dates": {
    name: "a later date than the page's is enough to put bytes together",
    file: IF_RANGE,
    from: "heldAt === modifiedAt",
    to: "heldAt >= modifiedAt",
    reddens: IF_RANGE_COUNTS,
  },
  "if-range-takes-young-dates": {
    name: "a date of the very second of the answer is enough to put bytes together",
    file: IF_RANGE,
    from: "generatedAt - modifiedAt >= 1000",
    to: "generatedAt - modifiedAt >= 0",
    reddens: IF_RANGE_COUNTS,
  },
  "if-range-wants-old-dates": {
    name: "a date one second before the answer is too young",
    file: IF_RANGE,
    from: "generatedAt - modifiedAt >= 1000",
    to: "generatedAt - modifiedAt > 1000",
    reddens: IF_RANGE_COUNTS,
  },
  "parts-come-before-conditions": {
    name: "a request for a part is answered before its condition",
    file: FROM_STORE,
    from: "if (isHeldByClient(facts, head))",
    to: 'if (!(facts.field("range") !== null) && isHeldByClient(facts, head))',
    reddens: "a client that holds the page gets a 304 though it asks for a part of it",
  },
  "head-has-parts": {
    name: "a HEAD is answered in parts",
    file: FROM_STORE,
    from: 'facts.method === "GET" ? facts.field("range") : null',
    to: 'facts.field("range")',
    reddens: "Range means nothing with HEAD",
  },
  "errors-have-parts": {
    name: "a stored error is cut into parts",
    file: FROM_STORE,
    from: "if (head.status === 200)",
    to: "if (true)",
    reddens: NOT_CUT,
  },
  "nothing-has-parts": {
    name: "no part of an empty page can be had",
    file: RANGE,
    from: "field === null || lengthBytes === 0",
    to: "field === null",
    reddens: NOT_CUT,
  },
  "coding-of-a-part-is-not-looked-at": {
    name: "a part of an encoded page goes to who cannot read it",
    file: "worker/rules/variants/vary.ts",
    from: "if (contentEncoding !== null && !acceptsCoding(",
    to: "if (false && !acceptsCoding(",
    reddens: "a part of an encoded page is cut from its encoded bytes, for who accepts the coding",
  },
  "missing-part-is-asked-as-a-whole": {
    name: "a part of a page that is not stored is asked for as the whole first",
    file: "worker/flow/corridor.ts",
    from: "if (facts.isPartial && !mayFetchWhole(context, miss))",
    to: "if (false)",
    reddens: "a part of a page that is not stored is asked of the origin as it was asked for, and is not stored",
  },
  "part-of-stale-is-passed-on": {
    name: "a part of a stale page is asked of the origin, not cut from what it confirms",
    file: "worker/flow/corridor.ts",
    from: " || toValidate.length > 0;",
    to: ";",
    reddens: "a part of a stale page is cut when the origin has confirmed the page, which is fresh again",
  },
  "any-length-is-fetched-whole": {
    name: "a page that has changed is read whole for a part of it, however large",
    file: FETCH_AND_STORE,
    from: "lengthBytes <= site.limits.fetchWholeBytes",
    to: "lengthBytes <= site.limits.storeBytes",
    reddens: "a part of a stale page that has changed is asked of the origin as it was asked for",
  },
  "purged-page-is-cut": {
    name: "a part is cut from a purged page",
    file: "worker/rules/freshness/judge.ts",
    from: 'if (answer === "purged")',
    to: "if (false)",
    reddens: "a purged page gives no part",
  },
  "nothing-is-fetched-whole": {
    name: "no page is fetched whole for a part, whatever the site says",
    file: "worker/flow/corridor.ts",
    from: "site.limits.fetchWholeBytes > 0 || ",
    to: "",
    reddens: FETCHED_WHOLE,
  },
  "limit-of-wholes-is-outside": {
    name: "a page just as large as the limit is not fetched whole",
    file: FETCH_AND_STORE,
    from: "lengthBytes <= site.limits.fetchWholeBytes",
    to: "lengthBytes < site.limits.fetchWholeBytes",
    reddens: FETCHED_WHOLE,
  },
  "limit-of-wholes-is-a-byte-late": {
    name: "a page one byte larger than the limit is fetched whole",
    file: FETCH_AND_STORE,
    from: "lengthBytes <= site.limits.fetchWholeBytes",
    to: "lengthBytes <= site.limits.fetchWholeBytes + 1",
    reddens: isAskedAlone("is too large"),
  },
  "untold-length-is-small": {
    name: "a page that does not tell its length is taken for small",
    file: FETCH_AND_STORE,
    from: "lengthBytes !== null && lengthBytes <= site.limits.fetchWholeBytes",
    to: "(lengthBytes ?? 0) <= site.limits.fetchWholeBytes",
    reddens: isAskedAlone("does not tell its length"),
  },
  "whole-is-sent-for-a-part": {
    name: "a page that may not be stored is sent whole for a part",
    file: FETCH_AND_STORE,
    from: "if (facts.isPartial) return answerPart",
    to: 'if (facts.isPartial && decision.kind === "store") return answerPart',
    reddens: isAskedAlone("may not be stored"),
  },
  "cut-off-page-is-whole": {
    name: "a part is cut from a page that was cut off",
    file: "worker/flow/storing/fill.ts",
    from: 'tell({ kind: "cut-off" });',
    to: 'tell({ kind: "whole", bytes: join(chunks, readBytes) });',
    reddens: isAskedAlone("is cut off"),
  },
  "nobody-waits-for-a-part": {
    name: "nobody waits for a page that is fetched for a part",
    file: "worker/flow/collapsing/collapse.ts",
    from: "fetchAndStore(context, miss, own)",
    to: "fetchAndStore(context, miss, context.facts.isPartial ? null : own)",
    reddens: "who wants the whole page waits for the one that is fetched for a part",
  },
  "part-is-fetched-behind": {
    name: "behind a stale part only a part is fetched anew",
    file: "worker/rules/request/request-facts.ts",
    from: "this.#rules, true)",
    to: "this.#rules, false)",
    reddens: "a part of a page that may be shown stale is cut at once, and the whole page is fetched anew behind it",
  },
  "no-part-stands-in": {
    name: "no part of a stale page stands in for a failed origin",
    file: FETCH_AND_STORE,
    from: "const stale = hasFailed(result) ?",
    to: "const stale = hasFailed(result) && !facts.isPartial ?",
    reddens: "a part of a stale page is cut where the origin has failed and the page allows that",
  },
};
