import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of the cache key. */
export const mutants: Mutants = {
  "RFC 3986 §6.2.2": {
    "each spelling of a path has its own entry": {
      in: "parsedUrl",
      replace: "const path = normalEscapes(url.pathname);",
      by: "const path = url.pathname;",
      foundBy: "key/equivalent-spellings",
    },
    "the letter case of escapes counts": {
      in: "normalEscapes",
      replace: "encoded.toUpperCase()",
      by: "encoded",
      foundBy: "key/equivalent-spellings",
    },
  },
  "docs/http.md#the-cache-key": {
    "paths that differ in case are one entry": {
      in: "parsedUrl",
      replace: "const path = normalEscapes(url.pathname);",
      by: "const path = normalEscapes(url.pathname).toLowerCase();",
      foundBy: "key/distinguishable-spellings",
    },
    "an encoded slash counts as a slash": {
      in: "normalEscapes",
      replace: "/[A-Za-z0-9\\-._~]/",
      by: "/[A-Za-z0-9\\-._~/]/",
      foundBy: "key/distinguishable-spellings",
    },
    "a malformed escape is passed on": {
      in: "parsedUrl",
      replace: "/%(?![0-9a-f]{2})/i.test(pathAsSent)",
      by: "false",
      foundBy: "key/malformed-escape",
    },
    "an encoded control character is passed on": {
      in: "parsedUrl",
      replace: "/%(?:0[0-9a-f]|1[0-9a-f]|7f)/i.test(pathAsSent)",
      by: "false",
      foundBy: "key/malformed-escape",
    },
    "another spelling of the control plane's path counts as a page of the site": {
      in: "resolveUrl",
      replace: "/^\\/+_tidemark\\//.test(asked.path)",
      by: "false",
      foundBy: "key/malformed-escape",
    },
    "the control plane's path behind two slashes counts as a page of the site": {
      in: "resolveUrl",
      replace: "/^\\/+_tidemark\\//.test(asked.path)",
      by: 'asked.path.startsWith("/_tidemark/")',
      foundBy: "key/control-plane-behind-slashes",
    },
    "tracking parameters are part of the key": {
      in: "canonicalQuery",
      replace: "matchesAnyName(name, rules.ignore)",
      by: "false",
      foundBy: "key/tracking-parameters",
    },
    "the origin gets the query as the client sent it": {
      in: "resolveUrl",
      replace: "pathAndQuery: keyed",
      by: "pathAndQuery: asked.path + asked.search",
      foundBy: "key/tracking-parameters",
    },
    "only a request that the owner sends past the cache keeps its query": {
      in: "forward",
      replace: "miss.isForPart ?",
      by: 'miss.kind === "passed-on" && miss.because === "method" ?',
      foundBy: "key/query-of-what-is-not-stored",
    },
    "a part is requested with the query as it came": {
      in: "forward",
      replace: "miss.isForPart ? withoutDoubtfulRange(asked) : withWholeQuery(asked)",
      by: "withWholeQuery(asked)",
      foundBy: "key/query-of-a-part",
    },
    "parameters are sorted, whatever the route says": {
      in: "canonicalQuery",
      replace: "if (rules.sort)",
      by: "if (true)",
      foundBy: "key/parameter-order",
    },
    "parameters are not sorted, although the route says so": {
      in: "canonicalQuery",
      replace: "if (rules.sort)",
      by: "if (false)",
      foundBy: "key/parameter-order",
    },
    "every value of a cookie in the key has an entry of its own": {
      in: "readChoices",
      replace: "value !== undefined && values.includes(value) ? value : null",
      by: "value ?? null",
      foundBy: "key/choice-of-cookie",
    },
    "a cookie in the key does not select": {
      in: "choiceNames",
      replace: "...cookies.map(([name]) =>",
      by: "...[].map(([name]) =>",
      foundBy: "key/choice-of-cookie",
    },
    "the origin gets the other cookies, too, on a route that keys by one": {
      in: "Visitor.cookies",
      replace: "if (cookie !== undefined) return",
      by: "if (false) return",
      foundBy: "key/choice-of-cookie",
    },
    "what varies by Cookie is not stored on a route that keys by a cookie": {
      in: "readChoices",
      drop: 'selecting.set("cookie", null);',
      foundBy: "key/choice-of-cookie",
    },
    "a client's X-Country reaches the origin": {
      in: "originRequestFields",
      replace: "!isChosen(name) &&",
      by: "",
      foundBy: "key/choice-of-country",
    },
    "a client's X_Country reaches the origin": {
      in: "originRequestFields",
      replace: 'chosenFields.has(name.replaceAll("_", "-"))',
      by: "chosenFields.has(name)",
      foundBy: "key/choice-of-country",
    },
    "any text counts as a country": {
      in: "readChoices",
      replace: "/^[A-Z][A-Z0-9]$/.test(country)",
      by: "country.length > 0",
      foundBy: "key/choice-of-country",
    },
    "the country does not select": {
      in: "choiceNames",
      replace: "...(country ? [COUNTRY_FIELD] : []),",
      by: "",
      foundBy: "key/choices-select-without-vary",
    },
    "the country is not told where the answer is not stored, and the client's word is": {
      in: "fieldsToSend",
      replace: "storing ? facts.choices.fields : toldChoices(facts.choices)",
      by: "storing ? facts.choices.fields : new Map()",
      foundBy: "key/choice-of-country",
    },
    "everybody's word in the countryField counts": {
      in: "visitorsCountry",
      replace: "!isWithin(peerAddress, trustedProxies)",
      by: "false",
      foundBy: "key/choice-of-country-behind-a-proxy",
    },
    "an address outside of the networks of trusted proxies is in them": {
      in: "isWithin",
      replace: "bits >> hostBits === firstAddress >> hostBits",
      by: "bits >> (hostBits + 8n) === firstAddress >> (hostBits + 8n)",
      foundBy: "key/choice-of-country-behind-a-proxy",
    },
    "where a trusted proxy does not tell the country, that of the proxy counts": {
      in: "visitorsCountry",
      replace: "?.toUpperCase() ?? null",
      by: "?.toUpperCase() ?? country ?? null",
      foundBy: "key/choice-of-country-behind-a-proxy",
    },
    "a trusted proxy's de is not DE": {
      in: "visitorsCountry",
      replace: "?.toUpperCase() ?? null",
      by: "?? null",
      foundBy: "key/choice-of-country-behind-a-proxy",
    },
    "a visitor's word in the countryField reaches the origin where nothing is stored": {
      in: "withoutProxysWord",
      replace: "if (countryField === null) return chosen;",
      by: "if (countryField !== undefined) return chosen;",
      foundBy: "key/choice-of-country-behind-a-proxy",
    },
    "the countryField counts as a field that may choose pages": {
      in: "compileRoute",
      replace: "...(site.countryField ? [site.countryField] : [])",
      by: "",
      foundBy: "key/choice-of-country-behind-a-proxy",
    },
    "the class of the device does not select": {
      in: "choiceNames",
      replace: "...(device ? [DEVICE_FIELD] : []),",
      by: "",
      foundBy: "key/choices-select-without-vary",
    },
    "Sec-CH-UA-Mobile does not decide on the class of the device": {
      in: "deviceClass",
      drop: 'if (hint?.trim() === "?1") return "mobile";',
      foundBy: "key/choice-of-device",
    },
    "a tablet is mobile": {
      in: "deviceClass",
      replace: "&& !/iPad|Tablet/.test(userAgent)",
      by: "",
      foundBy: "key/choice-of-device",
    },
    "the origin sees the browser's other hints, on a route that keys by device": {
      in: "readChoices",
      drop: "for (const hint of CLIENT_HINTS) fields.set(hint, null);",
      foundBy: "key/choice-of-device",
    },
    "a request that goes past the cache loses the cookies that the route does not key by": {
      in: "fieldsToSend",
      replace: "storing ? facts.visitor.cookies.forwarded : facts.visitor.cookieToPassOn",
      by: "facts.visitor.cookies.forwarded",
      foundBy: "key/choices-and-sessions",
    },
  },
  "docs/reference/worker.md#siteinput": {
    "a route that keys by one parameter keys by all": {
      in: "canonicalQuery",
      replace: "!rules.only.includes(name)",
      by: "false",
      foundBy: "key/one-normalized-parameter",
    },
    "values that a route lowercases keep their case": {
      in: "rewriteValue",
      replace: "value = value.toLowerCase()",
      by: "value",
      foundBy: "key/one-normalized-parameter",
    },
    "values that a route trims keep their white space": {
      in: "rewriteValue",
      replace: "value = value.trim()",
      by: "value",
      foundBy: "key/one-normalized-parameter",
    },
    "the key has the host under which the edge was reached, not the public one": {
      in: "resolveUrl",
      replace: "rules.publicUrl?.host ?? asked.host",
      by: "asked.host",
      foundBy: "key/public-url",
    },
    "the origin is told the scheme under which the edge was reached, not the public one": {
      in: "resolveUrl",
      replace: "rules.publicUrl?.scheme ?? asked.scheme",
      by: "asked.scheme",
      foundBy: "key/public-url",
    },
  },
  "RFC 4647 §3.4": {
    "the origin gets Accept-Language as it came, on a route with languages": {
      in: "fieldsToSend",
      replace: "storing ? facts.choices.fields : toldChoices(facts.choices)",
      by: "new Map()",
      foundBy: "key/choice-of-language",
    },
    "the first language of the client counts, whatever its weight": {
      in: "rangesByWeight",
      replace: "other.weight - one.weight",
      by: "0",
      foundBy: "key/choice-of-language",
    },
    "a language with weight 0 is accepted": {
      in: "rangesByWeight",
      replace: "match && weight > 0",
      by: "match",
      foundBy: "key/choice-of-language",
    },
    "de-AT does not match de": {
      in: "negotiatedLanguage",
      replace: "tag = cutOff(tag)",
      by: 'tag = ""',
      foundBy: "key/choice-of-language",
    },
  },
  "docs/protocol.md#what-happens-on-a-purge": {
    "the negotiated language does not select": {
      in: "choiceNames",
      replace: '...(languages.length > 0 ? ["accept-language"] : []),',
      by: "",
      foundBy: "key/choices-and-purges",
    },
  },
  "docs/security.md#who-gets-past-the-cache": {
    "a framework's session does not reach the origin, on a route that keys by other cookies": {
      in: "planFetch",
      replace: "|| losesSession(context)",
      by: "",
      foundBy: "key/choices-and-well-known-sessions",
    },
  },
};
