import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of what keeps the sites of one server apart. */
export const mutants: Mutants = {
  "isolation: each site alone": {
    "a connection keeps the site of its first request": {
      in: "ArrivalsAtSites.of",
      replace: "const site = host === null ? null : this.#sites.find(host);",
      by: "const site = [...this.#bySite.keys()][0] ?? (host === null ? null : this.#sites.find(host));",
      foundBy: [
        "isolation: each request on a connection has the site of its own host",
        "isolation: each request of a connection in HTTP/2 has the site of its own authority",
      ],
    },
    "Host outranks a target in absolute form": {
      in: "hostAsked",
      replace: 'if (target.startsWith("/")) return fields.get("host") ?? HOST_OF_NONE;',
      by: 'if (fields.get("host") !== null) return fields.get("host");',
      foundBy: "isolation: a target in absolute form outranks Host",
    },
    "a proxy's word counts for all sites on a connection if it does for the first": {
      in: "ArrivalsAtSites.of",
      replace: "arrivals = new Arrivals(this.#peer, site?.trustedProxies ?? [], site);",
      by: "arrivals = new Arrivals(this.#peer, [...this.#bySite.keys(), site][0]?.trustedProxies ?? [], site);",
      foundBy: "isolation: a proxy's word counts for the sites that trust it",
    },
    "pages in memory are found by their keys alone": {
      in: "SiteMemory.constructor",
      replace: "this.#prefix = `${site} `;",
      by: 'this.#prefix = "";',
      foundBy: "isolation: no site finds the pages of another in memory",
    },
    "pages on the disk are found by their keys alone": {
      in: "CacheFolder.nameOf",
      replace: 'hash("sha256", this.#site + key, "hex")',
      by: 'hash("sha256", key, "hex")',
      foundBy: "isolation: no site finds the pages of another on the disk",
    },
    "a site reads and writes the disk tier of the whole server": {
      in: "startSites",
      replace: "tier: tier?.ofSite(name) ?? null,",
      by: "tier,",
      foundBy: "isolation: no site finds the pages of another on the disk",
    },
    "all sites have the log of the first": {
      in: "startSites",
      replace: "const log = logs.get(name)!;",
      by: "const log = [...logs.values()][0]!;",
      foundBy: "isolation: a purge reaches its own site alone",
    },
    "all sites have the tokens of the first": {
      in: "startSites",
      replace: "startSite(each,",
      by: "startSite({ ...each, tokens: given[0]!.tokens },",
      foundBy: "isolation: a token opens the control plane of its own site alone",
    },
    "a site is served before its log has admitted the worker": {
      in: "EdgeWorker.#openOne",
      replace: "this.#isOpen(started) ?",
      by: "this.#parts.sites.size > 1 || this.#isOpen(started) ?",
      foundBy: "isolation: a site whose log does not answer is not served, and the others are",
    },
    "an only site is served before its log has admitted the worker": {
      in: "EdgeWorker.#openOne",
      replace: "this.#isOpen(started) ?",
      by: "this.#parts.isAlone || this.#isOpen(started) ?",
      foundBy: "isolation: an only site whose log does not answer is not served until it does",
    },
    "the access log does not tell sites apart": {
      in: "startWorker",
      replace: "say, undefined, !isAlone);",
      by: "say, undefined, false);",
      foundBy: "isolation: the access log names the site of each request",
    },
  },
};
