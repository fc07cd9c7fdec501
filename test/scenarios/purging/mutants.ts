import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of the control plane's purges. */
export const mutants: Mutants = {
  "docs/reference/http-api.md#purge": {
    "an entry is not filed under its prefixes": {
      in: "urlPurgeKeys",
      replace: "prefixPurgeKey(prefix), hostPurgeKey(host, prefix)",
      by: "hostPurgeKey(host, prefix)",
      foundBy: "purging/by-prefix",
    },
    "a prefix may end within a segment": {
      in: "pathPrefixes",
      replace: 'end = path.indexOf("/", end + 1);',
      by: "end = end + 1 < path.length ? end + 1 : -1;",
      foundBy: "purging/by-prefix",
    },
    "a prefix also purges what lies beside it": {
      in: "parsePurgePrefix",
      replace: "pathPrefixes(path).at(-1)",
      by: "pathPrefixes(path).at(0)",
      foundBy: "purging/prefix-too-deep",
    },
    "a page that lies too deep is filed under no prefix": {
      in: "pathPrefixes",
      replace: "return prefixes;",
      by: "return prefixes.length < MAX_PREFIX_SEGMENTS ? prefixes : [];",
      foundBy: "purging/prefix-too-deep",
    },
    "a prefix with one host purges every host": {
      in: "planPrefix",
      replace: "host === null ? prefixPurgeKey(prefix) :",
      by: "host !== undefined ? prefixPurgeKey(prefix) :",
      foundBy: "purging/prefix-with-host",
    },
    "a host that is not the site's is accepted": {
      in: "parsePurgeHost",
      replace: "if (hosts && !hosts.includes(host))",
      by: "if (false)",
      foundBy: "purging/by-host",
    },
    "an entry is not filed under its host": {
      in: "urlPurgeKeys",
      replace: "[hostPurgeKey(host)]",
      by: "[]",
      foundBy: "purging/by-host",
    },
    "a URL is purged in the caller's spelling alone": {
      in: "otherSpellings",
      replace: "[raw, escaped]",
      by: "[]",
      foundBy: "purging/escaped-by-clients",
    },
    "a purge warns of a URL of whose spellings one had no page": {
      in: "purge",
      replace: "unseenItems(named, known)",
      by: "unseenItems(plan.purgeKeys, known)",
      foundBy: "purging/escaped-by-clients",
    },
    "what the router of Next fetches of a page is not filed under the page": {
      in: "urlPurgeKeys",
      replace: "[query, canonicalQuery(query, PAGE_OF_ITS_DATA)]",
      by: "[query]",
      foundBy: "purging/next-router",
    },
    "every page is filed under its path without a query": {
      in: "urlPurgeKeys",
      replace: "canonicalQuery(query, PAGE_OF_ITS_DATA)",
      by: '""',
      foundBy: "purging/next-router",
    },
    "a dry run is carried out": {
      in: "purge",
      replace: "if (request.dryRun)",
      by: "if (false)",
      foundBy: "purging/dry-run",
    },
    "no purge warns of a URL that is never stored": {
      in: "urlWarnings",
      replace: "if (route.pass) return [",
      by: "if (false) return [",
      foundBy: "purging/warns-of-surprises",
    },
    "no purge warns of what browsers keep": {
      in: "browserWarnings",
      replace: "browserTtlSeconds <= edgeSeconds",
      by: "browserTtlSeconds >= edgeSeconds",
      foundBy: "purging/warns-of-surprises",
    },
    "a purge that hits nothing says nothing": {
      in: "unseenItems",
      replace: "asked.length === 0 || !ledger",
      by: "true",
      foundBy: "purging/unseen-tag",
    },
    "a tag that a page has had is called unseen": {
      in: "unseenItems",
      replace: "!keys.has(seen)",
      by: "true",
      foundBy: "purging/unseen-after-an-hour",
    },
    "what this isolate has not reported yet is never the nearest": {
      in: "unseenItems",
      replace: "nearest = nearestKey(asked[at]!.seen, [...keys])",
      by: "nearest",
      foundBy: "purging/unseen-tag",
    },
    "a ledger that has just begun is taken at its word": {
      in: "unseenItems",
      replace: "isSure ?",
      by: "true || isSure ?",
      foundBy: "purging/unseen-after-an-hour",
    },
    "what is like no other is not missed": {
      in: "unseenItems",
      replace: "isSure ?",
      by: "false && isSure ?",
      foundBy: "purging/unseen-after-an-hour",
    },
    "a receipt waits for a ledger that is silent": {
      in: "unseenItems",
      replace: "within(clock, ANSWER_WITHIN_MS, told, () => [])",
      by: "told",
      foundBy: "purging/unseen-while-the-ledger-is-slow",
    },
    "a page that is fetched again is called unseen": {
      in: "purge",
      replace: "!known || request.refresh",
      by: "!known",
      foundBy: "purging/unseen-in-dry-run",
    },
    "a whole URL is not looked up": {
      in: "seenAs",
      replace: 'purgeKey.replace(/^\\/\\/[^/]*/, "path:")',
      by: "purgeKey",
      foundBy: "purging/unseen-after-an-hour",
    },
    "reports name no keys": {
      in: "Reports.#make",
      replace: "this.#counters.sightings.take()",
      by: "[]",
      foundBy: "purging/unseen-known-by-the-ledger",
    },
    "the ledger forgets what reports have named": {
      in: "SqlLedger.#writeHeld",
      drop: "this.#seen.take([...this.#seenKeys]);",
      foundBy: "purging/unseen-by-all-isolates",
    },
    "the ledger finds no nearest key": {
      in: "SqlSeenKeys.unseen",
      replace: "nearestKey(keys[at]!, known)",
      by: "undefined",
      foundBy: "purging/unseen-known-by-the-ledger",
    },
    "the audit trail is shown without a token": {
      in: "ROUTES",
      replace: 'path: "purges", scope: "read"',
      by: 'path: "purges", scope: null',
      foundBy: "purging/audit-trail",
    },
    "the audit trail shows purge keys": {
      in: "recordBody",
      replace: "purgeKeys.map(purgeItemText)",
      by: "[...purgeKeys]",
      foundBy: "purging/audit-trail",
    },
    "the audit trail has only one page": {
      in: "listPurges",
      replace: "audit.list(before === undefined ? null : Number(before), Number(limit))",
      by: "audit.list(null, Number(limit))",
      foundBy: "purging/audit-trail",
    },
    "a relative URL is purged on one host only": {
      in: "planUrl",
      replace: "relative ? pathPurgeKey(pathAndQuery) :",
      by: "",
      foundBy: "purging/relative-and-absolute-urls",
    },
    "an absolute URL is purged on every host": {
      in: "planUrl",
      replace: "urlPurgeKey(target.host, pathAndQuery)",
      by: "pathPurgeKey(pathAndQuery)",
      foundBy: "purging/relative-and-absolute-urls",
    },
    "a purge of everything purges nothing": {
      in: "purgeKeysOf",
      replace: "[EVERYTHING_PURGE_KEY,",
      by: "[",
      foundBy: "purging/everything-at-once",
    },
    "a PURGE request is forwarded to the origin": {
      in: "isForControl",
      replace: 'method === "PURGE" || isControl(url) ||',
      by: "isControl(url) ||",
      foundBy: "purging/purge-method",
    },
    "a purge without a token is carried out": {
      in: "authorize",
      replace: 'verdict.kind === "allowed") return { kind: "allowed", name: verdict.name, token: token! }',
      by: '!token || verdict.kind === "allowed") return { kind: "allowed", name: "", token: "" }',
      foundBy: "purging/wrong-token",
    },
    "a purge with a wrong token is carried out": {
      in: "authorize",
      replace: 'verdict.kind === "allowed") return { kind: "allowed", name: verdict.name, token: token! }',
      by: 'token) return { kind: "allowed", name: "", token }',
      foundBy: "purging/wrong-token",
    },
    "a refresh without the right token is carried out": {
      in: "corridor:refresh",
      replace: 'if (verdict.kind === "refused")',
      by: "if (false)",
      foundBy: "purging/refresh-needs-token",
    },
  },
  "docs/http.md#the-cache-key": {
    "a prefix is compared as it is written": {
      in: "parsePurgePrefix",
      replace: "{ path, search } = url",
      by: "{ search } = url; const path = pathText",
      foundBy: "purging/prefix-is-normalized",
    },
    "a URL is purged only in the spelling that the purge has": {
      in: "planUrl",
      replace: "pathPurgeKey(pathAndQuery) :",
      by: "pathPurgeKey(url) :",
      foundBy: "purging/any-spelling-of-url",
    },
  },
  "docs/protocol.md#promise-5-purges-are-whole-and-durable": {
    "a star at the end of a prefix counts as a character": {
      in: "parsePurgePrefix",
      replace: 'if (path.endsWith("*"))',
      by: "if (false)",
      foundBy: "purging/refused-prefixes",
    },
    "a purge with a bad item purges the good ones": {
      in: "purge",
      replace: "if (plan.errors.length > 0)",
      by: "if (plan.errors.length > 0 && plan.purgeKeys.length === 0)",
      foundBy: "purging/bad-item-rejects-all",
    },
    "an id that was used for other items counts as a replay": {
      in: "SqlPurgeLog.append",
      replace: "first && (first.content !== purge.content || first.mode !== mode)",
      by: "false",
      foundBy: "purging/retried-with-same-id",
    },
    "a purge that is sent again gets a new number": {
      in: "SqlPurgeLog.append",
      replace: "first?.seq ?? this.#addNew(purge, mode, now, boundMs)",
      by: "this.#addNew(first ? { ...purge, id: null } : purge, mode, now, boundMs)",
      foundBy: "purging/retried-with-same-id",
    },
    "a purge that did not reach the log is reported as a conflict": {
      in: "purge",
      replace: 'return { kind: "unavailable", cause };',
      by: 'return { kind: "conflict" };',
      foundBy: "purging/refused-while-log-silent",
    },
  },
  "docs/protocol.md#soft-purges": {
    "a soft purge is carried out as a hard one": {
      in: "purge",
      replace: 'mode: request.mode ?? "hard"',
      by: 'mode: "hard"',
      foundBy: "purging/soft-serves-while-refetching",
    },
    "nothing is used after a soft purge": {
      in: "judge",
      replace: "const usable = soft !== null &&",
      by: "const usable = false && soft !== null &&",
      foundBy: "purging/soft-serves-while-refetching",
    },
    "a softly purged page is used, and nothing new is fetched": {
      in: "xCacheOf",
      replace: 'case "soft-purge": return "UPDATING";',
      by: 'return "UPDATING"; case "soft-purge": return "STALE";',
      foundBy: "purging/soft-serves-while-refetching",
    },
    "a softly purged page may be used for ever": {
      in: "isUsableAfterSoftPurge",
      replace: "now - seenAt < (ownMs > 0 ? ownMs : forMs) &&",
      by: "forMs + seenAt > 0 &&",
      foundBy: "purging/soft-ends-with-window",
    },
    "a softly purged page may still be used at the very end of its time": {
      in: "isUsableAfterSoftPurge",
      replace: "now - seenAt < (ownMs",
      by: "now - seenAt <= (ownMs",
      foundBy: "purging/soft-ends-with-window",
    },
    "the time after a soft purge begins anew with each look-up": {
      in: "PurgeView.madeStaleAt",
      wrap: "() => this.#now()",
      foundBy: "purging/soft-ends-with-window",
    },
    "the time after a soft purge begins when an isolate learns of it": {
      in: "LeasedView.takeReply",
      replace: "this.#view.apply(delta, sightingsIn(delta, startedAt))",
      by: "this.#view.apply(delta, [{ seq: delta.to, at: startedAt }])",
      foundBy: ["purging/soft-ends-while-idle", "purging/soft-ends-for-a-newcomer", "purging/soft-ends-far-away"],
    },
    "the time after a soft purge begins when an isolate gets a copy of the view": {
      in: "LeasedView.takeCopy",
      replace: "this.#view.apply(delta, sightings)",
      by: "this.#view.apply(delta)",
      foundBy: "purging/soft-ends-in-a-shared-view",
    },
    "the time after a soft purge begins with a push, however late it is": {
      in: "LeasedView.#sentAt",
      replace: "this.#timing.isUsable(now, 0) ? now : Math.max(0, this.#timing.startedAt)",
      by: "now",
      foundBy: "purging/soft-ends-before-a-late-push",
    },
    "the site's own time after a soft purge is ignored": {
      in: "isUsableAfterSoftPurge",
      replace: "(ownMs > 0 ? ownMs : forMs)",
      by: "ownMs",
      foundBy: "purging/soft-window-of-site",
    },
    "a soft purge makes a response usable beyond its lifetime": {
      in: "isUsableAfterSoftPurge",
      replace: "&& ageMs < freshnessSeconds * 1000 + ownMs",
      by: "&& ageMs < Infinity",
      foundBy: "purging/soft-never-lengthens",
    },
    "a softly purged page is not offered to the origin for confirmation": {
      in: "judge",
      replace: 'if (!usable) return { kind: "validate", because: "soft-purge" };',
      by: 'if (!usable) return { kind: "none", because: "purged" };',
      foundBy: "purging/soft-without-stale-use",
    },
    "a page with must-revalidate is used after a soft purge": {
      in: "isUsableAfterSoftPurge",
      replace: "!mayBeStale(reuse, rules) || awaitsPurge",
      by: "awaitsPurge",
      foundBy: "purging/soft-and-must-revalidate",
    },
  },
  R9: {
    "a request with a soft purge's token gets the page that was purged": {
      in: "isUsableAfterSoftPurge",
      replace: "!mayBeStale(reuse, rules) || awaitsPurge || authorized",
      by: "!mayBeStale(reuse, rules) || authorized",
      foundBy: "purging/soft-and-token",
    },
  },
  R10: {
    "a soft purge outranks a hard one": {
      in: "ANSWERS",
      replace: '["hard", "purged"], ["invalidate", "invalidated"], ["soft", "soft"],',
      by: '["soft", "soft"], ["hard", "purged"], ["invalidate", "invalidated"],',
      foundBy: "purging/soft-after-hard",
    },
  },
  R18: {
    "stale-if-error is not counted from a soft purge": {
      in: "mayServeOnError",
      replace: "madeStaleAt === null ? 0 : now - madeStaleAt",
      by: "0",
      foundBy: "purging/soft-and-stale-if-error",
    },
  },
  R8: {
    "a softly purged page is used while the log is silent": {
      in: "PurgeView.check",
      replace: 'return answer === "soft" ? "invalidated" : answer;',
      by: "return answer;",
      foundBy: "purging/soft-while-log-silent",
    },
  },
  "docs/http.md#what-clients-see": {
    "tags are read from only one spelling of their field": {
      in: "mayStore",
      replace: "TAG_FIELDS.map(",
      by: "TAG_FIELDS.slice(0, 1).map(",
      foundBy: "purging/tag-field-spellings",
    },
    "tags are not read from the fields of Netlify and Vercel": {
      in: "TAG_FIELDS",
      replace: '"netlify-cache-tag", "vercel-cache-tag",',
      by: "",
      foundBy: "purging/tag-field-spellings",
    },
    "a response that is refused for its tags is not counted": {
      in: "passOn",
      drop: "if (notStored !== undefined) reportNotStored(context, notStored);",
      foundBy: "purging/too-many-or-invalid-tags",
    },
    "tags that differ in letter case count as one": {
      in: "tagPurgeKey",
      wrap: "(tag) => original(tag.toLowerCase())",
      foundBy: "purging/tags-are-case-sensitive",
    },
  },
  "docs/protocol.md#what-a-purge-promises": {
    "the tags that the origin names are not stored": {
      in: "collectTags",
      replace: 'if (tag !== "") tags.add(tag);',
      by: "tags.size;",
      foundBy: "purging/by-tag",
    },
    "a purge by tag purges everything": {
      in: "tagPurgeKey",
      wrap: "() => EVERYTHING_PURGE_KEY",
      foundBy: "purging/by-tag",
    },
  },
  "docs/reference/worker.md#siteinput": {
    "the tags of a route are not stored": {
      in: "collectTags",
      replace: "new Set(routeTags)",
      by: "new Set<string>()",
      foundBy: "purging/tags-of-route",
    },
  },
  R20: {
    "an error with a lifetime takes the place of the page that somebody has refreshed": {
      in: "isRefresh",
      replace: '|| facts.mode === "refresh"',
      by: "",
      foundBy: "purging/refresh-is-an-error",
    },
    "a purge does not refetch its URLs, although it was asked to": {
      in: "purge",
      replace: "request.refresh ? plan.refresh : []",
      by: "[]",
      foundBy: "purging/refresh-with-purge",
    },
    "the reply to a purge brings the caller's view up to just before the purge": {
      in: "ViewLease.takeReplyAndShare",
      replace: "const isTaken = this.takeReply(delta, call);",
      by: "const isTaken = this.takeReply({ ...delta, to: delta.to - 1 }, call);",
      foundBy: "purging/refresh-serves-whole-pop",
    },
    "the repeat of a purge with an id counts as a replay": {
      in: "SqlPurgeLog.runDue",
      replace: "this.#add(audited, hashes, now, this.#leases.longestLivingMs(now) + skewMs);",
      by: `if (!this.#audit.firstWithId((JSON.parse(purge) as AuditedPurge).id ?? "", now)) {
  this.#add(audited, hashes, now, this.#leases.longestLivingMs(now) + skewMs);
}`,
      foundBy: "purging/repeated-with-id",
    },
  },
  "docs/security.md#what-of-a-request-reaches-the-origin": {
    "the trace of a purge does not go on to the origin": {
      in: "refreshFields",
      replace: "return [[REFRESH_FIELD, token], ...trace];",
      by: "return [[REFRESH_FIELD, token]];",
      foundBy: "purging/refresh-carries-trace",
    },
    "a refresh sends traceparent without its tracestate": {
      in: "withTraceState",
      replace: '[...rules.keyFields, "tracestate"]',
      by: "rules.keyFields",
      foundBy: "purging/refresh-carries-trace",
    },
    "a traceparent that is none is sent to the origin, so that the page is not stored": {
      in: "refreshFields",
      replace: "hasTrace ? [...headers]",
      by: "hasTrace || headers.has('tracestate') ? [...headers]",
      foundBy: "purging/refresh-carries-trace",
    },
  },
};
