import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of dictionaries. */
export const mutants: Mutants = {
  "RFC 9842 §9.2": {
    "what credentials have made becomes a dictionary": {
      in: "mayBecomeDictionary",
      replace: "!request.authorized &&",
      by: "",
      foundBy: "deltas/credentials",
    },
    "bytes that were not admitted are compressed by those of everybody": {
      in: "NodeCompression.#deltaFor",
      replace: "form === null || !isAdmitted",
      by: "form === null",
      foundBy: "deltas/credentials",
    },
    "a request with credentials gets what has changed": {
      in: "Deltas.#formFor",
      drop: 'if (facts.authorized) return "credentials";',
      foundBy: "deltas/request-with-credentials",
    },
  },
  "docs/server.md#deltas": {
    "a page that one visitor does not want stored is asked for in a coding by all": {
      in: "answerFetched",
      replace: 'decision.because === "request-no-store" || ',
      by: "",
      foundBy: "deltas/no-store-request",
    },
    "the origin is offered codings on a route with deltas": {
      in: "OriginView.value",
      replace: 'this.#rules.asksPlain ? "identity" : this.acceptedCodings',
      by: "this.acceptedCodings",
      foundBy: "deltas/plain-from-origin",
    },
    "a part is asked for in another coding than the whole page": {
      in: "fetchOnce",
      replace: "storing: true",
      by: "storing: !asks",
      foundBy: "deltas/plain-from-origin",
    },
    "what the origin encodes against the edge's wish is fetched for each visitor": {
      in: "matchesVariant",
      replace: "acceptsCoding(request.acceptedCodings, contentEncoding)",
      by: 'acceptsCoding(request.value("accept-encoding")!, contentEncoding)',
      foundBy: "deltas/origin-encodes-anyway",
    },
    "what the origin encodes for a visitor who accepts it is for those who do not": {
      in: "variantOf",
      replace: "isCoded && name",
      by: "false && name",
      foundBy: "deltas/encoded-for-one-who-asks",
    },
    "a page that is not stored is asked for plain each time": {
      in: "rememberUnstored",
      replace: "&& !resolved.route.asksPlain",
      by: "",
      foundBy: "deltas/not-stored",
    },
    "a page that varies by a field which selects nothing here is a dictionary": {
      in: "dictionaryUse",
      drop: 'if (!varyNamesOnlyCodings(field("vary"))) return "keyed";',
      foundBy: "deltas/keyed",
    },
    "a part of a page is a dictionary": {
      in: "dictionaryUse",
      replace: '|| selectedBy.some((name) => name !== "accept-encoding")',
      by: "",
      foundBy: "deltas/keyed",
    },
    "what is private for browsers is a dictionary": {
      in: "dictionaryUse",
      drop: 'if (directives.some((text) => parseCacheControl(text).private !== "absent")) return "private";',
      foundBy: "deltas/private",
    },
    "a version of another file is a dictionary": {
      in: "dictionaries:nameOf",
      replace: "return `${family} ${hash}`;",
      by: 'return family === "" ? "" : hash;',
      foundBy: "deltas/other-family",
    },
    "a purge of everything leaves dictionaries": {
      in: "isInForce",
      replace: 'return answer === "not-purged" || answer === "soft";',
      by: 'return answer !== "unknown";',
      foundBy: "deltas/everything-purged",
    },
    "a purge of a page ends its dictionaries": {
      in: "Dictionaries.admit",
      replace: "const head = { ...OF_NO_URL, stamp };",
      by: 'const head = { key: made.family.replace(" ", ""), givenPurgeKeys: [], stamp };',
      foundBy: "deltas/purged-page",
    },
    "a soft purge of everything ends dictionaries": {
      in: "isInForce",
      replace: '|| answer === "soft"',
      by: "",
      foundBy: "deltas/everything-made-stale",
    },
    "a version that was fetched after a purge of everything keeps its old stamp": {
      in: "Dictionaries.admit",
      drop: "if (isNews) known.head",
      foundBy: "deltas/everything-purged",
    },
    "a version is a dictionary for ever": {
      in: "isCurrent",
      replace: "return ports.clock.now() - sentAt <= keepMs;",
      by: "return ports.clock.now() - sentAt >= 0 && keepMs > 0;",
      foundBy: "deltas/kept-for-a-while",
    },
    "a version that is sent again is not kept for longer": {
      in: "Dictionaries.sent",
      drop: "kept.sentAt = request.ports.clock.now();",
      foundBy: "deltas/kept-for-a-while",
    },
    "the first visitor with an older version has nothing made": {
      in: "NodeCompression.#deltaFor",
      drop: "this.#makeBehind(request, key, body, form);",
      foundBy: "deltas/purged-page",
    },
    "a form by a dictionary goes out although the usual one is smaller": {
      in: "NodeCompression.formFor",
      replace: "delta.bytes.byteLength >= insteadOfBytes",
      by: "insteadOfBytes === 0",
      foundBy: "deltas/not-smaller",
    },
    "routes without the setting make dictionaries": {
      in: "Deltas.useOf",
      replace: "if (rules === undefined) return null;",
      by: 'if (rules === undefined) return { match: "/*", family: "", keepMs: 1 };',
      foundBy: "deltas/match-of-the-route",
    },
  },
  "RFC 9842 §2": {
    "a form by a dictionary does not begin with the dictionary's hash": {
      in: "dictionaryHeader",
      replace: "...sha256",
      by: "...sha256.toReversed()",
      foundBy: "deltas/hashed-name",
    },
    "a dictionary is not announced": {
      in: "setFieldsOfForms",
      drop: 'fields.set("use-as-dictionary", `match=${quoted(match)}`);',
      foundBy: "deltas/hashed-name",
    },
    "the forms do not vary by the dictionary": {
      in: "setFieldsOfForms",
      drop: 'fields.set("vary", variedBy(fields.get("vary"), "Available-Dictionary"));',
      foundBy: "deltas/hashed-name",
    },
  },
  "RFC 9842 §2.2": {
    "a hash that is not well formed is read all the same": {
      in: "available-dictionary:read",
      replace: "/^ *:",
      by: "/ *:?",
      foundBy: "deltas/unknown-hash",
    },
  },
  "RFC 9842 §2.2.1": {
    "a page without a lifetime in browsers is a dictionary": {
      in: "dictionaryUse",
      drop: 'if (!mayBrowsersUse(response)) return "no-browser-lifetime";',
      foundBy: "deltas/no-browser-lifetime",
    },
  },
  "RFC 9842 §8": {
    "pages over http are dictionaries": {
      in: "dictionaryUse",
      drop: 'if (!isSecure(scheme, host)) return "insecure";',
      foundBy: "deltas/insecure",
    },
  },
  "RFC 9842 §6": {
    "a coding with a dictionary is sent to a client that wants another one more": {
      in: "wantedDictionaryCodings",
      replace: "most > 0 && weights.get(coding) === most",
      by: "(weights.get(coding) ?? 0) > 0 && most > 0",
      foundBy: "deltas/weights",
    },
  },
  "RFC 9111 §5.2.2.6": {
    "no-transform of a request does not keep it from getting what has changed": {
      in: "NodeCompression.#deltaFor",
      replace: "this.#refusesCodings(request) ? null :",
      by: "",
      foundBy: "deltas/no-transform",
    },
  },
};
