import type { Mutation } from "../../mutants/mutant.ts";

/** A wrong rule of what keeps sites apart. */
export interface IsolationMutant extends Mutation {
  /** A sentence that describes the wrong rule. */
  readonly name: string;
  /** The check of `isolation-checks.ts` that must fail under it. */
  readonly reddens: string;
}

const ARRIVAL = "server/front/arrival.ts";
const PROGRAM = "server/serve/edge-program.ts";

export const isolationMutants: readonly IsolationMutant[] = [
  {
    name: "a connection keeps the site of its first request",
    file: ARRIVAL,
    from: "const site = host === null ? null : this.#sites.find(host);",
    to: "const site = [...this.#bySite.keys()][0] ?? (host === null ? null : this.#sites.find(host));",
    reddens: "each request on a connection has the site of its own host",
  },
  {
    name: "a connection in HTTP/2 keeps the site of its first request",
    file: ARRIVAL,
    from: "const site = host === null ? null : this.#sites.find(host);",
    to: "const site = [...this.#bySite.keys()][0] ?? (host === null ? null : this.#sites.find(host));",
    reddens: "each request of a connection in HTTP/2 has the site of its own authority",
  },
  {
    name: "Host outranks a target in absolute form",
    file: ARRIVAL,
    from: 'if (target.startsWith("/")) return fields.get("host");',
    to: 'if (fields.get("host") !== null) return fields.get("host");',
    reddens: "a target in absolute form outranks Host",
  },
  {
    name: "a proxy's word counts for all sites on a connection if it does for the first",
    file: ARRIVAL,
    from: "arrivals = new Arrivals(this.#peer, site?.trustedProxies ?? [], site);",
    to: "arrivals = new Arrivals(this.#peer, [...this.#bySite.keys(), site][0]?.trustedProxies ?? [], site);",
    reddens: "a proxy's word counts for the sites that trust it",
  },
  {
    name: "pages in memory are found by their keys alone",
    file: "server/site/shared-memory.ts",
    from: "this.#prefix = `$" + "{site} `;",
    to: 'this.#prefix = "";',
    reddens: "no site finds the pages of another in memory",
  },
  {
    name: "pages on the disk are found by their keys alone",
    file: "server/disk/cache-folder.ts",
    from: 'hash("sha256", this.#site + key, "hex")',
    to: 'hash("sha256", key, "hex")',
    reddens: "no site finds the pages of another on the disk",
  },
  {
    name: "a site reads and writes the disk tier of the whole server",
    file: PROGRAM,
    from: "tier: tier?.ofSite(each.name) ?? null,",
    to: "tier,",
    reddens: "no site finds the pages of another on the disk",
  },
  {
    name: "all sites have the log of the first",
    file: PROGRAM,
    from: "log: logs.get(each.name)!,",
    to: "log: [...logs.values()][0]!,",
    reddens: "a purge reaches its own site alone",
  },
  {
    name: "all sites have the tokens of the first",
    file: PROGRAM,
    from: "startSite(each, isAlone",
    to: "startSite({ ...each, tokens: given[0]!.tokens }, isAlone",
    reddens: "a token opens the control plane of its own site alone",
  },
  {
    name: "a site is served before its log has admitted the worker",
    file: PROGRAM,
    from: "closed.has(settings.name) ? onceOpen(",
    to: "closed.size > sites.size ? onceOpen(",
    reddens: "a site whose log does not answer is not served, and the others are",
  },
  {
    name: "the access log does not tell sites apart",
    file: PROGRAM,
    from: "write, undefined, !isAlone);",
    to: "write, undefined, false);",
    reddens: "the access log names the site of each request",
  },
];
