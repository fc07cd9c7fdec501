import type { Mutation } from "../mutants/mutant.ts";

/** A wrong rule of `tidemark check`, and the case that finds it. */
export interface CheckMutant extends Mutation {
  /** A sentence that describes the wrong rule. */
  readonly name: string;
  /** The name of the case in `findings.ts` that must fail under it. */
  readonly reddens: string;
}

const BUNDLE = "setup/check/bundle-findings.ts";
const SITE = "setup/check/site-findings.ts";
const WRANGLER = "setup/check/wrangler-settings.ts";

export const checkMutants: readonly CheckMutant[] = [
  {
    name: "an edge without a purge log can be deployed",
    file: WRANGLER,
    from: "if (purgeLog === null) {",
    to: "if (purgeLog === null) return [];\n  if (purgeLog === null) {",
    reddens: "no binding",
  },
  {
    name: "an environment is told to add the lines of the top level",
    file: WRANGLER,
    from: "environment === null ? PURGE_LOG_TOML : linesOfEnvironment(environment)",
    to: "PURGE_LOG_TOML",
    reddens: "no binding in an environment",
  },
  {
    name: "the place of a finding does not name the environment",
    file: WRANGLER,
    from: "return environment === null ? file :",
    to: "return environment !== undefined ? file :",
    reddens: "no binding in an environment",
  },
  {
    name: "the worker need not export the class",
    file: WRANGLER,
    from: "if (!exported.includes(name)) {",
    to: "if (exported.includes(name) && !exported.includes(name)) {",
    reddens: "a class that the worker does not export",
  },
  {
    name: "the class of another worker has to be exported by this one",
    file: WRANGLER,
    from: "if (purgeLog.script_name !== undefined) return [];",
    to: "",
    reddens: "a class of another worker",
  },
  {
    name: "a class needs no migration",
    file: WRANGLER,
    from: "} else if (!made.includes(name)) {",
    to: "} else if (made.length > 99) {",
    reddens: "no migration",
  },
  {
    name: "any class that a migration makes is the right one",
    file: WRANGLER,
    from: "} else if (!made.includes(name)) {",
    to: "} else if (made.length === 0) {",
    reddens: "a migration of another class",
  },
  {
    name: "the tag of the missing migration is always the first",
    file: WRANGLER,
    from: "{migrations.length + 1}",
    to: "{1}",
    reddens: "a migration of another class",
  },
  {
    name: "a class that was renamed counts as missing",
    file: WRANGLER,
    from: "...(each.renamed_classes ?? []).map(({ to }) => to),",
    to: "",
    reddens: "a class that was renamed",
  },
  {
    name: "a class without SQLite counts as missing only",
    file: WRANGLER,
    from: "each.new_classes?.includes(name)",
    to: "each.new_classes === undefined && name === undefined",
    reddens: "a migration without SQLite",
  },
  {
    name: "a token may stand in vars",
    file: WRANGLER,
    from: "settings.vars.TIDEMARK_TOKEN !== undefined",
    to: "settings.vars.TIDEMARK_TOKEN === null",
    reddens: "a token that everybody can read",
  },
  {
    name: "nobody is warned of workers.dev",
    file: WRANGLER,
    from: "settings.routedHosts === null && settings.isOnWorkersDev",
    to: "settings.routedHosts?.length === 0 && settings.isOnWorkersDev",
    reddens: "no domain",
  },
  {
    name: "everybody without routes is warned of workers.dev",
    file: WRANGLER,
    from: "settings.routedHosts === null && settings.isOnWorkersDev",
    to: "settings.routedHosts === null",
    reddens: "no domain, and not on workers.dev",
  },
  {
    name: "everybody on workers.dev is warned, even with a domain",
    file: WRANGLER,
    from: "settings.routedHosts === null && settings.isOnWorkersDev",
    to: "settings.isOnWorkersDev",
    reddens: "a domain beside workers.dev",
  },
  {
    name: "what variables make invalid is not told",
    file: SITE,
    from: "if (review.errors.length > 0) {",
    to: "if (review.errors.length > 99) {",
    reddens: "an error that a variable makes",
  },
  {
    name: "routes that never match are not told",
    file: SITE,
    from: "review.shadowed.map(",
    to: "review.shadowed.slice(1).map(",
    reddens: "a route that never matches",
  },
  {
    name: "the places of the two routes are mixed up",
    file: "wire/site-review.ts",
    from: "{by.index}",
    to: "{by.index + 1}",
    reddens: "a route that never matches",
  },
  {
    name: "any name that begins like localhost is this machine",
    file: SITE,
    from: ".*\\.localhost)$/",
    to: ".*\\.localhost)/",
    reddens: "an origin with localhost in its name",
  },
  {
    name: "nobody is warned of an origin on this machine",
    file: SITE,
    from: ".test(new URL(review.originUrl).hostname)",
    to: ".test(review.originUrl)",
    reddens: "the origin http://localhost:8000",
  },
  {
    name: "a site without hosts can be deployed",
    file: SITE,
    from: "if (!review.namesHosts) {",
    to: "if (!review.namesHosts && review.hosts !== null) {",
    reddens: "no host",
  },
  {
    name: "nobody is warned of an edge for any host",
    file: SITE,
    from: "review.namesHosts && review.hosts === null",
    to: "!review.namesHosts && review.hosts?.length === 0",
    reddens: "any host",
  },
  {
    name: "a site without hosts is also warned of any host",
    file: SITE,
    from: "review.namesHosts && review.hosts === null",
    to: "review.hosts === null",
    reddens: "no host",
  },
  {
    name: "routes may send other hosts",
    file: SITE,
    from: "review.hosts.includes(host)) continue;",
    to: "review.hosts.length > 0) continue;",
    reddens: "a route to a host that the site does not have",
  },
  {
    name: "a wildcard counts as a host that the site does not have",
    file: SITE,
    from: 'host.startsWith("*") || ',
    to: "",
    reddens: "a route to a host that the site does not have",
  },
  {
    name: "the largest bundle of the paid plan is refused",
    file: BUNDLE,
    from: "gzippedBytes > MAX_BUNDLE_BYTES",
    to: "gzippedBytes >= MAX_BUNDLE_BYTES",
    reddens: "the largest bundle",
  },
  {
    name: "a bundle of any size can be deployed",
    file: BUNDLE,
    from: "gzippedBytes > MAX_BUNDLE_BYTES",
    to: "gzippedBytes > 2 * MAX_BUNDLE_BYTES",
    reddens: "a bundle that no plan takes",
  },
  {
    name: "the largest bundle of the free plan is warned of",
    file: BUNDLE,
    from: "gzippedBytes > MAX_FREE_BUNDLE_BYTES",
    to: "gzippedBytes >= MAX_FREE_BUNDLE_BYTES",
    reddens: "a bundle that the free plan takes",
  },
  {
    name: "nobody is warned of the free plan's limit",
    file: BUNDLE,
    from: "gzippedBytes > MAX_FREE_BUNDLE_BYTES",
    to: "gzippedBytes > MAX_BUNDLE_BYTES",
    reddens: "a bundle that the paid plan takes",
  },
];
