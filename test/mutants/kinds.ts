import type { Mutants } from "./mutant.ts";

const TARGET = "worker/rules/key/cache-key.ts";
const PREFIXES = "worker/rules/key/path-prefixes.ts";
const PREFIX = "worker/rules/key/purge-prefix.ts";
const HOST = "worker/rules/key/purge-host.ts";
const JUDGE = "worker/rules/freshness/judge.ts";
const VIEW = "worker/purges/view/view.ts";
const PURGE = "worker/control/purge.ts";
const WARNINGS = "worker/control/purge-warnings.ts";
const AUDIT = "worker/control/audit.ts";

const SEGMENTS = "a purge by prefix takes whole segments on every host, whatever their query, and nothing beside them";
const ONE_HOST = "a prefix that begins with a host takes the pages of that host alone, for http and https";
const REFUSED = "a prefix without a segment, with a star, or of another site is refused, and nothing is purged";
const DEEP = "a page below more segments than entries are filed under is purged by each of its prefixes";
const BY_HOST = "a purge by host takes every page of that host, and no other's";
const ONCE_MORE =
  "what was purged softly answers once more while it is fetched anew, where it has stale-while-revalidate";
const WINDOW =
  "while nothing new comes, a soft purge leaves a page usable as long as stale-while-revalidate says, and no longer";
const OF_THE_SITE = "where a response does not say, the site says for how long it may be used after a soft purge";
const OWN_END =
  "story 30: a soft purge never lengthens what the response's own rules allow, and neither does a restart";
const CONFIRMED =
  "where neither response nor site allows anything stale, what was purged softly is confirmed by the origin first";
const DRY = "a dry run tells what would be purged and takes no number, and nothing has changed after it";
const WARNED = "a purge warns of what its owner may not have expected, and is carried out all the same";
const AUDITED = "the audit trail tells who purged what, how and why, the newest first, and whether it has settled";

/** Wrong rules of the kinds and modes of purges, and of what they tell. */
export const kinds: Mutants = {
  "prefix-is-no-key": {
    name: "an entry is not filed under its prefixes",
    file: TARGET,
    from: "[prefixPurgeKey(prefix), hostPurgeKey(host, prefix)]",
    to: "[hostPurgeKey(host, prefix)]",
    reddens: SEGMENTS,
  },
  "prefix-is-half-a-segment": {
    name: "a prefix ends anywhere in a segment",
    file: PREFIXES,
    from: 'end = path.indexOf("/", end + 1);',
    to: "end = end + 1 < path.length ? end + 1 : -1;",
    reddens: SEGMENTS,
  },
  "prefix-is-its-parent": {
    name: "a prefix purges what lies beside it, too",
    file: PREFIX,
    from: "pathPrefixes(path).at(-1)",
    to: "pathPrefixes(path).at(0)",
    reddens: DEEP,
  },
  "deep-pages-have-no-prefix": {
    name: "a page that lies too deep is filed under no prefix",
    file: PREFIXES,
    from: "  return prefixes;",
    to: "  return prefixes.length < MAX_PREFIX_SEGMENTS ? prefixes : [];",
    reddens: DEEP,
  },
  "prefix-is-for-every-host": {
    name: "a prefix of one host purges all hosts",
    file: "worker/control/named-items.ts",
    from: "host === null ? prefixPurgeKey(prefix) :",
    to: "host !== undefined ? prefixPurgeKey(prefix) :",
    reddens: ONE_HOST,
  },
  "prefix-is-as-written": {
    name: "a prefix is compared as it is written",
    file: PREFIX,
    from: "const { path, search } = url;",
    to: "const { search } = url;\n  const path = pathText;",
    reddens: "a prefix is compared in the key's normal form, with or without a slash at its end",
  },
  "star-is-a-character": {
    name: "a star at the end of a prefix is taken for a character",
    file: PREFIX,
    from: 'if (path.endsWith("*"))',
    to: "if (false)",
    reddens: REFUSED,
  },
  "any-host-may-be-named": {
    name: "a host that is not the site's is accepted",
    file: HOST,
    from: "if (hosts && !hosts.includes(host))",
    to: "if (false)",
    reddens: BY_HOST,
  },
  "host-is-no-key": {
    name: "an entry is not filed under its host",
    file: TARGET,
    from: "      hostPurgeKey(host),\n",
    to: "",
    reddens: BY_HOST,
  },
  "soft-is-hard": {
    name: "a soft purge is carried out as a hard one",
    file: PURGE,
    from: 'mode: request.mode ?? "hard"',
    to: 'mode: "hard"',
    reddens: ONCE_MORE,
  },
  "soft-leaves-nothing": {
    name: "nothing is used after a soft purge",
    file: JUDGE,
    from: "const usable = soft !== null &&",
    to: "const usable = false && soft !== null &&",
    reddens: ONCE_MORE,
  },
  "soft-is-not-fetched-anew": {
    name: "what was purged softly is used, and nothing new is fetched",
    file: "worker/flow/corridor.ts",
    from: `    case "soft-purge":
      return "UPDATING";`,
    to: `      return "UPDATING";
    case "soft-purge":
      return "STALE";`,
    reddens: ONCE_MORE,
  },
  "soft-has-no-end": {
    name: "what was purged softly may be used for ever",
    file: JUDGE,
    from: "now - seenAt < (ownMs > 0 ? ownMs : forMs) &&",
    to: "forMs + seenAt > 0 &&",
    reddens: WINDOW,
  },
  "soft-ends-late": {
    name: "what was purged softly may be used at the end of its time",
    file: JUDGE,
    from: "now - seenAt < (ownMs",
    to: "now - seenAt <= (ownMs",
    reddens: WINDOW,
  },
  "soft-is-seen-at-each-look": {
    name: "the time of a soft purge begins anew with each look",
    file: VIEW,
    from: "this.#sightings.firstSeenAt(this.#checked.get(stored)?.seq ?? 0)",
    to: "this.#now()",
    reddens: WINDOW,
  },
  "site-says-nothing-of-soft": {
    name: "the site's own time after a soft purge is not looked at",
    file: JUDGE,
    from: "(ownMs > 0 ? ownMs : forMs)",
    to: "ownMs",
    reddens: OF_THE_SITE,
  },
  "soft-outlives-its-rules": {
    name: "a soft purge makes a response usable beyond its lifetime",
    file: JUDGE,
    from: " && ageMs < freshnessSeconds * 1000 + ownMs",
    to: " && ageMs < Infinity",
    reddens: OWN_END,
  },
  "soft-is-fetched-in-full": {
    name: "what was purged softly is not offered to the origin for confirmation",
    file: JUDGE,
    from: 'if (!usable) return { kind: "validate", because: "soft-purge" };',
    to: 'if (!usable) return { kind: "none", because: "purged" };',
    reddens: CONFIRMED,
  },
  "soft-outranks-must-revalidate": {
    name: "what must be revalidated is used after a soft purge",
    file: JUDGE,
    from: "if (!reuse.mayServeStale || awaitsPurge || authorized) return false;\n  const ownMs",
    to: "if (awaitsPurge || authorized) return false;\n  const ownMs",
    reddens: "what must be revalidated is not used after a soft purge, but confirmed by the origin first",
  },
  "bearer-takes-the-stale": {
    name: "the bearer of a soft purge's token takes what it purged",
    file: JUDGE,
    from: "if (!reuse.mayServeStale || awaitsPurge || authorized) return false;\n  const ownMs",
    to: "if (!reuse.mayServeStale || authorized) return false;\n  const ownMs",
    reddens: "story 4: after a soft purge, the bearer of its token takes nothing stale",
  },
  "soft-outranks-hard": {
    name: "a soft purge outranks a hard one",
    file: VIEW,
    from: '  ["hard", "purged"],\n  ["invalidate", "invalidated"],\n  ["soft", "soft"],',
    to: '  ["soft", "soft"],\n  ["hard", "purged"],\n  ["invalidate", "invalidated"],',
    reddens: "story 11: a soft purge after a hard one of the same page brings nothing back",
  },
  "stands-in-from-the-lifetime-on": {
    name: "stale-if-error is not counted from a soft purge",
    file: "worker/rules/freshness/stale-if-error.ts",
    from: "madeStaleAt === null ? 0 : now - madeStaleAt",
    to: "0",
    reddens:
      "a failed origin is stood in for after a soft purge as long as stale-if-error says, counted from the purge",
  },
  "soft-is-used-in-silence": {
    name: "what was purged softly is used while the log is silent",
    file: VIEW,
    from: 'return checked.answer === "soft" ? "invalidated" : checked.answer;',
    to: "return checked.answer;",
    reddens:
      "while the log is silent, what was purged softly is confirmed by the origin first, for it may be gone by now",
  },
  "invalidated-is-gone": {
    name: "what an unsafe request put out of date is thrown away",
    file: "worker/purges/invalidations.ts",
    from: 'mode: "invalidate"',
    to: 'mode: "hard"',
    reddens: "what an unsafe request put out of date is confirmed by the origin, and need not be fetched again",
  },
  "dry-run-is-none": {
    name: "a dry run is carried out",
    file: PURGE,
    from: "if (request.dryRun)",
    to: "if (false)",
    reddens: DRY,
  },
  "pass-is-not-warned-of": {
    name: "nobody is warned of a URL that is never stored",
    file: WARNINGS,
    from: "if (route.pass) return [",
    to: "if (false) return [",
    reddens: WARNED,
  },
  "browsers-are-not-warned-of": {
    name: "nobody is warned of what browsers keep",
    file: WARNINGS,
    from: "browserTtlSeconds <= edgeSeconds",
    to: "browserTtlSeconds >= edgeSeconds",
    reddens: WARNED,
  },
  "audit-is-open": {
    name: "the audit trail is told to anybody",
    file: "worker/control/app.ts",
    from: 'access.kind === "refused" ? access.response : auditAnswer(await purgePage(',
    to: 'access.kind === "never" as string ? access as never : auditAnswer(await purgePage(',
    reddens: AUDITED,
  },
  "audit-tells-keys": {
    name: "the audit trail tells purge keys",
    file: AUDIT,
    from: "purgeKeys.map(purgeItemText)",
    to: "[...purgeKeys]",
    reddens: AUDITED,
  },
  "audit-has-one-page": {
    name: "the audit trail has one page only",
    file: AUDIT,
    from: "audit.list(before, limit)",
    to: "audit.list(null, limit)",
    reddens: AUDITED,
  },
  "one-tag-field-is-read": {
    name: "tags are read in one spelling only",
    file: "worker/rules/storing/may-store.ts",
    from: "TAG_FIELDS.flatMap(",
    to: "TAG_FIELDS.slice(0, 1).flatMap(",
    reddens: "tags are read in every spelling of their field, split at commas and spaces, and kept from clients",
  },
  "refused-is-not-counted": {
    name: "what is not stored is not counted",
    file: "worker/flow/answering/pass-on.ts",
    from: 'if (because !== undefined) reporter.report({ kind: "not-stored", because });',
    to: "",
    reddens: "a response with a tag too many, or with one that is none, is not stored, and is counted",
  },
};
