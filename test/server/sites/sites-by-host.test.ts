import { describe, expect, test } from "vitest";
import { type ServedSite, SitesByHost } from "../../../server/connections/sites-by-host.ts";

const isolate = { fetch: () => new Response() };
const site = (name: string, hosts: readonly string[] | null): ServedSite => ({
  name,
  hosts,
  isolate,
  trustedProxies: [],
});

describe("the site of a host", () => {
  const sites = [site("shop", ["shop.test", "www.shop.test:8080", "[::1]:8080"]), site("blog", ["blog.test"])];
  test.each([
    ["shop.test", "shop"],
    ["SHOP.TEST", "shop"],
    ["shop.test:80", "shop"],
    ["shop.test:443", "shop"],
    ["shop.test:8080", null],
    ["www.shop.test:8080", "shop"],
    ["www.shop.test", null],
    ["[::1]:8080", "shop"],
    ["[0:0:0:0:0:0:0:1]:8080", "shop"],
    ["Blog.Test", "blog"],
    ["shop.test.", null],
    ["user@shop.test", "shop"], // the listener has refused it
    ["shop.test, blog.test", null],
    ["", null],
  ])("%s: %s", (host, expected) => {
    const byHost = new SitesByHost(sites);
    for (let turn = 0; turn < 2; turn++) expect(byHost.find(host)?.name ?? null).toBe(expected);
    const rest = new SitesByHost([...sites, site("rest", null)]);
    expect(rest.find(host)?.name).toBe(expected ?? "rest");
  });
});
