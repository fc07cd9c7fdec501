import type { Mutants } from "./mutant.ts";

const ACCEPT_ENCODING = "worker/rules/variants/accept-encoding.ts";
const STORAGE_DECISION = "worker/flow/storing/storage-decision.ts";
const SELECTION = "worker/flow/selection.ts";
const VARY = "worker/rules/variants/vary.ts";

const CHOICES = "a page that varies has an entry for each choice, also for none, and each gets its own";
const SEVERAL_FIELDS = "a page may vary by several fields, in any order, case, and number of lines";
const SAME_MEANING = "choices that mean the same share an entry: spaces, and letter case where it does not count";
const LENGTHS = "values that select may have 512 characters together, and no more";
const CHANGING = "a page that begins to vary, and ceases to, is answered as the origin says at the time";
const LATEST = "where the page varies by other fields than before, the latest answer that a request matches counts";
const LEAST_USED = "a page has so many variants at most, and the one that was not used for the longest time goes";
const OTHER_VARIANT =
  "the origin may say that another variant in hand is the one: it is answered, and kept for both choices";
const COOKIE =
  "a page that varies by Cookie is one entry for all who have none, and a session neither makes nor gets one";
const ASKED_CODINGS = "the origin is asked for the codings that the client accepts, in one text for each set of them";
const FOR_EVERYBODY = "a page without a coding, or with that of identity, serves everybody";

function isNotStored(vary: string): string {
  return `Vary: ${vary} names what no second request can be known to share, so nothing is stored`;
}

/** Wrong rules of variants and content codings. */
export const variants: Mutants = {
  "values-are-not-compared": {
    name: "any value of a selecting field matches",
    file: VARY,
    from: ": asked === value;",
    to: ": true;",
    reddens: CHOICES,
  },
  "missing-choice-is-a-missing-page": {
    name: "a missing variant is told as a missing page",
    file: "worker/flow/miss.ts",
    from: 'toValidate.length > 0 ? "vary-miss" : "uri-miss"',
    to: '"uri-miss"',
    reddens: CHOICES,
  },
  "absent-is-empty": {
    name: "a field that is not sent counts as an empty one",
    file: VARY,
    from: "if (value === null) return null;",
    to: 'if (value === null) return "";',
    reddens: "a field that is empty is another choice than one that is not sent",
  },
  "one-field-selects": {
    name: "only the first field in a Vary selects",
    file: VARY,
    from: 'for (const member of vary.split(","))',
    to: 'for (const member of vary.split(",").slice(0, 1))',
    reddens: SEVERAL_FIELDS,
  },
  "one-field-will-do": {
    name: "a variant is selected if one of its fields matches",
    file: VARY,
    from: "return variant.every(",
    to: "return variant.some(",
    reddens: SEVERAL_FIELDS,
  },
  "empty-member-is-garbage": {
    name: "an empty member of a Vary may mean anything",
    file: VARY,
    from: 'if (name === "") continue;',
    to: "",
    reddens: SEVERAL_FIELDS,
  },
  "case-counts-in-lists": {
    name: "letter case counts in Accept-Language",
    file: VARY,
    from: "if (!CASELESS_LISTS.has(name))",
    to: "if (true)",
    reddens: SAME_MEANING,
  },
  "case-counts-nowhere": {
    name: "letter case does not count in any field",
    file: VARY,
    from: 'return trimmedAround(",", value);',
    to: 'return trimmedAround(",", value.toLowerCase());',
    reddens: SAME_MEANING,
  },
  "quotes-hold-nothing": {
    name: "spaces in a quoted string do not count",
    file: VARY,
    from: "if (value.includes('\"')) return value.trim();",
    to: "",
    reddens: SAME_MEANING,
  },
  "star-is-a-name": {
    name: "Vary: * names a field",
    file: VARY,
    from: 'if (name === "*" || !isToken(name)) return "*";',
    to: 'if (!isToken(name)) return "*";',
    reddens: isNotStored("*"),
  },
  "star-is-read-first-alone": {
    name: "a * counts only at the beginning of a Vary",
    file: VARY,
    from: 'if (name === "*" || !isToken(name)) return "*";',
    to: 'if ((name === "*" && vary.startsWith("*")) || !isToken(name)) return "*";',
    reddens: isNotStored("accept-language, *"),
  },
  "star-counts-alone": {
    name: "a * beside names is one of them",
    file: VARY,
    from: 'if (name === "*" || !isToken(name)) return "*";',
    to: 'if (vary === "*" || !isToken(name)) return "*";',
    reddens: isNotStored("*, accept-language"),
  },
  "garbage-is-a-name": {
    name: "what is no name in a Vary selects nothing",
    file: VARY,
    from: 'if (name === "*" || !isToken(name)) return "*";',
    to: 'if (name === "*") return "*";\n    if (!isToken(name)) continue;',
    reddens: isNotStored("accept language"),
  },
  "address-is-a-choice": {
    name: "the visitor's address is taken for the field that he sent",
    file: VARY,
    from: 'named.some((name) => meaningInVary(name) === "unknowable")',
    to: "false",
    reddens: isNotStored("x-real-ip"),
  },
  "underscores-hide-the-address": {
    name: "the visitor's address is not known under a name with underscores",
    file: "worker/rules/request/request-fields.ts",
    from: 'name.replaceAll("_", "-")',
    to: "name",
    reddens: isNotStored("X_Forwarded_For"),
  },
  "keyed-fields-select": {
    name: "fields that the origin always gets the same make variants",
    file: "worker/rules/request/request-fields.ts",
    from: '"answered-here": { asSent: "unless-stored", inVary: "nothing"',
    to: '"answered-here": { asSent: "unless-stored", inVary: "selects"',
    reddens: "a Vary by fields that the origin always gets the same, or that are in the key, makes no variants",
  },
  "limit-of-values-is-outside": {
    name: "values of just the longest length are too long",
    file: VARY,
    from: "> MAX_VALUE_CHARACTERS",
    to: ">= MAX_VALUE_CHARACTERS",
    reddens: LENGTHS,
  },
  "values-have-no-limit": {
    name: "a client's own text makes a variant, however long",
    file: "worker/rules/storing/may-store.ts",
    from: "if (isVariantTooLong(variant))",
    to: "if (false)",
    reddens: LENGTHS,
  },
  "nothing-leads-to-a-variant": {
    name: "a variant is stored, and nothing that leads to it",
    file: SELECTION,
    from: "ports.store.keep(marker), ",
    to: "",
    reddens: CHANGING,
  },
  "varies-for-ever": {
    name: "a page that has varied once varies for ever",
    file: SELECTION,
    from: "if (stored.head.variant.length === 0) return",
    to: "if (stored.head.variant.length === 0 && markerInMemory(context)) return;\n  if (stored.head.variant.length === 0) return",
    reddens: CHANGING,
  },
  "last-used-counts": {
    name: "of several variants that match, the last one used counts",
    file: SELECTION,
    from: "if (latest && latest.fetchedAt >= variant.fetchedAt) continue;",
    to: "if (latest) continue;",
    reddens: LATEST,
  },
  "oldest-counts": {
    name: "of several variants that match, the oldest counts",
    file: SELECTION,
    from: "latest.fetchedAt >= variant.fetchedAt",
    to: "latest.fetchedAt <= variant.fetchedAt",
    reddens: LATEST,
  },
  "304-says-no-vary": {
    name: "a Vary that a 304 brings is not read",
    file: "worker/flow/storing/freshening.ts",
    from: "head: { ...verdict.head, purgeKeys,",
    to: "head: { ...verdict.head, key: head.key, variant: head.variant, purgeKeys,",
    reddens: "a 304 that says what the page varies by makes it an entry for the one choice that asked",
  },
  "variants-have-no-limit": {
    name: "a page may have any number of variants",
    file: "worker/site/site.ts",
    from: "variants: site.limits.variants,",
    to: "variants: 1000,",
    reddens: LEAST_USED,
  },
  "use-does-not-count": {
    name: "a variant that is used stays at its place",
    file: SELECTION,
    from: "store.remember(withFirst(stored, at))",
    to: "at",
    reddens: LEAST_USED,
  },
  "order-of-use-is-forgotten": {
    name: "what lies in the shared tier outranks what this isolate knows of use",
    file: SELECTION,
    from: "mergeMarkers({ ...found, variants: news }, held)",
    to: "mergeMarkers(found, held)",
    reddens: LEAST_USED,
  },
  "learned-variants-have-no-limit": {
    name: "what an isolate hears of variants has no limit",
    file: SELECTION,
    from: "variants: variants.slice(0, maxVariants)",
    to: "variants",
    reddens: "an isolate that hears of variants from another one keeps no more of them than the limit",
  },
  "variants-are-in-memory-alone": {
    name: "a variant is looked for in memory alone",
    file: SELECTION,
    from: "await store.lookUp(found.key)",
    to: "store.recall(found.key)",
    reddens: "variants are found by an isolate that has restarted",
  },
  "no-news-of-variants": {
    name: "an isolate that knows of variants hears of no others",
    file: SELECTION,
    from: "fetchedAt > (heldSince.get(key) ?? -1)",
    to: "!held && fetchedAt > (heldSince.get(key) ?? -1)",
    reddens: "variants that another isolate has stored are found",
  },
  "variants-have-no-url": {
    name: "variants are not filed under their URL",
    file: STORAGE_DECISION,
    from: "...resolved.purgeKeys,",
    to: "...(variant.length > 0 ? [] : resolved.purgeKeys),",
    reddens: "a purge by URL reaches every variant, in memory and behind it",
  },
  "variants-have-no-tags": {
    name: "variants are not filed under their tags",
    file: STORAGE_DECISION,
    from: "...tags.map(tagPurgeKey)",
    to: "...(variant.length > 0 ? [] : tags.map(tagPurgeKey))",
    reddens: "a purge by tag reaches every variant, in memory and behind it",
  },
  "variants-are-not-everything": {
    name: "variants are not part of everything",
    file: STORAGE_DECISION,
    from: "purgeKeys: [EVERYTHING_PURGE_KEY, ",
    to: "purgeKeys: [...(variant.length > 0 ? [] : [EVERYTHING_PURGE_KEY]), ",
    reddens: "a purge by everything reaches every variant, in memory and behind it",
  },
  "purged-tag-takes-the-page": {
    name: "a variant is dropped with the one that was purged",
    file: SELECTION,
    from: "if (!variant || !isSelected(variant, originView)) return undefined;",
    to: `if (!variant || !isSelected(variant, originView)) return undefined;
  const all = stored.variants.map(({ key }) => store.recall(key)).filter((each) => each !== undefined);
  if (all.some((each) => !isMarker(each) && context.ports.purges.check(each.head, false) === "purged")) {
    for (const { head } of all) void store.forget(head.key);
    return undefined;
  }`,
    reddens: "a purge by the tag of one variant leaves the others",
  },
  "variants-are-not-offered": {
    name: "the origin is not asked about the variants in hand",
    file: "worker/flow/miss.ts",
    from: "const toValidate = otherVariants(context, null);",
    to: 'const toValidate: Miss["toValidate"] = [];',
    reddens: OTHER_VARIANT,
  },
  "date-of-one-of-several-is-sent": {
    name: "the date of one variant is sent with the tags of all",
    file: "worker/rules/validation/conditional-request.ts",
    from: "held.length === 1 ? held[0]!.lastModified : null",
    to: "held[0]?.lastModified ?? null",
    reddens: OTHER_VARIANT,
  },
  "304-confirms-the-first": {
    name: "a 304 without a validator confirms the first of several variants",
    file: "worker/rules/validation/freshen.ts",
    from: "return held.length === 1 ? 0 : null;",
    to: "return 0;",
    reddens: "a 304 that does not say which of several variants it confirms is asked for again, in full",
  },
  "purged-variant-is-offered": {
    name: "a purged variant is offered to the origin",
    file: SELECTION,
    from: ' && purges.check(stored.head, false) !== "purged"',
    to: "",
    reddens: "a variant that was purged is not offered to the origin for another choice",
  },
  "unreadable-variant-is-offered": {
    name: "a variant that the client cannot read is offered to the origin",
    file: SELECTION,
    from: " || !acceptsCoding(acceptedCodings, encoding)",
    to: "",
    reddens:
      "a variant in a coding that the client does not accept is not offered to the origin, whose weak tag may fit both",
  },
  "session-makes-a-variant": {
    name: "a session's cookies make a variant",
    file: "worker/rules/storing/may-store.ts",
    from: 'names.includes("cookie") && originView.value("cookie") !== null',
    to: "false",
    reddens: COOKIE,
  },
  "session-gets-the-variant-of-none": {
    name: "a session is given the variant of those without cookies",
    file: "worker/rules/request/origin-view.ts",
    from: 'if (name === "cookie") return this.#cookie();',
    to: 'if (name === "cookie") return null;',
    reddens: COOKIE,
  },
  "ignored-cookies-select": {
    name: "cookies that the origin does not see select a variant",
    file: "worker/rules/request/origin-view.ts",
    from: 'if (name === "cookie") return this.#cookie();',
    to: 'if (name === "cookie") return this.#sent(name);',
    reddens: COOKIE,
  },
  "named-hop-selects": {
    name: "a field that Connection names selects by what the client sent",
    file: "worker/rules/request/origin-view.ts",
    from: "if (connection !== null && hopByHopFields(connection).includes(name)) return null;",
    to: "",
    reddens: "a field that Connection names selects nothing, as the origin does not see it",
  },
  "named-accept-encoding-goes-on": {
    name: "an Accept-Encoding goes on although Connection names it",
    file: "worker/rules/request/origin-view.ts",
    from: "hopByHopFields(connection).includes(name)",
    to: 'name !== "accept-encoding" && hopByHopFields(connection).includes(name)',
    reddens: "an Accept-Encoding that Connection names is not sent on, and spoils nobody's variant",
  },
  "follower-takes-any-variant": {
    name: "a follower takes the leader's variant",
    file: "worker/flow/collapsing/followers.ts",
    from: "if (!selects(context, stored)) return null;",
    to: "",
    reddens: "who waits for a page that turns out to vary gets the leader's only if his choice is the same",
  },
  "all-choices-wait-for-one": {
    name: "who wants one variant waits for the fetch of another",
    file: "worker/flow/collapsing/collapsing-key.ts",
    from: "return variantKey(cacheKey, variantOf([...names].sort(), context.facts.originView));",
    to: "return cacheKey;",
    reddens: "once it is known what a page varies by, only requests of the same choice wait for each other",
  },
  "weights-are-not-read": {
    name: "a coding with the weight 0 is accepted",
    file: ACCEPT_ENCODING,
    from: 'return /^q=0(?:\\.0*)?$/i.test(text) ? "none" : "some";',
    to: 'return "some";',
    reddens: ASKED_CODINGS,
  },
  "last-mention-counts": {
    name: "a coding that is refused and accepted is accepted",
    file: ACCEPT_ENCODING,
    from: "(accepted | others) & ~refused",
    to: "accepted | (others & ~refused)",
    reddens: ASKED_CODINGS,
  },
  "who-says-nothing-accepts-all": {
    name: "a client without Accept-Encoding accepts every coding",
    file: ACCEPT_ENCODING,
    from: "if (field === null) return TEXTS[0];",
    to: "if (field === null) return TEXTS[7];",
    reddens: ASKED_CODINGS,
  },
  "star-is-no-coding": {
    name: "a * in Accept-Encoding is not read",
    file: ACCEPT_ENCODING,
    from: 'others = weight === "some" ? ALL : 0',
    to: "others = 0",
    reddens: ASKED_CODINGS,
  },
  "old-name-of-gzip-is-unknown": {
    name: "x-gzip is not gzip",
    file: ACCEPT_ENCODING,
    from: 'case "x-gzip":',
    to: 'case "x-zip":',
    reddens: ASKED_CODINGS,
  },
  "unknown-coding-spoils-the-rest": {
    name: "a client that names an unknown coding gets none",
    file: ACCEPT_ENCODING,
    from: "if (coding === 0) continue;",
    to: "if (coding === 0) return TEXTS[0];",
    reddens: "clients that accept the same codings in another order or with other preferences share an entry",
  },
  "offers-must-be-equal": {
    name: "a page serves only who accepts just what was offered",
    file: ACCEPT_ENCODING,
    from: "(bitsOf(asked) & ~bitsOf(stored)) === 0",
    to: "asked === stored",
    reddens:
      "a page in the coding that the origin chose from a larger offer serves who accepts fewer, that one among them",
  },
  "any-offer-will-do": {
    name: "what was chosen from a smaller offer serves who accepts more",
    file: ACCEPT_ENCODING,
    from: "(bitsOf(asked) & ~bitsOf(stored)) === 0",
    to: "true",
    reddens: "a page that was chosen from a smaller offer does not serve who accepts more",
  },
  "refused-coding-is-sent": {
    name: "a client gets any coding that is known",
    file: ACCEPT_ENCODING,
    from: "(codingBit(name) & known) !== 0",
    to: "codingBit(name) !== 0",
    reddens: "a client that refuses a coding never gets it from store, where the origin says Vary",
  },
  "forgotten-vary-is-believed": {
    name: "an encoded page without Vary is for everybody",
    file: VARY,
    from: 'if (contentEncoding !== null) selecting.add("accept-encoding");',
    to: "",
    reddens: "a client that refuses a coding never gets it from store, where the origin forgot to say Vary",
  },
  "coding-does-not-select": {
    name: "the coding of a stored page is not looked at",
    file: VARY,
    from: "if (contentEncoding !== null && !acceptsCoding(",
    to: "if (false && !acceptsCoding(",
    reddens: "who waits for a page that turns out to be encoded gets it only if he accepts the coding",
  },
  "plain-page-is-refused": {
    name: "a page without a coding is not for who refuses identity",
    file: VARY,
    from: "if (contentEncoding !== null && !acceptsCoding(",
    to: 'if (request.field("accept-encoding") === "identity;q=0") return false;\n  if (contentEncoding !== null && !acceptsCoding(',
    reddens: FOR_EVERYBODY,
  },
  "plain-variant-is-not-offered": {
    name: "a variant without a coding is not offered to the origin",
    file: ACCEPT_ENCODING,
    from: "if (contentEncoding === null) return true;",
    to: "if (contentEncoding === null) return false;",
    reddens: OTHER_VARIANT,
  },
  "identity-is-unknown": {
    name: "Content-Encoding: identity is a coding that nobody accepts",
    file: ACCEPT_ENCODING,
    from: ' || name === "identity"',
    to: "",
    reddens: FOR_EVERYBODY,
  },
  "one-coding-will-do": {
    name: "of several codings it is enough to accept one",
    file: ACCEPT_ENCODING,
    from: 'contentEncoding.split(",").every(',
    to: 'contentEncoding.split(",").some(',
    reddens: "a page in several codings serves who accepts all of them",
  },
  "unknown-coding-is-accepted": {
    name: "a coding that is not known is taken for accepted",
    file: ACCEPT_ENCODING,
    from: "(codingBit(name) & known) !== 0",
    to: "codingBit(name) === 0 || (codingBit(name) & known) !== 0",
    reddens: "a page in a coding that nobody is known to accept is passed on, and serves no second request",
  },
  "forwarded-part-is-asked-for-as-stored": {
    name: "what is passed on is asked for as if it were stored",
    file: "worker/flow/origin/forward.ts",
    from: "storing: false",
    to: "storing: true",
    reddens: "a part that misses is asked for with the client's own Accept-Encoding",
  },
};
