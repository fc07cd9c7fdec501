import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ANY_OTHER_HOST, HostsFile, type SitesOfHosts, takeHosts } from "../../../server/log/hosts-of-sites.ts";
import { chances } from "../../engine/chances.ts";
import { seed } from "../../suite/seed.ts";

type Hosts = Readonly<Record<string, readonly string[]>>;

const mapOf = (hosts: Hosts) => new Map(Object.entries(hosts));

/** The sites that need another log, by the configurations one after the other. */
function replacedBy(...configs: readonly Hosts[]): string[][] {
  let before: SitesOfHosts = new Map();
  return configs.map((sites) => {
    const { now, back } = takeHosts(before, mapOf(sites));
    before = now;
    return [...back.keys()];
  });
}

describe("a site needs another log if it has a host back that another site had meanwhile", () => {
  const [shop, blog, both] = [{ shop: ["a.test"] }, { blog: ["a.test"] }, { shop: ["a.test"], blog: ["b.test"] }];
  test.each<[string, Hosts[], string[][]]>([
    ["it has it all the time", [shop, shop], [[], []]],
    ["it comes back, and no other site had it", [both, { blog: ["b.test"] }, both], [[], [], []]],
    ["a site gets a host for the first time", [both, { blog: ["b.test", "a.test"] }], [[], []]],
    ["it was renamed, and renamed back", [shop, blog, shop], [[], [], ["shop"]]],
    ["nobody had it for a while in between", [shop, {}, blog, {}, shop], [[], [], [], [], ["shop"]]],
    ["renamed back and forth", [shop, blog, shop, blog], [[], [], ["shop"], ["blog"]]],
    ["once it has another log, it need not have one more", [shop, blog, shop, shop], [[], [], ["shop"], []]],
    [
      "one host of two moves to a site that stays, and back",
      [both, { shop: [], blog: ["b.test", "a.test"] }, both],
      [[], [], ["shop"]],
    ],
    [
      "two sites change places, and back",
      [both, { shop: ["b.test"], blog: ["a.test"] }, both],
      [[], [], ["shop", "blog"]],
    ],
    [
      "the only site of a server, then several, then one",
      [{ "": ["a.test"] }, shop, { "": ["a.test"] }],
      [[], [], [""]],
    ],
    [
      "a site for all other hosts has one back that another site had",
      [{ rest: [ANY_OTHER_HOST] }, { rest: [ANY_OTHER_HOST], shop: ["a.test"] }, { rest: [ANY_OTHER_HOST] }],
      [[], [], ["rest"]],
    ],
    [
      "a host that no site named moves with all others, and then one that had them names it",
      [{ wiki: [ANY_OTHER_HOST] }, { wiki: ["w.test"], blog: [ANY_OTHER_HOST] }, { wiki: ["w.test", "a.test"] }],
      [[], [], ["wiki"]],
    ],
    [
      "the site that had the host meanwhile has another one back first",
      [
        { shop: ["a.test"], blog: ["b.test"] },
        { shop: [], blog: ["a.test"], wiki: ["b.test"] },
        { shop: [], blog: ["b.test"], wiki: [] },
        { shop: ["a.test"], blog: ["b.test"], wiki: [] },
      ],
      [[], [], ["blog"], ["shop"]],
    ],
    ["hosts whose names an object has", [{ shop: ["constructor", "__proto__"] }, { blog: ["__proto__"] }], [[], []]],
  ])("%s", (_case, configs, expected) => {
    expect(replacedBy(...configs)).toEqual(expected);
  });
});

/** What each of some sites holds of each host: no page, one, or one that was purged while another site had the host. */
class HeldPages {
  readonly #states = new Map<string, "fresh" | "purged">();

  /** The page of a host is purged and stored again. Returns whether its site serves it as it was before. */
  serve(host: string, site: string): boolean {
    const isOld = this.#states.get(`${site} ${host}`) === "purged";
    for (const key of this.#states.keys()) if (key.endsWith(` ${host}`)) this.#states.set(key, "purged");
    this.#states.set(`${site} ${host}`, "fresh");
    return isOld;
  }

  /** The log of a site is another one. */
  forget(site: string): void {
    for (const key of this.#states.keys()) if (key.startsWith(`${site} `)) this.#states.delete(key);
  }
}

test(`no site serves a page that was purged while another had its host, whatever the configurations are (TEST_SEED=${seed})`, () => {
  const random = chances(seed);
  const names = ["shop", "blog", "wiki"];
  const anyOrNone = () => [...names, null][Math.floor(random() * 4)] ?? null;
  for (let history = 0; history < 5_000; history++) {
    let before: SitesOfHosts = new Map();
    const held = new HeldPages();
    const configs: Hosts[] = [];
    for (let step = 0; step < 7; step++) {
      const owners = ["a.test", "b.test", ANY_OTHER_HOST].map((host) => [host, anyOrNone()] as const);
      const hostsOf = (site: string) => owners.filter(([, owner]) => owner === site).map(([host]) => host);
      configs.push(Object.fromEntries(names.map((site) => [site, hostsOf(site)])));
      const { now, back } = takeHosts(before, mapOf(configs.at(-1)!));
      before = now;
      for (const site of back.keys()) held.forget(site);
      const ofAny = new Map(owners).get(ANY_OTHER_HOST) ?? null;
      for (const [host, owner] of owners) {
        const site = owner ?? ofAny;
        if (host === ANY_OTHER_HOST || site === null) continue;
        if (held.serve(host, site))
          expect.fail(`${site} serves an old page of ${host} after ${JSON.stringify(configs)}`);
      }
    }
  }
});

describe("the record of hosts", () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    path = join(folder, "hosts.json");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("is what was written last, and empty before", () => {
    const file = new HostsFile(path);
    expect(file.read()).toEqual(new Map());
    const sites = mapOf({ "a.test": ["shop", "blog"], __proto__: ["shop"] });
    file.write(sites);
    file.write(sites);
    expect(file.read()).toEqual(sites);
  });

  test.each(["", "[", "{}", "null", '[["a.test"]]', '[["a.test", [1]]]', '["a.test"]'])(
    "cannot be used: %s",
    (text) => {
      writeFileSync(path, text);
      expect(new HostsFile(path).read()).toBeNull();
    },
  );
});
