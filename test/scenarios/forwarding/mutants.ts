import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of what is forwarded. */
export const mutants: Mutants = {
  "docs/security.md#what-of-a-request-reaches-the-origin": {
    "the site's own Origin counts as another field": {
      in: "RequestFacts.constructor",
      replace: 'field("origin") === ownOrigin',
      by: "false",
      foundBy: "forwarding/own-origin",
    },
    "any Origin counts as the site's own": {
      in: "RequestFacts.constructor",
      replace: 'field("origin") === ownOrigin',
      by: 'field("origin") !== null',
      foundBy: "forwarding/own-origin",
    },
    "a request past the cache loses its Origin": {
      in: "RequestFacts.constructor",
      replace: 'this.mode !== "bypass" &&',
      by: "",
      foundBy: "forwarding/own-origin",
    },
    "a route that keys by Origin does not see the site's own": {
      in: "RequestFacts.constructor",
      replace: '&& !rules.keyFields.includes("origin")',
      by: "",
      foundBy: "forwarding/own-origin",
    },
  },
  "RFC 4918 §10.3": {
    "the origin gets the Destination as the client wrote it": {
      in: "fieldsToSend",
      replace: "destination === null ?",
      by: "true ?",
      foundBy: "forwarding/destination-for-origin",
    },
    "an origin with the public Host gets its own name in Destination": {
      in: "addressAtOrigin",
      replace: 'forward.host === "visitor" ?',
      by: "false ?",
      foundBy: "forwarding/destination-for-origin-by-public-host",
    },
    "a request with a Destination loses what the route keys by": {
      in: "fieldsToSend",
      replace: "[...chosen, ",
      by: "[",
      foundBy: "forwarding/destination-for-origin",
    },
    "the rest of a Destination is cut after its host": {
      in: "destinationAt",
      replace: "destination.replace(SITE, address)",
      by: "address()",
      foundBy: "forwarding/destination-for-origin",
    },
  },
  "RFC 9110 §15.2": {
    "nobody gets interim responses": {
      in: "send",
      replace: "inform: interimsFor(context)",
      by: "inform: undefined",
      foundBy: "forwarding/interim-responses",
    },
    "the status of an interim response is always 103": {
      in: "interimsFor",
      replace: "request.inform!({ status, fields",
      by: "request.inform!({ status: 103, fields",
      foundBy: "forwarding/interim-responses-of-what-is-not-stored",
    },
    "an interim response is passed on with all its fields": {
      in: "interimsFor",
      replace: "fields: clientFields(context, fields)",
      by: "fields",
      foundBy: "forwarding/interim-fields",
    },
  },
  "docs/http.md#limits": {
    "an interim response may have any number of fields": {
      in: "interimsFor",
      drop: "if (reasonToRefuseFields(fields, { maxFields, maxBytes }) !== null) return;",
      foundBy: "forwarding/interim-too-large",
    },
  },
  "RFC 8297 §2": {
    "a refresh informs the client that was answered before it": {
      in: "interimsFor",
      replace: "isUnattended || !request.inform",
      by: "!request.inform",
      foundBy: "forwarding/interim-responses-behind-an-answer",
    },
    "who waits for another request's fetch is told of it, too": {
      in: "followOrTryAgain",
      replace: "const outcome = await waitFor(context, fetch);",
      by: `context.incoming.request.inform?.({ status: 103, fields: [] });
const outcome = await waitFor(context, fetch);`,
      foundBy: "forwarding/interim-responses-and-followers",
    },
    "the links of a page are not sent ahead": {
      in: "fetchOnce",
      drop: "hintAtLinks(context, miss);",
      foundBy: "forwarding/hints-of-the-stored-page",
    },
    "any client gets the links of a page ahead": {
      in: "hintAtLinks",
      drop: 'if (facts.field("sec-fetch-mode") !== "navigate") return;',
      foundBy: "forwarding/hints-of-the-stored-page",
    },
    "any links are sent ahead": {
      in: "hintAtLinks",
      replace: "link !== null && EARLY.test(link)",
      by: "link !== null",
      foundBy: "forwarding/hints-only-of-early-links",
    },
    "the links of a page are sent ahead although it was purged": {
      in: "hintAtLinks",
      drop: 'if (miss.kind !== "stale" || (miss.because !== "stale" && miss.because !== "no-cache")) return;',
      foundBy: "forwarding/hints-of-a-purged-page",
    },
  },
  "RFC 9110 §7.6.3": {
    "the origin sees only the last hop in Via": {
      in: "originRequestFields",
      replace: 'append(client.get("via"), "1.1 tidemark")',
      by: '"1.1 tidemark"',
      foundBy: "forwarding/via-once-per-hop",
    },
    "clients see only the last hop in Via": {
      in: "markOutcome",
      replace: 'fields.append("via", "1.1 tidemark");',
      by: 'fields.set("via", "1.1 tidemark");',
      foundBy: "forwarding/via-once-per-hop",
    },
    "the edge's own Via is stored, and added again to each answer": {
      in: "decideStorage",
      replace: "const withheld = verdict.withheldFields;",
      by: 'const withheld = verdict.withheldFields; fields.append("via", "1.1 tidemark");',
      foundBy: "forwarding/via-once-per-hop",
    },
  },
  "RFC 9110 §10.1.1": {
    "the origin is asked for the 100 that the edge has sent": {
      in: "REQUEST_FIELDS",
      replace: '"content-length", "expect", "max-forwards"',
      by: '"content-length", "max-forwards"',
      foundBy: "forwarding/expectation-is-met",
    },
  },
  "RFC 9110 §7.6.1": {
    ...Object.fromEntries(
      ["Trailer", "Proxy-Authentication-Info", "Proxy-Authorization", "Proxy-Connection"].map((name) => [
        `${name} is forwarded`,
        {
          in: "HOP_BY_HOP",
          replace: `"${name.toLowerCase()}",`,
          by: "",
          foundBy: "forwarding/connection-fields-any-route",
        },
      ]),
    ),

    "fields that Connection names in another letter case are forwarded": {
      in: "withNamed",
      replace: ".toLowerCase()",
      by: "",
      foundBy: "forwarding/connection-fields-any-route",
    },
    "fields that Connection names are forwarded": {
      in: "hopByHopFields",
      replace: "if (connection === null)",
      by: "",
      foundBy: "forwarding/hop-by-hop-fields",
    },
    "a hop-by-hop field is forwarded": {
      in: "HOP_BY_HOP",
      replace: '"te",',
      by: "",
      foundBy: "forwarding/hop-by-hop-fields",
    },
  },
  "RFC 9110 §9.3.8": {
    "the owner's extra fields are on a TRACE": {
      in: "originRequestFields",
      replace: "if (!isReflected)",
      by: "",
      foundBy: "forwarding/trace-shows-no-secret",
    },
    "a client's value of an extra field reaches the origin in a TRACE": {
      in: "fieldsToSend",
      replace: "extra: site.originFields,",
      by: 'extra: facts.method === "TRACE" ? [] : site.originFields,',
      foundBy: "forwarding/trace-shows-no-secret",
    },
  },
  "RFC 9110 §7.6.2": {
    "Max-Forwards is forwarded as it came": {
      in: "fieldsToSend",
      replace: 'maxForwards.kind === "forward" ? maxForwards.field : null',
      by: 'facts.field("max-forwards")',
      foundBy: "forwarding/max-forwards-of-options",
    },
    "a request with Max-Forwards: 0 is forwarded": {
      in: "maxForwards",
      replace: 'left === 0 ? { kind: "answer" } :',
      by: "",
      foundBy: "forwarding/max-forwards-of-options",
    },
    "a Max-Forwards beyond the largest number is forwarded": {
      in: "maxForwards",
      replace: "Math.min(Number(field), MAX_HOPS)",
      by: "Number(field)",
      foundBy: "forwarding/max-forwards-of-options",
    },
    "a Max-Forwards that is not a number counts as zero": {
      in: "maxForwards",
      replace: 'if (field === null || !/^[0-9]+$/.test(field)) return { kind: "forward", field };',
      by: `if (field === null) return { kind: "forward", field };
if (!/^[0-9]+$/.test(field)) return { kind: "answer" };`,
      foundBy: "forwarding/max-forwards-of-options",
    },
    "Max-Forwards counts the hops of a GET": {
      in: "maxForwards",
      drop: 'if (method !== "TRACE" && method !== "OPTIONS") return { kind: "forward", field };',
      foundBy: "forwarding/max-forwards-of-get",
    },
  },
  "docs/http.md#the-cache-key": {
    "a route does not hold for a path with escapes": {
      in: "route:findRoute",
      replace: "routeSpelling(path)",
      by: "path",
      foundBy: "forwarding/pass-route-by-escapes",
    },
    "a route that passes drops parameters": {
      in: "forward",
      replace: "withWholeQuery(asked)",
      by: "asked",
      foundBy: "forwarding/pass-route",
    },
  },
  "RFC 9110 §15.5.20": {
    "a host that is not the site's is served": {
      in: "resolveUrl",
      replace: "rules.hosts && !rules.hosts.includes(host)",
      by: "false",
      foundBy: "forwarding/foreign-host-is-421",
    },
    "a refusal names a host of the site that was not asked for": {
      in: "otherPort",
      replace: "withoutPort(each) === withoutPort(host)",
      by: "true",
      foundBy: "forwarding/foreign-host-is-421",
    },
    "a refusal does not say that the port is what differs": {
      in: "otherPort",
      replace: "withoutPort(each) === withoutPort(host)",
      by: "each === host",
      foundBy: "forwarding/foreign-port-is-421",
    },
  },
  "docs/http.md#what-goes-to-the-origin": {
    "the origin does not get the public port": {
      in: "originRequestFields",
      replace: "if (port)",
      by: "if (false)",
      foundBy: "forwarding/port",
    },
    "a page that varies by the public port is not stored": {
      in: "REQUEST_FIELDS",
      replace: '"x-forwarded-proto", "x-forwarded-port"',
      by: '"x-forwarded-proto"',
      foundBy: "forwarding/port",
    },
    "the origin gets X-Real-IP unasked": {
      in: "originRequestFields",
      replace: "if (forwarded.forward.realIp)",
      by: "",
      foundBy: "forwarding/forwarded-fields-replaced",
    },
    "the origin gets Forwarded unasked": {
      in: "originRequestFields",
      replace: "if (forwarded.forward.forwarded)",
      by: "",
      foundBy: "forwarding/forwarded-fields-replaced",
    },
    "Forwarded names the scheme of another request": {
      in: "forwardedElement",
      replace: "proto=$",
      by: "proto=s$",
      foundBy: "forwarding/real-ip-and-forwarded",
    },
    "a client's X-Forwarded fields are forwarded": {
      in: "CLAIM_PREFIXES",
      replace: '"x-forwarded",',
      by: "",
      foundBy: "forwarding/forwarded-fields-replaced",
    },
    "a client's claim in a field with underscores is forwarded": {
      in: "nameAtGateways",
      replace: "[^a-z\\d-]",
      by: "[^\\w-]",
      foundBy: "forwarding/forwarded-fields-replaced",
    },
    "a client's claim in a field with dots is forwarded": {
      in: "nameAtGateways",
      replace: "[^a-z\\d-]",
      by: "_",
      foundBy: "forwarding/forwarded-fields-replaced",
    },
    "a client's method override is forwarded where the answer may be stored": {
      in: "REQUEST_FIELDS",
      replace: '"x-http-method-override",',
      by: "",
      foundBy: "forwarding/forwarded-fields-replaced",
    },
    "a client's X-Real-IP is forwarded": {
      in: "REQUEST_FIELDS",
      replace: '"x-real-ip",',
      by: "",
      foundBy: "forwarding/forwarded-fields-replaced",
    },
    "the origin gets no Via": {
      in: "originRequestFields",
      replace: 'append(client.get("via"), "1.1 tidemark")',
      by: 'client.get("via") ?? ""',
      foundBy: "forwarding/forwarded-fields-replaced",
    },
    "the owner's extra field stands beside the edge's own": {
      in: "originRequestFields",
      replace: "isReflected || !isExtra(field[0])",
      by: "true",
      foundBy: "forwarding/owner-fields-replace-the-edges",
    },
    "a client's value of an extra field precedes the owner's": {
      in: "originRequestFields",
      replace: "fields.push(...extra);",
      by: "for (const [name, value] of extra) fields.push([name, client.get(name) ?? value]);",
      foundBy: "forwarding/owner-fields-reach-origin",
    },
    "a client sets the owner's extra field in the spelling with underscores": {
      in: "originRequestFields",
      replace: "extraNames.has(nameAtGateways(name))",
      by: "extraNames.has(name)",
      foundBy: "forwarding/owner-fields-reach-origin",
    },
  },
  "docs/http.md#redirects": {
    "the edge sends the origin Cache-Control: no-cache": {
      in: "originRequestFields",
      replace: "if (forwarded.cookie !== null)",
      by: 'fields.push(["cache-control", "no-cache"]); if (forwarded.cookie !== null)',
      foundBy: "forwarding/no-directives-added",
    },
  },
  "RFC 9110 §10.2.2": {
    "a relative Location is made absolute": {
      in: "publicLocation",
      replace: "/^[a-z][a-z0-9+.-]*:|^[/\\\\]{2}/i.test(location.trim())",
      by: "true",
      foundBy: "forwarding/redirect-hides-origin",
    },
  },
  "RFC 8586 §2": {
    "a request that loops is forwarded again": {
      in: "askOrigin",
      replace: "isLoop(context)",
      by: "false",
      foundBy: "forwarding/loop-is-508",
    },
    "a request that loops waits for itself": {
      in: "beginFetch",
      replace: " || isLoop(context)",
      by: "",
      foundBy: "forwarding/loop-does-not-wait-for-itself",
    },
    "another edge's member in CDN-Loop counts as this edge's own": {
      in: "hasLooped",
      replace: "const own = loopMember(host);",
      by: 'const own = "tidemark";',
      foundBy: "forwarding/outer-tidemark-is-no-loop",
    },
  },
  "docs/protocol.md#promise-6-failures-fall-back-to-the-origin": {
    "other caches may store the answer that the origin is down": {
      in: "EDGE_ANSWER_FIELDS",
      replace: '"cache-control": "no-store"',
      by: '"cache-control": "max-age=60"',
      foundBy: "forwarding/origin-down-is-502",
    },
  },
  "RFC 9111 §4": {
    "a POST is looked up like a GET": {
      in: "modeOf",
      replace: 'if (method !== "GET" && method !== "HEAD")',
      by: 'if (method !== "GET" && method !== "HEAD" && method !== "POST")',
      foundBy: "forwarding/post-goes-to-origin",
    },
    "a PUT is looked up like a GET": {
      in: "modeOf",
      replace: 'if (method !== "GET" && method !== "HEAD")',
      by: 'if (method !== "GET" && method !== "HEAD" && method !== "PUT")',
      foundBy: "forwarding/put-goes-to-origin",
    },
    "a PATCH is looked up like a GET": {
      in: "modeOf",
      replace: 'if (method !== "GET" && method !== "HEAD")',
      by: 'if (method !== "GET" && method !== "HEAD" && method !== "PATCH")',
      foundBy: "forwarding/patch-goes-to-origin",
    },
    "a DELETE is looked up like a GET": {
      in: "modeOf",
      replace: 'if (method !== "GET" && method !== "HEAD")',
      by: 'if (method !== "GET" && method !== "HEAD" && method !== "DELETE")',
      foundBy: "forwarding/delete-goes-to-origin",
    },
    "an unsafe method is reported as a bypass": {
      in: "wordsOfReason",
      replace: 'miss.because === "method" ? "method" : "bypass"',
      by: '"bypass"',
      foundBy: "forwarding/post-goes-to-origin",
    },
  },
};
