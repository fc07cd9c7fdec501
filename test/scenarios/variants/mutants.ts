import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of variants and codings. */
export const mutants: Mutants = {
  "RFC 9111 §4.1": {
    "any value of a selecting field matches": {
      in: "matchesVariant",
      replace: ": asked === value;",
      by: ": true;",
      foundBy: "variants/one-entry-per-value",
    },
    "a missing variant is reported as a missing page": {
      in: "missOf",
      replace: 'hasVariants(context) ? "other-variants" : "nothing"',
      by: '"nothing"',
      foundBy: "variants/one-entry-per-value",
    },
    "an absent field counts as an empty one": {
      in: "normalizedValue",
      replace: "if (value === null) return null;",
      by: 'if (value === null) return "";',
      foundBy: "variants/empty-and-absent-field",
    },
    "letter case counts in Accept-Language": {
      in: "normalizedValue",
      replace: "if (!CASELESS_LISTS.has(name))",
      by: "if (true)",
      foundBy: "variants/equivalent-values",
    },
    "letter case does not count in any field": {
      in: "normalizedValue",
      replace: 'return trimmedAround(",", value);',
      by: 'return trimmedAround(",", value.toLowerCase());',
      foundBy: "variants/equivalent-values",
    },
    "spaces in a quoted string do not count": {
      in: "normalizedValue",
      drop: "if (value.includes('\"')) return value.trim();",
      foundBy: "variants/equivalent-values",
    },
    "the * in Vary: * counts as a field name": {
      in: "varyFields",
      replace: 'if (name === "*" || !isToken(name)) return "*";',
      by: 'if (!isToken(name)) return "*";',
      foundBy: "variants/vary-star",
    },
    "a * counts only at the beginning of a Vary": {
      in: "varyFields",
      replace: 'if (name === "*" || !isToken(name)) return "*";',
      by: 'if ((name === "*" && vary.startsWith("*")) || !isToken(name)) return "*";',
      foundBy: "variants/vary-field-and-star",
    },
    "a * beside field names counts as one of them": {
      in: "varyFields",
      replace: 'if (name === "*" || !isToken(name)) return "*";',
      by: 'if (vary === "*" || !isToken(name)) return "*";',
      foundBy: "variants/vary-star-and-field",
    },
    "a member of Vary that is not a field name selects nothing": {
      in: "varyFields",
      replace: 'if (name === "*" || !isToken(name)) return "*";',
      by: 'if (name === "*") return "*"; if (!isToken(name)) continue;',
      foundBy: "variants/vary-invalid-field-name",
    },
    "the client's address counts as a field that the client sent": {
      in: "selectingFields",
      replace: 'named.some((name) => meaningInVary(name, owners) === "unknowable")',
      by: "false",
      foundBy: "variants/vary-x-real-ip",
    },
    "the client's address is not recognized under a name with underscores": {
      in: "treatmentByName",
      replace: "nameAtGateways(name)",
      by: "name",
      foundBy: "variants/vary-x-forwarded-for",
    },
    "fields that the origin always gets in the same form make variants": {
      in: "TREATMENTS",
      replace: '"answered-here": { asSent: "unless-stored", inVary: "nothing"',
      by: '"answered-here": { asSent: "unless-stored", inVary: "selects"',
      foundBy: "variants/vary-by-constant-fields",
    },
    "a variant is stored without anything that leads to it": {
      in: "storeResponse",
      replace: "store.keep(marker),",
      by: "",
      foundBy: "variants/vary-begins-and-ends",
    },
    "a page that has varied once varies for ever": {
      in: "storeResponse",
      replace: "if (stored.head.variant.length === 0) return",
      by: `if (stored.head.variant.length === 0 && markerInMemory(context)) return Promise.resolve();
if (stored.head.variant.length === 0) return`,
      foundBy: "variants/vary-begins-and-ends",
    },
    "a page without Vary takes the place of all that vary": {
      in: "decideStorage",
      replace: "siblingsVaryBy: siblingsVaryBy(context, receivedAt, status),",
      by: "siblingsVaryBy: [],",
      foundBy: "variants/default-without-vary",
    },
    "a page with the Vary of compression takes the place of all that vary": {
      in: "selectingFields",
      replace: "OF_MIDDLEWARE.has(name) ||",
      by: "",
      foundBy: "variants/default-with-vary-of-middleware",
    },
    "a page whose Vary names what selects nothing takes the place of all that vary": {
      in: "selectingFields",
      replace: '|| meaningInVary(name, owners) !== "selects");',
      by: ");",
      foundBy: "variants/default-with-vary-of-middleware",
    },
    "a page without Vary varies for ever beside others without": {
      in: "variesBy",
      replace: "field: (name) => storedField(head, name)",
      by: 'field: (name) => (name === "vary" ? head.variant.map(([each]) => each).join() : storedField(head, name))',
      foundBy: "variants/default-without-vary",
    },
    "a plain page takes the place of a coded one that forgets Vary": {
      in: "variesBy",
      replace: "field: (name) => storedField(head, name)",
      by: 'field: (name) => (name === "content-encoding" ? null : storedField(head, name))',
      foundBy: "variants/default-without-vary-of-codings",
    },
    "what is not in memory is not among the variants of a page": {
      in: "siblingsVaryBy",
      replace: "freshUntil > now && isWorthStoring(answer);",
      by: "stored !== undefined && freshUntil > now && isWorthStoring(answer);",
      foundBy: ["variants/default-without-vary-after-restart", "variants/default-without-vary-elsewhere"],
    },
    "a page without Vary varies beside others that were purged": {
      in: "siblingsVaryBy",
      replace: "freshUntil > now && isWorthStoring(answer);",
      by: "freshUntil > now;",
      foundBy: [
        "variants/default-without-vary-after-hard-purge",
        "variants/default-without-vary-after-restart-and-purge",
      ],
    },
    "a page without Vary varies beside others that a soft purge has made stale": {
      in: "siblingsVaryBy",
      replace: "isWorthStoring(answer);",
      by: 'answer !== "purged";',
      foundBy: "variants/default-without-vary-after-soft-purge",
    },
    "of the variants of a page, only purges of their URL are known": {
      in: "siblingsVaryBy",
      replace: "stored && !isMarker(stored) ? purges.check(stored.head) : ofUrl",
      by: "ofUrl",
      foundBy: "variants/default-without-vary-after-hard-purge",
    },
    "what is stored after a purge gives its stamp to the variants that were purged": {
      in: "markerWith",
      replace: "standingMarker(context)",
      by: "markerInMemory(context)",
      foundBy: "variants/default-without-vary-beside-later-one",
    },
    "a Vary that names a field of the key says nothing": {
      in: "variesBy",
      replace: "keyFields: selectingNames,",
      by: "keyFields: [],",
      foundBy: "variants/default-without-vary-beside-keyed",
    },
    "a page that allows no origin takes the place of those that do": {
      in: "selectingFields",
      replace: 'name === "origin" ? allowedOrigin === null : isDefault',
      by: "isDefault",
      foundBy: "variants/default-without-origin",
    },
    "of several matching variants, the last one used counts": {
      in: "latestMatch",
      replace: "if (latest && latest.fetchedAt >= variant.fetchedAt) continue;",
      by: "if (latest) continue;",
      foundBy: "variants/vary-names-other-fields",
    },
    "of several matching variants, the oldest counts": {
      in: "latestMatch",
      replace: "latest.fetchedAt >= variant.fetchedAt",
      by: "latest.fetchedAt <= variant.fetchedAt",
      foundBy: "variants/vary-names-other-fields",
    },
    "a follower takes the leader's variant, whichever it is": {
      in: "follow",
      drop: "if (!selects(context.reduced?.asSent ?? context, stored)) return null;",
      foundBy: "variants/followers-of-varying-page",
    },
    "a client that names an unknown coding gets none": {
      in: "acceptedCodings",
      replace: "if (coding === 0) continue;",
      by: "if (coding === 0) return TEXTS[0];",
      foundBy: "variants/same-codings-share",
    },
    "a page serves only a client that accepts exactly what was offered": {
      in: "coversCodings",
      wrap: "(stored, asked) => asked === stored",
      foundBy: "variants/chosen-from-larger-offer",
    },
    "a page that the origin encodes whatever it is asked serves no client that does not accept its coding": {
      in: "matchesVariant",
      replace: "&& !acceptsTheSame(variant, request)",
      by: "",
      foundBy: [
        "variants/coded-whatever-is-asked-with-vary",
        "variants/coded-whatever-is-asked-without-vary",
        "variants/followers-in-no-coding",
      ],
    },
    "a page that came for a client that accepts its coding serves those who do not": {
      in: "acceptsTheSame",
      replace: "&& value === request.acceptedCodings",
      by: "",
      foundBy: ["variants/coded-whatever-is-asked-with-vary", "variants/coded-whatever-is-asked-without-vary"],
    },
    "a page that was chosen from a smaller offer serves a client that accepts more": {
      in: "coversCodings",
      wrap: "() => true",
      foundBy: "variants/chosen-from-smaller-offer",
    },
  },
  "RFC 9110 §12.5.5": {
    "only the first field in a Vary selects": {
      in: "varyFields",
      replace: 'for (const member of vary.split(","))',
      by: 'for (const member of vary.split(",").slice(0, 1))',
      foundBy: "variants/several-fields",
    },
    "a variant is selected if one of its fields matches": {
      in: "matchesVariant",
      replace: "return variant.every(",
      by: "return variant.some(",
      foundBy: "variants/several-fields",
    },
    "an empty member of a Vary counts as a field name": {
      in: "varyFields",
      drop: 'if (name === "") continue;',
      foundBy: "variants/several-fields",
    },
  },
  "docs/http.md#limits": {
    "values of exactly the longest length are too long": {
      in: "isVariantTooLong",
      replace: "> MAX_VALUE_CHARACTERS",
      by: ">= MAX_VALUE_CHARACTERS",
      foundBy: "variants/longest-selecting-values",
    },
    "a variant may have any number of names": {
      in: "isVariantTooLong",
      replace: "names > MAX_NAME_CHARACTERS ||",
      by: "",
      foundBy: "variants/longest-selecting-values",
    },
    "a client's own text makes a variant, however long it is": {
      in: "mayStore",
      replace: "if (isVariantTooLong(variant))",
      by: "if (false)",
      foundBy: "variants/longest-selecting-values",
    },
    "a page may have any number of variants": {
      in: "compileChecked",
      replace: "fetchWholeBytes: Math.min(limits.fetchWholeBytes, limits.storeBytes),",
      by: "fetchWholeBytes: Math.min(limits.fetchWholeBytes, limits.storeBytes), variants: 1000,",
      foundBy: "variants/limit-and-eviction",
    },
    "a variant keeps its place in the order of eviction when it is used": {
      in: "selectInMemory",
      replace: "store.remember(withFirst(stored, at))",
      by: "at",
      foundBy: "variants/limit-and-eviction",
    },
    "the order in the shared tier outranks what this isolate knows of use": {
      in: "mergeFound",
      replace: "mergeMarkers({ ...found, variants: news }, held)",
      by: "mergeMarkers(found, held)",
      foundBy: "variants/limit-and-eviction",
    },
    "the number of variants that an isolate learns of is not limited": {
      in: "rememberMarker",
      replace: "upToLimit(context, mergeFound(found, held))",
      by: "mergeFound(found, held)",
      foundBy: "variants/limit-across-isolates",
    },
  },
  "RFC 9111 §4.3.4": {
    "the Vary of a 304 is not read": {
      in: "freshen",
      replace: "head: { ...decision.head, givenPurgeKeys,",
      by: "head: { ...decision.head, key: head.key, variant: head.variant, givenPurgeKeys,",
      foundBy: "variants/304-with-vary",
    },
  },
  "docs/http.md#memory-and-the-cache-api": {
    "a variant is looked for in memory alone": {
      in: "selectAmong",
      replace: "await store.lookUp(found.key)",
      by: "store.recall(found.key)",
      foundBy: "variants/found-after-restart",
    },
    "an isolate that knows of some variants does not learn of others": {
      in: "mergeFound",
      replace: "fetchedAt > (heldSince.get(key) ?? -1)",
      by: "!held && fetchedAt > (heldSince.get(key) ?? -1)",
      foundBy: "variants/found-by-another-isolate",
    },
  },
  R19: {
    "a variant is lost whose isolate had an older view than the isolate of another variant": {
      in: "mergeMarkers",
      replace: "isNewer(held, added)",
      by: "held.head.fetchedAt > added.head.fetchedAt",
      foundBy: "variants/found-under-older-view",
    },
    "variants are not filed under their URL": {
      in: "purgeKeysOf",
      replace: "...urlPurgeKeys(key),",
      by: '...(key.includes(" ") ? [] : urlPurgeKeys(key)),',
      foundBy: "variants/purge-by-url",
    },
    "variants are not filed under their tags": {
      in: "decideStorage",
      replace: "...tags.map(tagPurgeKey)",
      by: "...(variant.length > 0 ? [] : tags.map(tagPurgeKey))",
      foundBy: "variants/purge-by-tag",
    },
    "a purge of everything does not reach variants": {
      in: "purgeKeysOf",
      replace: "[EVERYTHING_PURGE_KEY,",
      by: '[...(key.includes(" ") ? [] : [EVERYTHING_PURGE_KEY]),',
      foundBy: "variants/purge-of-everything",
    },
  },
  "docs/protocol.md#what-a-purge-promises": {
    "a variant is dropped together with the one that was purged": {
      in: "selectInMemory",
      replace: "return undefined;",
      by: `return undefined;
const all = stored.variants.map(({ key }) => store.recall(key)).filter((each) => each !== undefined);
if (all.some((each) => !isMarker(each) && context.ports.purges.check(each.head) === "purged")) {
  for (const { head } of all) void store.forget(head.key);
  return undefined;
}`,
      foundBy: "variants/purge-of-one-variant",
    },
  },
  "RFC 9110 §13.1.3": {
    "the origin is asked to confirm a variant that the request does not select": {
      in: "missOf",
      replace: 'return missBy({ kind: "absent", because: hasVariants(context) ? "other-variants" : "nothing" });',
      by: `{
  const { store } = context.ports;
  const marker = store.recall(context.resolved.cacheKey) as { variants?: { key: string }[] } | undefined;
  const other = marker?.variants?.[0] && store.recall(marker.variants[0].key);
  return {
    ...missBy({ kind: "absent", because: hasVariants(context) ? "other-variants" : "nothing" }),
    toValidate: (other as StoredResponse | undefined) ?? null,
  };
}`,
      foundBy: "variants/others-are-not-validated",
    },
  },
  "docs/http.md#parts-of-pages": {
    "a part is looked up as its page": {
      in: "entryKeyOf",
      replace: "partsKey(resolved.cacheKey)",
      by: "resolved.cacheKey",
      foundBy: "variants/parts-htmx",
    },
    "the fields by which a part is asked for do not select": {
      in: "selectingFields",
      drop: "for (const name of unnamedPartFields(parts, [...selecting])) selecting.add(name);",
      foundBy: "variants/parts-htmx",
    },
    "what another framework has chosen answers": {
      in: "isKeyed",
      replace: "facts.parts.every((fields) => tellsPartsApart(fields, isKey))",
      by: "true",
      foundBy: "variants/parts-of-two-frameworks",
    },
    "an origin that names one field of a framework is believed about the others": {
      in: "tellsPartsApart",
      replace: "fields.every(isNamed)",
      by: "fields.some(isNamed)",
      foundBy: "variants/parts-named-field-inertia-partial",
    },
    "Next is not believed about the fields that it leaves out": {
      in: "tellsPartsApart",
      replace: '(fields[0] === "rsc" && isNamed("rsc"))',
      by: "false",
      foundBy: "variants/parts-named-by-next",
    },
    "a field may have any number of values": {
      in: "hasTooManyParts",
      wrap: "() => () => false",
      foundBy: "variants/parts-ninth-value",
    },
    "stale parts take the place of fresh ones": {
      in: "freshUntil",
      replace: "return receivedAt + freshnessSeconds * 1000 - initialAgeMs;",
      by: "return Number.MAX_VALUE;",
      foundBy: "variants/parts-ninth-value",
    },
    "a part stays after an unsafe request to its page": {
      in: "invalidateAfter",
      replace: "[cacheKey, partsKey(cacheKey)]",
      by: "[cacheKey]",
      foundBy: "variants/parts-after-a-post",
    },
    "the name of an app asks for a part": {
      in: "RequestFacts.parts",
      replace: "this.originView.field(sign) !== null &&",
      by: "",
      foundBy: "variants/parts-of-an-app",
    },
    "a field that the owner trusts asks for a part": {
      in: "RequestFacts.parts",
      replace: "&& !isTrusted(sign, this.#rules)",
      by: "",
      foundBy: "variants/parts-owners-trust",
    },
  },
  "RFC 9211 §2.2": {
    "a purged variant counts as stored": {
      in: "variantsInMemory",
      replace: '&& purges.check(stored.head) !== "purged"',
      by: "",
      foundBy: "variants/purged-is-no-variant",
    },
    "a variant that memory does not hold counts as not stored": {
      in: "hasVariants",
      replace: "!context.ports.store.recall(key)",
      by: "false",
      foundBy: "variants/not-in-memory-is-a-variant",
    },
    "a variant that memory does not hold counts as stored after a purge of its URL": {
      in: "hasVariants",
      replace: "standingMarker(context)",
      by: "markerInMemory(context)",
      foundBy: "variants/not-in-memory-is-a-variant",
    },
    "a variant that is gone counts as another variant": {
      in: "hasVariants",
      replace: "!marker || latestMatch(marker, context)",
      by: "!marker",
      foundBy: "variants/gone-is-not-stored",
    },
  },
  "docs/protocol.md#promise-1-private-stays-private": {
    "a page is served whatever its Vary says if that was of no account when it was stored": {
      in: "ifSelected",
      replace: "obeysVary(context, found.head) &&",
      by: "",
      foundBy: "variants/field-is-dropped-no-more",
    },
    "a page in the shared tier that was stored before the owner keyed by a field answers every value of it": {
      in: "selectAmong",
      replace: "return stored && ifSelected(context, stored);",
      by: "return stored;",
      foundBy: "variants/key-field-is-added",
    },
    "a variant that was stored before the owner keyed by one more field answers every value of it": {
      in: "matches",
      drop: "if (!isKeyed(context, variant)) return false;",
      foundBy: "variants/second-key-field-is-added",
    },
  },
  "docs/http.md#cookies-sessions-and-authorization": {
    "a session's cookies make a variant": {
      in: "mayStore",
      replace: "names.some((name) => OF_ONE_VISITOR.has(name) && originView.value(name) !== null)",
      by: "false",
      foundBy: "variants/vary-by-cookie",
    },
    "a session gets the variant of requests without cookies": {
      in: "OriginView.field",
      replace: 'if (name === "cookie") return this.#request.visitor.cookies.forwarded;',
      by: 'if (name === "cookie") return null;',
      foundBy: "variants/vary-by-cookie",
    },
    "cookies that the origin does not see select a variant": {
      in: "OriginView.field",
      replace: 'if (name === "cookie") return this.#request.visitor.cookies.forwarded;',
      by: 'if (name === "cookie") return this.#request.field(name);',
      foundBy: "variants/vary-by-cookie",
    },
  },
  "RFC 9110 §7.6.1": {
    "a field that Connection names selects by the client's value": {
      in: "OriginView.field",
      replace: "return this.#ownHop.has(name) && !isContinued(name) ? null : value;",
      by: "return value;",
      foundBy: "variants/field-named-by-connection",
    },
    "an Accept-Encoding that Connection names is forwarded": {
      in: "OriginView.field",
      replace: "this.#ownHop.has(name)",
      by: 'name !== "accept-encoding" && this.#ownHop.has(name)',
      foundBy: "variants/connection-names-accept-encoding",
    },
  },
  "docs/http.md#collapsed-requests": {
    "a request for one variant waits for the fetch of another": {
      in: "fetchKeyOf",
      replace: "variantOf(selectingNames(context), facts.originView)",
      by: "[]",
      foundBy: "variants/collapsing-by-variant",
    },
  },
  "RFC 9110 §12.5.3": {
    "a coding with weight 0 counts as accepted": {
      in: "weightOf",
      replace: 'return /^q=0(?:\\.0*)?$/i.test(text) ? "none" : "some";',
      by: 'return "some";',
      foundBy: "variants/accept-encoding-is-normalized",
    },
    "a coding that is both refused and accepted counts as accepted": {
      in: "acceptedCodings",
      replace: "(accepted | others) & ~refused",
      by: "accepted | (others & ~refused)",
      foundBy: "variants/accept-encoding-is-normalized",
    },
    "a client without Accept-Encoding accepts every coding": {
      in: "acceptedCodings",
      replace: "if (field === null) return TEXTS[0];",
      by: "if (field === null) return TEXTS[7];",
      foundBy: "variants/accept-encoding-is-normalized",
    },
    "a * in Accept-Encoding is not read": {
      in: "acceptedCodings",
      replace: 'others = weight === "some" ? ALL : 0',
      by: "others = 0",
      foundBy: "variants/accept-encoding-is-normalized",
    },
    "x-gzip is not gzip": {
      in: "codingBit",
      replace: 'case "x-gzip":',
      by: 'case "x-zip":',
      foundBy: "variants/accept-encoding-is-normalized",
    },
    "a client gets any coding that is known": {
      in: "acceptsCoding",
      replace: "(codingBit(name) & known) !== 0",
      by: "codingBit(name) !== 0",
      foundBy: "variants/refused-coding-with-vary",
    },
    "an encoded page without Vary serves every client": {
      in: "selectingFields",
      drop: 'if (field("content-encoding") !== null) selecting.add("accept-encoding");',
      foundBy: "variants/refused-coding-without-vary",
    },
    "the coding of a stored page is not looked at": {
      in: "matchesVariant",
      replace: "if (contentEncoding !== null && !acceptsCoding(",
      by: "if (false && !acceptsCoding(",
      foundBy: "variants/followers-of-encoded-page",
    },
    "a page without a coding does not serve a client that refuses identity": {
      in: "matchesVariant",
      replace: "if (contentEncoding !== null && !acceptsCoding(",
      by: `if (request.field("accept-encoding") === "identity;q=0") return false;
if (contentEncoding !== null && !acceptsCoding(`,
      foundBy: "variants/no-coding-serves-all",
    },
    "Content-Encoding: identity counts as a coding that no client accepts": {
      in: "acceptsCoding",
      replace: '|| name === "identity"',
      by: "",
      foundBy: "variants/no-coding-serves-all",
    },
    "a part is requested in other codings than the whole page": {
      in: "fetchOnce",
      replace: "storing: true",
      by: "storing: !asks",
      foundBy: "variants/codings-of-part",
    },
    "a client gets the coding that the origin chooses, although it does not accept it": {
      in: "matchesVariant",
      replace: "if (contentEncoding !== null && !acceptsCoding(",
      by: 'if (contentEncoding !== null && passedOver === "identity" && !acceptsCoding(',
      foundBy: "variants/passed-over-coding-refused",
    },
  },
  "RFC 9110 §8.4": {
    "of several codings it is enough to accept one": {
      in: "acceptsCoding",
      replace: 'contentEncoding.split(",").every(',
      by: 'contentEncoding.split(",").some(',
      foundBy: "variants/several-codings",
    },
  },
  "RFC 9110 §8.4.1": {
    "an unknown coding counts as accepted": {
      in: "acceptsCoding",
      replace: "(codingBit(name) & known) !== 0",
      by: "codingBit(name) === 0 || (codingBit(name) & known) !== 0",
      foundBy: "variants/unknown-coding",
    },
    "a page in an unknown coding is stored again and again": {
      in: "mayStore",
      drop: 'if (!acceptsCoding(ALL_CODINGS, field("content-encoding") ?? "")) return notStored("coding");',
      foundBy: ["variants/unknown-coding", "variants/nobody-waits-for-unknown-coding"],
    },
  },
  "docs/decisions/0011-encodings-are-variants.md": {
    "what the origin chooses from a full offer is not learned": {
      in: "answerBy",
      drop: 'isolate.codings.learn(facts.originView.value("accept-encoding")!, fields.get("content-encoding"), fetchedAt);',
      foundBy: "variants/five-browsers",
    },
    "a choice of the origin counts for ever": {
      in: "CodingChoices.#hasPreferred",
      replace: "now - at < REMEMBERED_MS",
      by: "now >= at",
      foundBy: "variants/choice-is-relearned",
    },
    "a choice of the origin counts for less than an hour": {
      in: "coding-choices:REMEMBERED_MS",
      replace: "3_600_000",
      by: "3_599_999",
      foundBy: "variants/choice-is-relearned",
    },
    "that the origin has begun to choose another coding is not noticed": {
      in: "CodingChoices.passedOverFor",
      replace: "&& !this.#hasPreferred(other, chosen, now)",
      by: "",
      foundBy: "variants/choice-is-relearned",
    },
  },
};
