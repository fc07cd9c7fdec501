import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of `tidemark check`. */
export const mutants: Mutants = {
  "check: the settings of wrangler": {
    "an edge without a purge log can be deployed": {
      in: "purgeLogFindings",
      replace: "if (purgeLog === null) {",
      by: "if (purgeLog === null) return []; if (purgeLog === null) {",
      foundBy: "check: no binding",
    },
    "an environment is told to add the lines of the top level": {
      in: "purgeLogFindings",
      replace: "environment === null ? PURGE_LOG_TOML : linesOfEnvironment(environment)",
      by: "PURGE_LOG_TOML",
      foundBy: "check: no binding in an environment",
    },
    "the place of a finding does not name the environment": {
      in: "placeIn",
      replace: "return environment === null ? file :",
      by: "return environment !== undefined ? file :",
      foundBy: "check: no binding in an environment",
    },
    "the worker need not export the class": {
      in: "purgeLogFindings",
      replace: "if (exported?.includes(name) === false) {",
      by: "if (exported === undefined) {",
      foundBy: "check: a class that the worker does not export",
    },
    "a worker that did not run exports nothing": {
      in: "purgeLogFindings",
      replace: "if (exported?.includes(name) === false) {",
      by: "if (!exported?.includes(name)) {",
      foundBy: "check: a worker that did not run",
    },
    "the class of another worker has to be exported by this one": {
      in: "purgeLogFindings",
      drop: "if (purgeLog.script_name !== undefined) return [];",
      foundBy: "check: a class of another worker",
    },
    "a class needs no migration": {
      in: "purgeLogFindings",
      replace: "} else if (!made.includes(name)) {",
      by: "} else if (made.length > 99) {",
      foundBy: "check: no migration",
    },
    "any class that a migration makes is the right one": {
      in: "purgeLogFindings",
      replace: "} else if (!made.includes(name)) {",
      by: "} else if (made.length === 0) {",
      foundBy: "check: a migration of another class",
    },
    "the tag of the missing migration is always the first": {
      in: "purgeLogFindings",
      replace: "{migrations.length + 1}",
      by: "{1}",
      foundBy: "check: a migration of another class",
    },
    "a class that was renamed counts as missing": {
      in: "purgeLogFindings",
      replace: "...(each.renamed_classes ?? []).map(({ to }) => to),",
      by: "",
      foundBy: "check: a class that was renamed",
    },
    "a class without SQLite counts as missing only": {
      in: "purgeLogFindings",
      replace: "each.new_classes?.includes(name)",
      by: "each.new_classes === undefined && name === undefined",
      foundBy: "check: a migration without SQLite",
    },
    "a class of exports needs a migration too": {
      in: "purgeLogFindings",
      drop: "if (usesExports) return [...findings, ...exportFindings(file, settings, name)];",
      foundBy: "check: a class that exports creates",
    },
    "a class that exports has given up can be deployed": {
      in: "exportFindings",
      replace: '["created", "expecting-transfer"].includes(state)',
      by: '(state !== "")',
      foundBy: "check: a class of exports that is gone",
    },
    "a class of exports needs no SQLite": {
      in: "exportFindings",
      replace: 'if (storage === "sqlite") return [];',
      by: "if (storage !== undefined) return [];",
      foundBy: "check: a class of exports without SQLite",
    },
    "a token may stand in vars": {
      in: "wranglerFindings",
      replace: "settings.vars.TIDEMARK_TOKEN !== undefined",
      by: "settings.vars.TIDEMARK_TOKEN === null",
      foundBy: "check: a token that everybody can read",
    },
    "nobody is warned of workers.dev": {
      in: "wranglerFindings",
      replace: "settings.routedHosts === null && settings.isOnWorkersDev",
      by: "settings.routedHosts?.length === 0 && settings.isOnWorkersDev",
      foundBy: "check: no domain",
    },
    "everybody without routes is warned of workers.dev": {
      in: "wranglerFindings",
      replace: "settings.routedHosts === null && settings.isOnWorkersDev",
      by: "settings.routedHosts === null",
      foundBy: "check: no domain, and not on workers.dev",
    },
    "everybody on workers.dev is warned, even with a domain": {
      in: "wranglerFindings",
      replace: "settings.routedHosts === null && settings.isOnWorkersDev",
      by: "settings.isOnWorkersDev",
      foundBy: "check: a domain beside workers.dev",
    },
  },
  "check: the site": {
    "what variables make invalid is not told": {
      in: "siteFindings",
      replace: "if (review.errors.length > 0) {",
      by: "if (review.errors.length > 99) {",
      foundBy: "check: an error that a variable makes",
    },
    "routes that never match are not told": {
      in: "siteFindings",
      replace: "review.shadowed.map(",
      by: "review.shadowed.slice(1).map(",
      foundBy: "check: a route that never matches",
    },
    "expressions that may take exponential time are not told": {
      in: "siteFindings",
      replace: "review.slow.map(",
      by: "review.slow.slice(1).map(",
      foundBy: "check: an expression that may take exponential time",
    },
    "the places of the two routes are mixed up": {
      in: "neverMatches",
      replace: "{by.index}",
      by: "{by.index + 1}",
      foundBy: "check: a route that never matches",
    },
    "any name that begins like localhost is this machine": {
      in: "siteFindings",
      replace: ".*\\.localhost)$/",
      by: ".*\\.localhost)/",
      foundBy: "check: an origin with localhost in its name",
    },
    "nobody is warned of an origin on this machine": {
      in: "siteFindings",
      replace: ".test(new URL(review.originUrl).hostname)",
      by: ".test(review.originUrl)",
      foundBy: "check: the origin http://localhost:8000",
    },
    "a site without hosts can be deployed": {
      in: "siteFindings",
      replace: "if (!review.namesHosts) {",
      by: "if (!review.namesHosts && review.hosts !== null) {",
      foundBy: "check: no host",
    },
    "nobody is warned of an edge for any host": {
      in: "siteFindings",
      replace: "review.namesHosts && review.hosts === null",
      by: "!review.namesHosts && review.hosts?.length === 0",
      foundBy: "check: any host",
    },
    "a site without hosts is also warned of any host": {
      in: "siteFindings",
      replace: "review.namesHosts && review.hosts === null",
      by: "review.hosts === null",
      foundBy: "check: no host",
    },
    "routes may send other hosts": {
      in: "siteFindings",
      replace: "review.hosts.includes(host)) continue;",
      by: "review.hosts.length > 0) continue;",
      foundBy: "check: a route to a host that the site does not have",
    },
    "a wildcard counts as a host that the site does not have": {
      in: "siteFindings",
      replace: 'host.startsWith("*") ||',
      by: "",
      foundBy: "check: a route to a host that the site does not have",
    },
  },
  "check: the bundle": {
    "the largest bundle of the paid plan is refused": {
      in: "bundleFindings",
      replace: "gzippedBytes > MAX_BUNDLE_BYTES",
      by: "gzippedBytes >= MAX_BUNDLE_BYTES",
      foundBy: "check: the largest bundle",
    },
    "a bundle of any size can be deployed": {
      in: "bundleFindings",
      replace: "gzippedBytes > MAX_BUNDLE_BYTES",
      by: "gzippedBytes > 2 * MAX_BUNDLE_BYTES",
      foundBy: "check: a bundle that no plan takes",
    },
    "the largest bundle of the free plan is warned of": {
      in: "bundleFindings",
      replace: "gzippedBytes > MAX_FREE_BUNDLE_BYTES",
      by: "gzippedBytes >= MAX_FREE_BUNDLE_BYTES",
      foundBy: "check: a bundle that the free plan takes",
    },
    "nobody is warned of the free plan's limit": {
      in: "bundleFindings",
      replace: "gzippedBytes > MAX_FREE_BUNDLE_BYTES",
      by: "gzippedBytes > MAX_BUNDLE_BYTES",
      foundBy: "check: a bundle that the paid plan takes",
    },
  },
};
