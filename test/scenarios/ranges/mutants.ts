import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of parts. */
export const mutants: Mutants = {
  "RFC 9110 §14.1.2": {
    "a part ends before its last byte": {
      in: "answerWithParts",
      replace: "body.subarray(only.first, only.last + 1)",
      by: "body.subarray(only.first, only.last)",
      foundBy: "ranges/part-of-stored-page",
    },
    "Content-Range does not give the length of the whole page": {
      in: "contentRange",
      replace: "part.last}/",
      by: "part.last}/*/",
      foundBy: "ranges/part-of-stored-page",
    },
    "a part may end beyond the page's end": {
      in: "parseSpec",
      replace: "Math.min(last, lengthBytes - 1)",
      by: "last",
      foundBy: "ranges/part-of-stored-page",
    },
    "a suffix range may be longer than the page": {
      in: "parseSpec",
      replace: "Math.min(Number(texts[2]), lengthBytes)",
      by: "Number(texts[2])",
      foundBy: "ranges/part-of-stored-page",
    },
    "the range unit has to be in lower case": {
      in: "parseRange",
      replace: ".trimStart().toLowerCase()",
      by: ".trimStart()",
      foundBy: "ranges/part-of-stored-page",
    },
    "a part is sent with status 200": {
      in: "answerWithParts",
      replace: "only.last + 1), 206, partFields)",
      by: "only.last + 1), 200, partFields)",
      foundBy: "ranges/part-of-stored-page",
    },
    "a part of an encoded page is sent to a client that does not accept the coding": {
      in: "matchesVariant",
      replace: "if (contentEncoding !== null && !acceptsCoding(",
      by: "if (false && !acceptsCoding(",
      foundBy: "ranges/part-of-encoded-page",
    },
  },
  "RFC 9110 §14": {
    "a part is cut only from a page in memory": {
      in: "TieredStore.lookUp",
      wrap: "() => Promise.resolve(undefined)",
      foundBy: "ranges/part-after-restart",
    },
  },
  "RFC 9111 §4.1": {
    "a page that the origin has chosen by the range is stored for all": {
      in: "answerAlone",
      replace: "return passOn(context, response, miss, undefined);",
      by: "return answerFetched(context, { miss, response, tellFollowers: tellNobody }, decideStorage(context, response));",
      foundBy: "ranges/whole-for-a-range",
    },
  },
  "RFC 9110 §14.2": {
    "an origin that ignores ranges is asked for each part": {
      in: "answerAlone",
      replace: "if (mayStore)",
      by: "if (false)",
      foundBy: "ranges/whole-instead-of-part",
    },
    "a page whose whole is not stored is fetched whole for its parts": {
      in: "answerAlone",
      replace: 'decision.kind === "store" && !decision.isLarge',
      by: '!(decision.kind === "store" && decision.isLarge)',
      foundBy: "ranges/whole-instead-of-part",
    },
    "a page that is too large to be stored with its head is fetched whole for its parts": {
      in: "answerAlone",
      replace: "&& !decision.isLarge",
      by: "",
      foundBy: "ranges/whole-instead-of-part",
    },
    "an error is taken for a whole page": {
      in: "answerAlone",
      replace: "status === 200 &&",
      by: "",
      foundBy: "ranges/whole-instead-of-part",
    },
    "a part that the origin sends with 200 is taken for the whole page": {
      in: "answerAlone",
      replace: '&& !fields.has("content-range")',
      by: "",
      foundBy: "ranges/whole-instead-of-part",
    },
    "an origin that obeys If-Range is taken for one that ignores ranges": {
      in: "answerAlone",
      replace: '&& facts.isPartial && facts.field("if-range") === null',
      by: "",
      foundBy: "ranges/whole-instead-of-part",
    },
    "64 parts of a large page are too many": {
      in: "MAX_PARTS_APART",
      replace: "const MAX_PARTS_APART = 64;",
      by: "const MAX_PARTS_APART = 63;",
      foundBy: "ranges/many-parts-stored-apart",
    },
    "65 parts of a large page are read": {
      in: "MAX_PARTS_APART",
      replace: "const MAX_PARTS_APART = 64;",
      by: "const MAX_PARTS_APART = 65;",
      foundBy: "ranges/many-parts-stored-apart",
    },
    "a request for all bytes by a range is passed on, and stores nothing": {
      in: "RequestFacts.isPartial",
      replace: " && !this.asksForAllBytes",
      by: "",
      foundBy: [
        "ranges/all-bytes-of-missing-page",
        "ranges/all-bytes-of-large-page",
        "ranges/all-bytes-without-length",
        "ranges/all-bytes-and-followers",
      ],
    },
    "a request for all bytes by a range gets no part": {
      in: "sentStatus",
      replace: "facts.asksForAllBytes && status === 200 && lengthBytes",
      by: "false",
      foundBy: ["ranges/all-bytes-of-missing-page", "ranges/all-bytes-of-unstored-page"],
    },
    "an error becomes a part": {
      in: "sentStatus",
      replace: "status === 200 && ",
      by: "",
      foundBy: "ranges/all-bytes-of-an-error",
    },
    "a part that the origin sends unasked becomes a part of all its bytes": {
      in: "answerBy",
      replace: "!== response.status;",
      by: "=== 206;",
      foundBy: ["ranges/part-unasked", "ranges/part-unasked-of-all-bytes"],
    },
    "the answer to who holds the page becomes a part": {
      in: "answerBy",
      replace: "answer.status === response.status && ",
      by: "",
      foundBy: "ranges/all-bytes-held",
    },
    "a part waits at the origin behind the whole page that it is cut from": {
      in: "waitForWhole",
      replace: "!originGate?.isBusy(resolved.route.pattern)",
      by: "true",
      foundBy: "ranges/slow-whole-page-one-at-a-time",
    },
    "a part waits for a slow whole page to its end if the origin was busy once": {
      in: "waitForWhole",
      replace: "waitMs = PART_LOOKS_EVERY_MS",
      by: "waitMs = 600_000",
      foundBy: "ranges/slow-whole-page-at-a-busy-origin",
    },
    "who waited for a part of a page that turned out to be too large asks for the whole": {
      in: "followOrTryAgain",
      replace: "context.facts.isPartial ? fetchPart(context, miss) : fetchAlone()",
      by: "fetchAlone()",
      foundBy: "ranges/large-whole-page-without-length-and-followers",
    },
    "who waited for a part of a page that is too large asks for the whole": {
      in: "followOrTryAgain",
      drop: 'if (context.facts.isPartial && planFetch(context, miss).kind === "part") return fetchPart(context, miss);',
      foundBy: "ranges/large-whole-page-and-followers",
    },
    "the whole of a page that is too large for it is asked for again with each part": {
      in: "answerPart",
      drop: "if (field || (isOutdated && !isOfVisitor)) rememberUnstored(context, field);",
      foundBy: "ranges/large-page-asked-once-for-the-whole",
    },
    "the whole of a page is asked for again with each part that an unkeyed field keeps from being stored": {
      in: "answerPart",
      replace: "field || (isOutdated && !isOfVisitor)",
      by: "isOutdated && !isOfVisitor",
      foundBy: "ranges/parts-with-an-unkeyed-field",
    },
    "a page that was too large for one request for a part is one that is never stored": {
      in: "rememberUnstored",
      replace: 'isPartial && key.field === undefined ? "PARTS" : ""',
      by: '""',
      foundBy: "ranges/head-after-part-of-a-large-page",
    },
    "after a 404 to a request for a part, no whole page is fetched": {
      in: "answerPart",
      replace: "isOutdated && !isOfVisitor",
      by: "isOutdated",
      foundBy: "ranges/whole-page-after-a-404",
    },
    "a part of a page that is on its way begins with the piece that has its first byte": {
      in: "answer-from-store:partsOf",
      replace: "piece.subarray(first - at,",
      by: "piece.subarray(0,",
      foundBy: "ranges/part-of-page-not-in-memory",
    },
    "parts of a page that comes once are sent in the order of the request": {
      in: "mayRead",
      replace: "parts[index - 1]!.last < part.first",
      by: "part.first >= 0",
      foundBy: "ranges/part-of-page-not-in-memory",
    },
    "a HEAD is answered in parts": {
      in: "answerInForm",
      replace: 'context.answersHead ? null : facts.field("range")',
      by: 'facts.field("range")',
      foundBy: "ranges/range-with-head",
    },
    "parts are cut from a stored error": {
      in: "answerInForm",
      replace: "if (head.status === 200)",
      by: "if (true)",
      foundBy: "ranges/nothing-to-cut",
    },
    "a part of an empty page answered 416": {
      in: "parseRange",
      replace: "field === null || lengthBytes === 0",
      by: "field === null",
      foundBy: "ranges/nothing-to-cut",
    },
    "a page that has changed is read whole for a part of it, however large it is": {
      in: "answerPart",
      replace: "toValidate.head.bodyBytes;",
      by: "context.isolate.site.limits.storeBytes;",
      foundBy: "ranges/part-of-changed-page",
    },
    "a part of a stale page without validators costs the origin a request for the whole as well": {
      in: "mayFetchWhole",
      replace: "conditionsOf(context, miss) !== null",
      by: "miss.toValidate !== null",
      foundBy: "ranges/part-of-stale-page-without-validators",
    },
    "no page is fetched whole for a part, whatever the site says": {
      in: "mayFetchWhole",
      replace: "return mayBeSmall ||",
      by: "return",
      foundBy: "ranges/small-page-fetched-whole",
    },
    "a page exactly as large as the limit is not fetched whole": {
      in: "answerPart",
      replace: "<= wholeBytes",
      by: "< wholeBytes",
      foundBy: "ranges/small-page-fetched-whole",
    },
    "a page one byte larger than the limit is fetched whole": {
      in: "answerPart",
      replace:
        "(lengthBytes ?? 0) <= wholeBytes) { const fill = startFillFor(context, response.body, lengthBytes, wholeBytes)",
      by: "(lengthBytes ?? 0) <= wholeBytes + 1) { const fill = startFillFor(context, response.body, lengthBytes)",
      foundBy: "ranges/whole-page-too-large",
    },
    "no page that does not tell its length is fetched whole": {
      in: "answerPart",
      replace: "lengthBytes ?? 0",
      by: "lengthBytes ?? Number.POSITIVE_INFINITY",
      foundBy: "ranges/whole-page-without-length",
    },
    "a page that does not tell its length is read to its end, however large it is": {
      in: "answerPart",
      replace: "lengthBytes, wholeBytes)",
      by: "lengthBytes)",
      foundBy: "ranges/whole-page-too-large-without-length",
    },
    "a page that may not be stored is sent whole in place of the part": {
      in: "answerBy",
      replace: "if (facts.isPartial) return answerPart",
      by: 'if (facts.isPartial && decision.kind === "store") return answerPart',
      foundBy: "ranges/whole-page-not-storable",
    },
    "a part is cut from a page that was cut off": {
      in: "pump",
      replace: 'drop("cut-off");',
      by: 'tell({ kind: "whole", bytes: joined(chunks, readBytes) });',
      foundBy: "ranges/whole-page-cut-off",
    },
  },
  "RFC 9110 §15.5.17": {
    "the byte after the last one counts as part of the page": {
      in: "parseSpec",
      replace: "first >= lengthBytes ?",
      by: "first > lengthBytes ?",
      foundBy: "ranges/unsatisfiable-is-416",
    },
    "a part that the page does not have answered the whole page": {
      in: "answerInForm",
      drop: 'if (parsed.kind === "unsatisfiable") return unsatisfiable(context, form, fields);',
      foundBy: "ranges/unsatisfiable-is-416",
    },
    "a 416 does not give the length of the page": {
      in: "unsatisfiable",
      drop: 'headFields.set("content-range", unsatisfiedRange(found.head.bodyBytes));',
      foundBy: "ranges/unsatisfiable-is-416",
    },
    "a 416 has the fields of the page's body": {
      in: "unsatisfiable",
      replace: "const headFields = notModifiedFields(fields);",
      by: "const headFields = Fields.copy(fields);",
      foundBy: "ranges/unsatisfiable-is-416",
    },
  },
  "RFC 9110 §14.1.1": {
    "a malformed part among several is left out": {
      in: "parseRange",
      replace: 'if (part === "malformed") return { kind: "whole" };',
      by: 'if (part === "malformed") continue;',
      foundBy: "ranges/range-is-ignored",
    },
    "every range unit counts as bytes": {
      in: "parseRange",
      replace: '.toLowerCase() !== "bytes"',
      by: '.toLowerCase() === "none"',
      foundBy: "ranges/range-is-ignored",
    },
    "257 parts are answered": {
      in: "MAX_RANGES",
      replace: "const MAX_RANGES = 256;",
      by: "const MAX_RANGES = 257;",
      foundBy: "ranges/many-parts",
    },
    "256 parts are too many": {
      in: "MAX_RANGES",
      replace: "const MAX_RANGES = 256;",
      by: "const MAX_RANGES = 255;",
      foundBy: "ranges/many-parts",
    },
    "the heads of many small parts do not count": {
      in: "parseRange",
      replace: "askedBytes + headBytes",
      by: "askedBytes",
      foundBy: "ranges/many-parts",
    },
    "the heads of few small parts count": {
      in: "FREE_HEADS",
      replace: "const FREE_HEADS = 16;",
      by: "const FREE_HEADS = 15;",
      foundBy: "ranges/many-parts",
    },
    "several parts together may be larger than the page": {
      in: "parseRange",
      replace: "return askedBytes + headBytes > lengthBytes ?",
      by: "return false ?",
      foundBy: "ranges/range-is-ignored",
    },
  },
  "RFC 9110 §14.6": {
    "of several parts only the first is sent": {
      in: "answerWithParts",
      replace: "if (only && parts.length === 1)",
      by: "if (only)",
      foundBy: "ranges/several-parts",
    },
    "several parts come in another order than requested": {
      in: "mergedParts",
      replace: "a.place - b.place",
      by: "b.place - a.place",
      foundBy: "ranges/several-parts",
    },
    "the last part is not followed by the closing boundary": {
      in: "multipartByteranges",
      replace: "}--\\r\\n",
      by: "}\\r\\n",
      foundBy: "ranges/several-parts",
    },
    "the first boundary is not preceded by an empty line": {
      in: "multipartByteranges",
      replace: "pieces.push(",
      by: "pieces[0] = pieces[0].slice(2);\n  pieces.push(",
      foundBy: "ranges/several-parts",
    },
    "several parts come without their type": {
      in: "answerWithParts",
      replace: 'storedField(head, "content-type")',
      by: "null",
      foundBy: "ranges/several-parts",
    },
    "a body of several parts has the type of the page": {
      in: "answerWithParts",
      drop: 'partFields.set("content-type", multipart.contentType);',
      foundBy: "ranges/several-parts",
    },
  },
  "RFC 9110 §15.3.7.2": {
    "several parts come with the Content-Range of the whole": {
      in: "answerWithParts",
      replace: 'name !== "content-range" &&',
      by: "",
      foundBy: "ranges/several-parts-of-a-download",
    },
    "the parts of a page without a type have an empty one": {
      in: "multipartByteranges",
      replace: 'contentType === null ? ""',
      by: 'contentType === "" ? ""',
      foundBy: "ranges/parts-without-type",
    },
    "parts that touch are sent separately": {
      in: "mergedParts",
      replace: "part.first <= before.last + 1",
      by: "part.first <= before.last",
      foundBy: "ranges/overlapping-parts",
    },
    "parts with a byte between them are sent as one": {
      in: "mergedParts",
      replace: "part.first <= before.last + 1",
      by: "part.first <= before.last + 2",
      foundBy: "ranges/overlapping-parts",
    },
    "one part that the page does not have makes the answer a 416": {
      in: "parseRange",
      replace: 'if (part === "unsatisfiable") continue;',
      by: 'if (part === "unsatisfiable") return { kind: "unsatisfiable" };',
      foundBy: "ranges/overlapping-parts",
    },
  },
  "RFC 9530 §2": {
    "a part has the digest of the whole page": {
      in: "answerWithParts",
      replace: " && !OF_WHOLE_CONTENT.has(name)",
      by: "",
      foundBy: "ranges/digest-of-the-whole",
    },
  },
  "RFC 9110 §13.1.5": {
    "a part is sent to a client that holds another page": {
      in: "holdsThisForm",
      replace: 'rangeStillHolds(facts.field("if-range"), strong, ports.clock.now())',
      by: "true",
      foundBy: "ranges/if-range-decides",
    },
    "a date in If-Range counts for a text that may come in many codings": {
      in: "holdsThisForm",
      replace: "|| mayHoldCoded(facts.originView.acceptedCodings, (name) => storedField(head, name))",
      by: "",
      foundBy: "ranges/date-of-many-forms",
    },
    "a date in If-Range counts for nothing where the client accepts a coding": {
      in: "mayHoldCoded",
      replace: 'field("content-encoding") !== null || isOfType(field("content-type"), CODED_TYPES)',
      by: "true",
      foundBy: "ranges/date-of-many-forms",
    },
    "a date in If-Range counts for bytes in a coding whose type does not show that there are others": {
      in: "mayHoldCoded",
      replace: 'field("content-encoding") !== null ||',
      by: "",
      foundBy: "ranges/date-of-many-forms",
    },
    "a date in If-Range counts for no text": {
      in: "mayHoldCoded",
      drop: 'if (acceptedCodings === "identity") return false;',
      foundBy: "ranges/date-of-many-forms",
    },
    "If-Range accepts a weak entity tag": {
      in: "rangeStillHolds",
      replace: "matchesStrongly(held, stored.etag)",
      by: "held === stored.etag",
      foundBy: "ranges/if-range-decides",
    },
    "If-Range accepts a date later than the page's": {
      in: "rangeStillHolds",
      replace: "parseHttpDate(held, now) === parseHttpDate(stored.lastModified, now)",
      by: "parseHttpDate(held, now) >= parseHttpDate(stored.lastModified, now)",
      foundBy: "ranges/if-range-decides",
    },
    "If-Range accepts a date of the very second of the response": {
      in: "rangeStillHolds",
      replace: ">= 1000",
      by: ">= 0",
      foundBy: "ranges/if-range-decides",
    },
    "If-Range refuses a date one second before the response": {
      in: "rangeStillHolds",
      replace: ">= 1000",
      by: "> 1000",
      foundBy: "ranges/if-range-decides",
    },
  },
  "RFC 9110 §13.2.2": {
    "a request for a part is answered before its condition is evaluated": {
      in: "answerInForm",
      replace: "if (isHeldByClient(context, head))",
      by: 'if (!(facts.field("range") !== null) && isHeldByClient(context, head))',
      foundBy: "ranges/condition-before-range",
    },
  },
  "RFC 9111 §3.3": {
    "for a part of a page that is not stored, the whole page is requested first": {
      in: "planFetch",
      replace: "if (facts.isPartial && !mayFetchWhole(context, miss))",
      by: "if (false)",
      foundBy: "ranges/part-of-missing-page",
    },
    "a stored page does not answer a request for a part": {
      in: "modeOf",
      replace: "if (passes ||",
      by: 'if (passes || field("range") !== null ||',
      foundBy: "ranges/range-is-passed-on",
    },
    "a request for a part is forwarded as one for the whole page": {
      in: "planFetch",
      replace: "facts.isPartial && !mayFetchWhole(context, miss)",
      by: "false",
      foundBy: "ranges/range-is-passed-on",
    },
  },
  "RFC 9111 §4.3": {
    "a part of a stale page is requested from the origin, not cut from the confirmed page": {
      in: "mayFetchWhole",
      replace: "|| conditionsOf(context, miss) !== null",
      by: "",
      foundBy: "ranges/part-after-validation",
    },
  },
  "docs/protocol.md#what-a-purge-promises": {
    "a part is cut from a purged page": {
      in: "judge",
      replace: 'if (answer === "purged")',
      by: "if (false)",
      foundBy: "ranges/part-of-purged-page",
    },
  },
  "RFC 9111 §4.3.3": {
    "each part of a stale page that has changed costs the origin a request for the whole as well": {
      in: "answerPart",
      drop: "if (toValidate && isOutdated && !mayBeStored) forgetOutdated(context, toValidate);",
      foundBy: ["ranges/parts-of-changed-page", "ranges/part-of-changed-page-cut-off"],
    },
    "a small page that has changed is thrown away for a part of it": {
      in: "answerPart",
      replace: "lengthBytes === null || toValidate === null ? 0 : toValidate.head.bodyBytes",
      by: "0",
      foundBy: "ranges/part-of-small-changed-page",
    },
    "a page that has changed and does not tell its length is read for a part of it": {
      in: "answerPart",
      replace: "lengthBytes === null || toValidate === null",
      by: "toValidate === null",
      foundBy: "ranges/part-of-changed-page-without-length",
    },
    "a page that is stored apart from its head is read into memory for a part of it": {
      in: "answerPart",
      replace: "&& !decision.isLarge",
      by: "",
      foundBy: "ranges/part-of-changed-page-large",
    },
  },
  "docs/http.md#collapsed-requests": {
    "no request waits for a page that is fetched whole for a part": {
      in: "collapse",
      replace: "fetchAndStore(context, miss, begun.fetch)",
      by: "fetchAndStore(context, miss, context.facts.isPartial ? null : begun.fetch)",
      foundBy: "ranges/whole-page-and-followers",
    },
  },
  "RFC 5861 §3": {
    "behind a stale part only the part is refetched": {
      in: "RequestFacts.forWholePage",
      replace: "this.#circumstances, true)",
      by: "this.#circumstances, false)",
      foundBy: "ranges/part-while-revalidating",
    },
  },
  "RFC 5861 §4": {
    "no part of a stale page without validators replaces a failed origin's answer": {
      in: "fetchOnce",
      replace: "if (answer) return answer;",
      by: "if (answer && !miss.asks) return answer;",
      foundBy: "ranges/part-on-error-without-validators",
    },
    "the origin is asked a second time before a part of a stale page replaces its error": {
      in: "fetchOnce",
      replace: "const answer = await staleAnswer(context, miss, result);",
      by: "const answer = context.facts.isPartial ? null : await staleAnswer(context, miss, result);",
      foundBy: "ranges/part-on-error",
    },
  },
};
