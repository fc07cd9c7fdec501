import type { Mutants } from "./mutant.ts";

const RULE = "worker/rules/invalidation/invalidated-urls.ts";
const SAFE = "worker/rules/invalidation/safe-method.ts";
const GROUPS = "worker/rules/invalidation/cache-groups.ts";
const FLOW = "worker/flow/origin/invalidation.ts";
const TELLING = "worker/purges/invalidations.ts";

const NAMED = "in the answer to a POST puts what it names out of date";
const NOT_NAMED = "in the answer to a POST puts nothing else out of date";
const IN_GROUPS = "the answer to an unsafe request puts the groups out of date that it names, and no others";
const STORM = "a storm of POSTs to many URLs tells the log 16 times in a lease, and then of all the others at once";
const HUNDRED = "a hundred POSTs to one URL are two entries in the log: one at once, one when the lease is over";
const LOST = "an unsafe request whose answer is lost may have succeeded, and puts its URL out of date";
const LONGEST = "a group's name may have 256 characters, and a longer one is passed over beside the others";
const SECOND = "what a second POST within a lease has put out of date is told to the log when the lease is over";
const DROPPED = "what the log could not be told in five leases is dropped, and counted";

/** Wrong rules of what unsafe methods put out of date. */
export const invalidation: Mutants = {
  "log-is-not-told": {
    name: "what an unsafe request put out of date stays so in its own isolate",
    file: FLOW,
    from: "ports.invalidations.tell([...new Set(purgeKeys)], background);",
    to: "",
    reddens: "an isolate that does not know of a POST serves the old page until its lease is over, and never after",
  },
  "own-copy-is-kept": {
    name: "the isolate's own copy waits for the log",
    file: FLOW,
    from: "ports.store.forget(cacheKey)",
    to: "Promise.resolve(cacheKey)",
    reddens: "while the log is silent, the isolate that sent the POST on has dropped the page all the same",
  },
  "old-fetch-is-waited-for": {
    name: "who comes after a POST waits for a fetch that began before it",
    file: FLOW,
    from: "collapsed.abandonKey(cacheKey);",
    to: "{}",
    reddens: "who comes while a POST is told to the log does not wait for a fetch that began before it",
  },
  "lost-answer-is-a-failure": {
    name: "an unsafe request whose answer is lost puts nothing out of date",
    file: FLOW,
    from: "result.response.status : 200",
    to: "result.response.status : 500",
    reddens: LOST,
  },
  "late-answer-is-a-failure": {
    name: "an unsafe request that takes too long puts nothing out of date",
    file: FLOW,
    from: 'if (result.kind === "refused"',
    to: 'if ((result.kind === "failed" && result.answer().status === 504) || result.kind === "refused"',
    reddens: "an unsafe request that is answered too late may have succeeded, and puts its URL out of date",
  },
  "loop-invalidates": {
    name: "a request that the edge refused puts its URL out of date",
    file: FLOW,
    from: 'result.kind === "refused" || ',
    to: "",
    reddens: "a request that came back to its own edge puts nothing out of date: the origin did not see it",
  },
  "pass-route-tells-the-log": {
    name: "a route that passes everything tells the log of each unsafe request",
    file: FLOW,
    from: " || resolved.route.pass",
    to: "",
    reddens: "a route that passes everything never tells the log, whatever its answers name",
  },
  "hidden-origin-is-another-host": {
    name: "a Location that names the hidden origin is taken for another host's",
    file: FLOW,
    from: "clientFields(context, result.response.headers)",
    to: "result.response.headers",
    reddens: "a Location that names the hidden origin names the public site, and puts that page out of date",
  },
  "spelling-counts": {
    name: "what is put out of date is named as the request spells it",
    file: FLOW,
    from: "const target = context.resolve(each);",
    to: 'const target = { ...context.resolve(each), cacheKey: context.url, kind: "resolved" };',
    reddens: "an unsafe request puts the page out of date under every spelling of its URL that shares the key",
  },
  "query-does-not-count": {
    name: "an unsafe request puts the path without its query out of date",
    file: RULE,
    from: "withoutFragment(url: URL): string {",
    to: "withoutFragment(url: URL): string {\n  url.search = '';",
    reddens: "an unsafe request puts a URL out of date with its query, and no other query of the path",
  },
  "error-invalidates": {
    name: "an answer of 400 counts as a success",
    file: RULE,
    from: "status > 399",
    to: "status > 400",
    reddens: "an answer of 400 to a POST puts nothing out of date",
  },
  "every-error-invalidates": {
    name: "what failed counts as a success",
    file: RULE,
    from: " || status < 200 || status > 399",
    to: "",
    reddens: "an answer of 503 to a POST puts nothing out of date",
  },
  "redirect-is-no-success": {
    name: "only a 2xx counts as a success",
    file: RULE,
    from: "status > 399",
    to: "status > 299",
    reddens: "an answer of 303 to a POST puts its URL out of date",
  },
  "last-success-is-none": {
    name: "an answer of 399 does not count as a success",
    file: RULE,
    from: "status > 399",
    to: "status > 398",
    reddens: "an answer of 399 to a POST puts its URL out of date",
  },
  "location-is-not-read": {
    name: "Location puts nothing out of date",
    file: RULE,
    from: "[location, contentLocation]",
    to: "[contentLocation]",
    reddens: `a Location, absolute, ${NAMED}`,
  },
  "content-location-is-not-read": {
    name: "Content-Location puts nothing out of date",
    file: RULE,
    from: "[location, contentLocation]",
    to: "[location]",
    reddens: `a Content-Location, absolute, ${NAMED}`,
  },
  "first-field-is-enough": {
    name: "Content-Location is read only where there is no Location",
    file: RULE,
    from: "[location, contentLocation]",
    to: "[location ?? contentLocation]",
    reddens: `a Location and a Content-Location, ${NAMED}`,
  },
  "relative-is-malformed": {
    name: "only absolute locations are read",
    file: RULE,
    from: "URL.parse(text, target.href)",
    to: "URL.parse(text)",
    reddens: `a Location, relative, ${NAMED}`,
  },
  "relative-is-to-the-root": {
    name: "locations are relative to the site, not to the request",
    file: RULE,
    from: "URL.parse(text, target.href)",
    to: "URL.parse(text, 'http://elsewhere.test/')",
    reddens: `a Location, relative to the request's path, ${NAMED}`,
  },
  "other-scheme-counts": {
    name: "a location under another scheme is put out of date",
    file: RULE,
    from: "protocol === target.protocol && ",
    to: "",
    reddens: `a Location under another scheme, ${NOT_NAMED}`,
  },
  "other-host-counts": {
    name: "one host puts pages of another out of date",
    file: RULE,
    from: "host === target.host && ",
    to: "",
    reddens: `a Location on another host, ${NOT_NAMED}`,
  },
  ...Object.fromEntries(
    ["OPTIONS", "QUERY", "PROPFIND", "REPORT"].map((method) => [
      `${method.toLowerCase()}-invalidates`,
      {
        name: `${method} is taken for unsafe`,
        file: SAFE,
        from: `"${method}", `,
        to: "",
        reddens: `${method} only reads, and puts nothing out of date`,
      },
    ]),
  ),
  "get-invalidates": {
    name: "a GET that is passed on is taken for unsafe",
    file: SAFE,
    from: '"GET", "HEAD"',
    to: '"HEAD"',
    reddens: "Cache-Group-Invalidation in the answer to a GET puts nothing out of date",
  },
  "search-invalidates": {
    name: "SEARCH is taken for unsafe",
    file: SAFE,
    from: ', "SEARCH"',
    to: "",
    reddens: "SEARCH only reads, and puts nothing out of date",
  },
  "unknown-is-safe": {
    name: "only the four usual methods are unsafe",
    file: SAFE,
    from: "return SAFE_METHODS.has(method);",
    to: 'return !["POST", "PUT", "PATCH", "DELETE"].includes(method);',
    reddens: "a method that nobody knows may change anything, and puts its URL out of date",
  },
  ...Object.fromEntries(
    ["PUT", "POST", "DELETE", "PATCH"].map((method) => [
      `${method.toLowerCase()}-is-safe`,
      {
        name: `${method} is taken for safe`,
        file: SAFE,
        from: '"GET", "HEAD"',
        to: `"GET", "HEAD", "${method}"`,
        reddens: `a ${method} that succeeds puts its own URL out of date`,
      },
    ]),
  ),
  "log-is-told-each-time": {
    name: "the log is told of one URL more than once in a lease",
    file: TELLING,
    from: " && !purgeKeys.some((key) => this.#told.has(key))",
    to: "",
    reddens: HUNDRED,
  },
  "log-is-told-once": {
    name: "what comes again within a lease is forgotten",
    file: TELLING,
    from: "this.#flush ??= this.#flushAfterLease();",
    to: "this.#flush ??= Promise.resolve();",
    reddens: SECOND,
  },
  "waiting-is-not-merged": {
    name: "what waits for the next lease is told in one append each",
    file: TELLING,
    from: "await this.#tellNow(this.#beginLease(this.#clock.now()));",
    to: "for (const key of this.#beginLease(this.#clock.now())) await this.#tellNow([key]);",
    reddens: STORM,
  },
  "budget-is-larger": {
    name: "a storm tells the log more often than allowed",
    file: TELLING,
    from: "MAX_APPENDS = 16",
    to: "MAX_APPENDS = 17",
    reddens: STORM,
  },
  "budget-is-smaller": {
    name: "a storm tells the log less often than allowed",
    file: TELLING,
    from: "MAX_APPENDS = 16",
    to: "MAX_APPENDS = 15",
    reddens: STORM,
  },
  "log-is-not-told-again": {
    name: "what the log did not hear is not told again",
    file: TELLING,
    from: "if (attempt === MAX_ATTEMPTS) return",
    to: "if (attempt > 0) return",
    reddens: "while the log is silent, it is told again each lease, until it has heard",
  },
  "log-is-told-for-ever": {
    name: "what the log does not hear is told once more than allowed",
    file: TELLING,
    from: "MAX_ATTEMPTS = 5",
    to: "MAX_ATTEMPTS = 6",
    reddens: DROPPED,
  },
  "log-is-given-up-early": {
    name: "what the log does not hear is dropped a lease too early",
    file: TELLING,
    from: "MAX_ATTEMPTS = 5",
    to: "MAX_ATTEMPTS = 4",
    reddens: DROPPED,
  },
  "dropped-is-not-counted": {
    name: "what the log was never told is not counted",
    file: TELLING,
    from: 'return this.#reporter.report({ kind: "invalidation-dropped" });',
    to: "return;",
    reddens: DROPPED,
  },
  "groups-are-not-kept": {
    name: "a page does not remember its groups",
    file: "worker/flow/storing/storage-decision.ts",
    from: "...tags.map(tagPurgeKey), ...groups]",
    to: "...tags.map(tagPurgeKey)]",
    reddens: IN_GROUPS,
  },
  "groups-are-not-told": {
    name: "Cache-Group-Invalidation is not read",
    file: FLOW,
    from: "purgeKeys.push(...groups",
    to: "purgeKeys.push(...groups.slice(1)",
    reddens: LONGEST,
  },
  "groups-of-errors-count": {
    name: "an error puts groups out of date",
    file: FLOW,
    from: "status < 400 ?",
    to: "true ?",
    reddens: "an answer of 400 to a POST puts nothing out of date",
  },
  "groups-are-of-all-hosts": {
    name: "one host puts another's groups out of date",
    file: "worker/rules/key/purge-key.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source's own template
    from: "`group:${scheme}://${host} ${group}`",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
    to: "`group:${scheme} ${group}`",
    reddens: "groups hold for one host: another host's group of the same name stays",
  },
  "groups-are-tags": {
    name: "a group is filed under the tag of the same name",
    file: "worker/rules/key/purge-key.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source's own template
    from: "`group:${scheme}://${host} ${group}`",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
    to: "`#${group}`",
    reddens: "a group is no tag, and a tag is no group",
  },
  "groups-are-lower-case": {
    name: "groups do not differ in case",
    file: GROUPS,
    from: "return [...new Set(groups)]",
    to: "return [...new Set(groups.map((group) => group.toLowerCase()))]",
    reddens: IN_GROUPS,
  },
  "parameters-are-part-of-groups": {
    name: "a group with parameters is another one",
    file: GROUPS,
    from: "map(([value]) => value)",
    to: 'map(([value, parameters]) => (parameters.size > 0 ? String(value) + ";" : value))',
    reddens: IN_GROUPS,
  },
  "one-string-is-enough": {
    name: "strings beside a member of another kind are read",
    file: GROUPS,
    from: 'values.every((value) => typeof value === "string") ? values : []',
    to: 'values.filter((value) => typeof value === "string")',
    reddens: "Cache-Groups and Cache-Group-Invalidation with one member of another kind count as absent",
  },
  "longest-group-is-too-long": {
    name: "a group of 256 characters is passed over",
    file: GROUPS,
    from: "MAX_GROUP_CHARACTERS = 256",
    to: "MAX_GROUP_CHARACTERS = 255",
    reddens: LONGEST,
  },
  "longer-group-is-read": {
    name: "a group of 257 characters is read",
    file: GROUPS,
    from: "MAX_GROUP_CHARACTERS = 256",
    to: "MAX_GROUP_CHARACTERS = 257",
    reddens: LONGEST,
  },
  "long-group-spoils-the-others": {
    name: "one group that is too long makes the whole field count as absent",
    file: GROUPS,
    from: ".filter((group) => group.length <= MAX_GROUP_CHARACTERS)",
    to: "",
    reddens: LONGEST,
  },
  "freshened-page-forgets-its-groups": {
    name: "a page that a 304 freshened has the 304's groups alone",
    file: "worker/flow/storing/freshening.ts",
    from: "[...verdict.head.purgeKeys, ...head.purgeKeys]",
    to: "verdict.head.purgeKeys",
    reddens: "a page that a 304 has freshened belongs to the groups of before and to those of the 304",
  },
  "groups-are-hidden": {
    name: "clients do not see a page's groups",
    file: "worker/rules/forwarding/client-response-fields.ts",
    from: '["x-cache", ...TAG_FIELDS]',
    to: '["x-cache", "cache-groups", ...TAG_FIELDS]',
    reddens: "clients see the groups of a page and what an answer puts out of date, for their own caches",
  },
  "members-go-with-their-page": {
    name: "an unsafe request puts all that is in a group with its page out of date",
    file: FLOW,
    from: "if (purgeKeys.length === 0) return;",
    to: `for (const { cacheKey } of invalidated) {
      const stored = ports.store.recall(cacheKey);
      if (stored && "purgeKeys" in stored.head) purgeKeys.push(...stored.head.purgeKeys.filter((each) => each.startsWith("group:")));
    }`,
    reddens: "an unsafe request puts the other members of its page's groups out of date only where the answer says so",
  },
};
