import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of what a 304 or a HEAD changes. */
export const mutants: Mutants = {
  "RFC 9111 §3.2": {
    "a 304 changes no stored field": {
      in: "freshenFields",
      replace: "return new Fields([...stored.filter((name) => !taken.has(name)), ...taken]);",
      by: "return new Fields(stored);",
      foundBy: "freshening/fields-are-replaced",
    },
    "the lines of a 304 are added to the stored ones of the same name": {
      in: "freshenFields",
      replace: "return new Fields([...stored.filter((name) => !taken.has(name)), ...taken]);",
      by: "return new Fields([...stored, ...taken]);",
      foundBy: "freshening/fields-are-replaced",
    },
    "a 304 replaces the coding of the stored bytes": {
      in: "NEVER_FROM_304",
      replace: '"content-encoding",',
      by: "",
      foundBy: "freshening/content-fields-stay",
    },
    "a 304 brings the digest of its own content": {
      in: "NEVER_FROM_304",
      replace: "...DIGESTS,",
      by: "",
      foundBy: "freshening/content-fields-stay",
    },
    "a 304 brings the digest of the form in another coding": {
      in: "NEVER_FROM_304",
      replace: "...DIGESTS,",
      by: '"content-digest", "content-md5",',
      foundBy: "freshening/content-fields-stay",
    },
    "a 304 turns the stored bytes into a part": {
      in: "NEVER_FROM_304",
      replace: '"content-range",',
      by: "",
      foundBy: "freshening/content-fields-stay",
    },
  },
  "RFC 9111 §4.3.4": {
    "fields that a 304 does not have are removed": {
      in: "freshenFields",
      replace: "return new Fields([...stored.filter((name) => !taken.has(name)), ...taken]);",
      by: "return new Fields(taken);",
      foundBy: "freshening/304-without-lifetime",
    },
    "a page keeps its earlier lifetime, whatever the 304 says": {
      in: "freshen",
      replace: "head: { ...decision.head, givenPurgeKeys,",
      by: "head: { ...decision.head, freshnessSeconds: head.freshnessSeconds, givenPurgeKeys,",
      foundBy: "freshening/lifetime-of-304",
    },
    "a 304 without a validator confirms nothing": {
      in: "confirms",
      replace: "if (etag === null && lastModified === null) return true;",
      by: "if (etag === null && lastModified === null) return false;",
      foundBy: "freshening/304-without-validator",
    },
    "a 304 with another entity tag confirms the stored page": {
      in: "confirms",
      replace: "return matchesWeakly(stored.etag, etag);",
      by: "return true;",
      foundBy: "freshening/304-with-another-tag",
    },
    "a 304 with another Last-Modified confirms the stored page": {
      in: "confirms",
      replace: "stored.lastModified === lastModified",
      by: "stored.lastModified !== null",
      foundBy: "freshening/304-with-another-date",
    },
    "a strong entity tag in a 304 does not confirm a page with the weak one": {
      in: "confirms",
      replace: "matchesWeakly(stored.etag, etag);",
      by: "stored.etag === etag;",
      foundBy: "freshening/304-strong-for-weak",
    },
    "a page takes the strong entity tag of a 304 in place of its weak one": {
      in: "freshenFields",
      replace: '&& !(keepsTag && name === "etag")',
      by: "",
      foundBy: "freshening/304-strong-for-weak",
    },
    "a page that a 304 did not confirm is requested again under the same conditions": {
      in: "answerFreshened",
      replace: "{ ...miss, toValidate: null }, tellFollowers",
      by: "miss, tellFollowers",
      foundBy: "freshening/304-with-another-tag",
    },
    "a page stays stored although a 304 says private": {
      in: "isWithdrawal",
      replace: 'because === "private" ||',
      by: "",
      foundBy: "freshening/304-with-private",
    },
    "a confirmed page that is not stored shows all the origin's fields": {
      in: "freshen",
      replace: "clientFields(context, fields))",
      by: "fields)",
      foundBy: "freshening/304-with-private",
    },
    "a confirmed page that is not stored keeps its earlier age": {
      in: "freshen",
      replace: "fields: lines, receivedAt, initialAgeMs: age }",
      by: "fields: lines }",
      foundBy: "freshening/304-with-private",
    },
    "a page stays stored although a 304 says no-store": {
      in: "isWithdrawal",
      replace: '|| because === "no-store"',
      by: "",
      foundBy: "freshening/304-with-no-store",
    },
    "a page stays stored although a 304's Cache-Control cannot be read": {
      in: "isWithdrawal",
      replace: '|| because === "unreadable-cache-control"',
      by: "",
      foundBy: "freshening/304-with-unreadable-cache-control",
    },
    "a page stays stored although a 304 says that it varies by everything": {
      in: "isWithdrawal",
      replace: '|| because === "vary"',
      by: "",
      foundBy: "freshening/304-with-vary-of-everything",
    },
    "a 304 loses the place of a body that is stored apart": {
      in: "freshen",
      replace: "givenPurgeKeys, bodyBytes, bodyKey }",
      by: "givenPurgeKeys, bodyBytes, bodyKey: null }",
      foundBy: "freshening/large-page-is-confirmed",
    },
  },
  "RFC 9111 §3.1": {
    "hop-by-hop fields of a 304 are stored": {
      in: "freshenFields",
      replace: "&& !ownHop.has(name)",
      by: "",
      foundBy: "freshening/hop-by-hop-fields",
    },
    "fields that a 304's Connection names are stored": {
      in: "freshenFields",
      replace: 'from304.get("connection")',
      by: "null",
      foundBy: "freshening/hop-by-hop-fields",
    },
  },
  "RFC 9111 §4.2.3": {
    "the Age of a 304 does not count": {
      in: "freshen",
      replace: "head: { ...decision.head, givenPurgeKeys,",
      by: "head: { ...decision.head, initialAgeMs: 0, givenPurgeKeys,",
      foundBy: "freshening/age-of-304",
    },
    "after a 304 a page is as old as when it first came": {
      in: "freshen",
      replace: "head: { ...decision.head, givenPurgeKeys,",
      by: "head: { ...decision.head, initialAgeMs: head.initialAgeMs, givenPurgeKeys,",
      foundBy: "freshening/age-of-304",
    },
    "the time that the origin takes is not part of the age": {
      in: "decideStorage",
      replace: "requestedAt: fetchedAt",
      by: "requestedAt: receivedAt",
      foundBy: "freshening/validation-delay-counts",
    },
  },
  "RFC 9110 §6.6.1": {
    "a 304 without a Date takes the stored Date": {
      in: "freshenedFields",
      replace: 'if (!from304.has("date"))',
      by: "if (false)",
      foundBy: "freshening/304-without-date",
    },
  },
  "RFC 9111 §7.3": {
    "a cookie on a 304 reaches no client": {
      in: "answerFreshened",
      replace: ": notModified.fields.getSetCookie();",
      by: ": [];",
      foundBy: "freshening/304-with-cookie",
    },
    "a cookie on a 304 is stored with the page": {
      in: "NEVER_FROM_304",
      replace: '"set-cookie",',
      by: "",
      foundBy: "freshening/304-with-cookie",
    },
  },
  "docs/http.md#cookies-sessions-and-authorization": {
    "a 304 that may not be stored because of what its request carried ends the stored page": {
      in: "forgetWithdrawn",
      replace: "if (isWithdrawal(notStored?.because ?? null)) forgetOutdated(context, stored);",
      by: "if (notStored !== null) context.background.run(context.ports.store.forget(stored.head.key));",
      foundBy: "freshening/304-for-one-visitor",
    },
    "a 304 that says private to a request with a session ends the page for everybody": {
      in: "speaksForEverybody",
      wrap: "() => true",
      foundBy: "freshening/304-for-one-visitor",
    },
  },
  R17: {
    "after a 304 a page has only the tags of the 304": {
      in: "freshen",
      replace: "[...decision.head.givenPurgeKeys, ...head.givenPurgeKeys]",
      by: "[...decision.head.givenPurgeKeys]",
      foundBy: "freshening/purged-by-first-tag",
    },
    "a page keeps its tags and gets none of the 304's": {
      in: "freshen",
      replace: "[...decision.head.givenPurgeKeys, ...head.givenPurgeKeys]",
      by: "[...head.givenPurgeKeys]",
      foundBy: "freshening/purged-by-added-tag",
    },
    "a 304 that has no tags of its own removes a page's tags": {
      in: "freshen",
      replace: "[...decision.head.givenPurgeKeys, ...head.givenPurgeKeys]",
      by: "decision.head.givenPurgeKeys.some((key) => key.startsWith('#')) ? [...decision.head.givenPurgeKeys, ...head.givenPurgeKeys] : decision.head.givenPurgeKeys",
      foundBy: "freshening/purged-by-kept-tag",
    },
  },
  "docs/http.md#limits": {
    "the number of tags that 304s add is not limited": {
      in: "collectTags",
      replace: "new Set([...tags, ...earlierTags]).size > maxTags",
      by: "tags.size > maxTags",
      foundBy: "freshening/304-with-many-tags",
    },
    "a page with exactly as many tags as the limit is refused after a 304": {
      in: "collectTags",
      replace: ".size > maxTags",
      by: ".size > maxTags - Math.min(1, earlierTags.length)",
      foundBy: "freshening/304-with-many-tags",
    },
  },
  "RFC 9111 §4.3.5": {
    "a HEAD freshens nothing": {
      in: "freshenByHead",
      replace: '? "nothing" : "freshen"',
      by: '? "nothing" : "nothing"',
      foundBy: "freshening/head-with-same-tag",
    },
    "a HEAD's weak entity tag does not match the stored strong one": {
      in: "freshenByHead",
      replace: "!matchesWeakly(etag, stored.etag)",
      by: "etag !== stored.etag",
      foundBy: "freshening/head-with-weak-tag",
    },
    "a HEAD with a Last-Modified and no entity tag proves nothing": {
      in: "freshenByHead",
      replace: "return etag === null && lastModified === null",
      by: "return etag === null",
      foundBy: "freshening/head-with-same-date",
    },
    "a HEAD is forwarded with the stored page's conditions": {
      in: "forwardHead",
      replace: "{ storing: true,",
      by: '{ storing: true, conditions: () => [["if-none-match", validatorsOf(miss.selected!.head).etag ?? "*"]],',
      foundBy: "freshening/head-with-same-tag",
    },
    "a HEAD with another entity tag is ignored": {
      in: "freshenByHead",
      replace: "if (etag !== null && (",
      by: "if (false && (",
      foundBy: "freshening/head-with-another-tag",
    },
    "a HEAD with another Last-Modified freshens the stored page": {
      in: "freshenByHead",
      replace: "if (lastModified !== null &&",
      by: "if (false &&",
      foundBy: "freshening/head-with-another-date",
    },
    "a HEAD with another length freshens the stored page": {
      in: "freshenByHead",
      replace: "bodyBytes !== stored.bodyBytes",
      by: "false",
      foundBy: "freshening/head-with-another-length",
    },
    "the length in another coding is compared": {
      in: "freshenByHead",
      replace: "head.contentEncoding === stored.contentEncoding",
      by: "true",
      foundBy: "freshening/head-in-another-coding",
    },
    "a HEAD of the same length freshens the stored page": {
      in: "freshenByHead",
      replace: '? "nothing" : "freshen"',
      by: '? "freshen" : "freshen"',
      foundBy: "freshening/head-without-validator",
    },
    "a HEAD stores a page again that a POST has invalidated meanwhile": {
      in: "forwardHead",
      replace: "storeUnlessPurged(context, freshened.stored, tellNobody)",
      by: "ports.store.keep(freshened.stored)",
      foundBy: "freshening/invalidated-while-head-confirms",
    },
    "a page stays stored although a HEAD says private": {
      in: "forwardHead",
      drop: "if (freshened) forgetWithdrawn(context, freshened);",
      foundBy: "freshening/head-with-private",
    },
    "an error in answer to a HEAD is compared with the stored page": {
      in: "forwardHead",
      replace: "response.status === 200 &&",
      by: "",
      foundBy: "freshening/head-with-error",
    },
    "a HEAD of one visitor ends the page for everybody": {
      in: "forwardHead",
      replace: 'if (effect === "invalidate") forgetOutdated(context, stored);',
      by: 'if (effect === "invalidate") background.run(ports.store.forget(stored.head.key));',
      foundBy: "freshening/head-for-one-visitor",
    },
  },
  R2: {
    "a page that a HEAD confirmed is stamped at the answer's arrival": {
      in: "forwardHead",
      replace: "freshen(context, stored, response)",
      by: "freshen(context, stored, { ...response, stamp: ports.purges.stamp() })",
      foundBy: "freshening/purge-during-head",
    },
  },
};
