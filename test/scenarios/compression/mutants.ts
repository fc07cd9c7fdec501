import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of compressing. */
export const mutants: Mutants = {
  "docs/server.md#compression": {
    "a client that may hold a coded form gets a part of the plain page": {
      in: "withoutDoubtfulRange",
      replace: "held === null ||",
      by: "true ||",
      foundBy: "compression/part-of-missing-page",
    },
    "a client that goes past the cache may get a part of the plain page": {
      in: "forward",
      replace: "withoutDoubtfulRange(withWholeQuery(asked))",
      by: "withWholeQuery(asked)",
      foundBy: "compression/part-of-missing-page",
    },
    "a client that names the time of its coded form gets a part of the plain page": {
      in: "withoutDoubtfulRange",
      replace: '?? facts.field("if-unmodified-since")',
      by: "",
      foundBy: "compression/part-of-missing-page",
    },
    "a PUT for a part is sent as one for the whole": {
      in: "withoutDoubtfulRange",
      replace: '|| facts.method !== "GET"',
      by: "",
      foundBy: "compression/part-of-missing-page",
    },
    "who asks for a part of a page that nobody codes gets the whole": {
      in: "withoutDoubtfulRange",
      replace: "|| resolved.route.pass",
      by: "",
      foundBy: "compression/part-of-missing-page",
    },
    "the plain form does not name Accept-Encoding in its Vary": {
      in: "HeadForms.constructor",
      replace: "this.plain = changedHead(stored, { fields: plainFormFields(stored.fields, this.#match) });",
      by: "this.plain = stored;",
      foundBy: "compression/behind-the-first-answer",
    },
    "an answer that is passed on while it is stored does not vary": {
      in: "NodeCompression.mark",
      drop: "setFieldsOfForms(fields, this.#useOf(request, head, bodyBytes)?.match ?? null);",
      foundBy: "compression/behind-the-first-answer",
    },
    "the compressed form has the strong tag of the plain one": {
      in: "weakened",
      replace: "return isWeak(tag) ? tag :",
      by: "return tag.length > 0 ? tag :",
      foundBy: "compression/behind-the-first-answer",
    },
    "a page is first compressed when it is asked for again": {
      in: "storeUnlessPurged",
      drop: "compression?.prepare(context, stored, kept);",
      foundBy: "compression/behind-the-first-answer",
    },
    "the least size counts as too small": {
      in: "whyPlain",
      replace: "bodyBytes < rules.minBytes",
      by: "bodyBytes <= rules.minBytes",
      foundBy: "compression/only-plain-text-of-some-size",
    },
    "no body is too large": {
      in: "whyPlain",
      replace: "|| bodyBytes > rules.maxBytes",
      by: "",
      foundBy: "compression/only-plain-text-of-some-size",
    },
    "a picture is compressed": {
      in: "whyPlain",
      replace: "if (!isOfType(",
      by: 'if (field("content-type") === null && !isOfType(',
      foundBy: "compression/only-plain-text-of-some-size",
    },
    "a stored error is compressed": {
      in: "whyPlain",
      drop: 'if (status !== 200) return "status";',
      foundBy: "compression/only-200",
    },
    "a compressed form is sent although it is larger": {
      in: "NodeCompression.#make",
      replace: "const isWorth = bytes.byteLength <= bytesWithout(form, body, of) * WORTH;",
      by: "const isWorth = true;",
      foundBy: "compression/not-smaller",
    },
    "pages are compressed without the setting": {
      in: "compressionSettings",
      replace: "if (compression === undefined) return null;",
      by: "if (compression === undefined) return compressionSettings({ compression: {} });",
      foundBy: "compression/off",
    },
  },
  "RFC 9110 §12.5.5": {
    "the Vary of the origin is lost": {
      in: "variedBy",
      replace: 'names.some((name) => name !== "")',
      by: 'names.some((name) => name === "-")',
      foundBy: "compression/vary",
    },
    "Accept-Encoding is added to a Vary that names it": {
      in: "variedBy",
      replace: "names.includes(field.toLowerCase()) ||",
      by: "",
      foundBy: "compression/vary",
    },
  },
  "RFC 9110 §12.5.3": {
    "a weight of 0 does not refuse": {
      in: "wantedCodings",
      replace: "weightOf(coding) > 0 &&",
      by: "weights.has(coding) && weightOf(coding) >= 0 &&",
      foundBy: "compression/weights",
    },
    "the weight of identity does not count": {
      in: "wantedCodings",
      replace: "&& weightOf(coding) >= identity",
      by: "",
      foundBy: "compression/weights",
    },
    "the order of the settings counts more than the weights": {
      in: "wantedCodings",
      replace: "weightOf(other) - weightOf(one)",
      by: "0",
      foundBy: "compression/weights",
    },
    "a star does not stand for the codings that are not named": {
      in: "wantedCodings",
      replace: '?? weights.get("*") ?? 0;',
      by: "?? 0;",
      foundBy: "compression/weights",
    },
  },
  "RFC 9111 §5.2.2.6": {
    "no-transform does not forbid compressing": {
      in: "whyPlain",
      drop: 'if (directives.some(forbidsTransforming)) return "no-transform";',
      foundBy: "compression/no-transform",
    },
    "no-transform in a targeted field does not count": {
      in: "directivesOf",
      replace: 'name.endsWith("cache-control")',
      by: 'name === "cache-control"',
      foundBy: "compression/no-transform",
    },
    "no-transform of a request does not count": {
      in: "NodeCompression.#refusesCodings",
      replace: '.some(({ name }) => name === "no-transform")',
      by: ".some(() => false)",
      foundBy: "compression/no-transform",
    },
  },
  "RFC 9530 §3": {
    "a page is compressed although it has a digest of its bytes": {
      in: "whyPlain",
      drop: 'if (ABOUT_BYTES.some((name) => field(name) !== null)) return "digest";',
      foundBy: "compression/digests",
    },
  },
  "RFC 9110 §13.1.2": {
    "a 304 has the strong tag, whatever the client has named": {
      in: "heldForm",
      replace: 'matchesWeakly(tag, etag)) ? "weak" : null;',
      by: 'matchesWeakly(tag, etag)) ? "plain" : null;',
      foundBy: "compression/conditions",
    },
    "a 304 has the weak tag, although the client has named the strong one": {
      in: "heldForm",
      replace: 'tags.includes(etag)) return "plain";',
      by: 'tags.includes(etag)) return "weak";',
      foundBy: "compression/conditions",
    },
  },
  "RFC 9110 §13.1.5": {
    "parts are cut from the compressed bytes": {
      in: "NodeCompression.#refusesCodings",
      replace: "if (request.incoming.child || mayBePart(request)) return true;",
      by: "",
      foundBy: "compression/parts",
    },
    "a date in If-Range counts although it is that of both forms": {
      in: "holdsThisForm",
      replace: "isCodedHere ||",
      by: "",
      foundBy: "compression/parts",
    },
  },
  "RFC 9110 §9.3.2": {
    "HEAD has the length of the plain bytes": {
      in: "HeadForms.coded",
      replace: "changedHead(this.#stored, { fields, bodyBytes });",
      by: "changedHead(this.#stored, { fields });",
      foundBy: "compression/head",
    },
  },
  "RFC 9111 §4.3.4": {
    "a page that the origin has confirmed loses its compressed forms": {
      in: "freshen",
      replace: "head: { ...decision.head, givenPurgeKeys, bodyBytes, bodyKey }, body }",
      by: "head: { ...decision.head, givenPurgeKeys, bodyBytes, bodyKey }, body: body && new Uint8Array(body) }",
      foundBy: "compression/freshened",
    },
  },
};
