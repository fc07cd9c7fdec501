import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ANY_OTHER_HOST, HostsFile, type SitesOfHosts, takeHosts } from "../../../server/log/hosts-of-sites.ts";

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
    ["hosts whose names an object has", [{ shop: ["constructor", "__proto__"] }, { blog: ["__proto__"] }], [[], []]],
  ])("%s", (_case, configs, expected) => {
    expect(replacedBy(...configs)).toEqual(expected);
  });
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
