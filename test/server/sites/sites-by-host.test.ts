import { describe, expect, test } from "vitest";
import { type ServedSite, SitesByHost } from "../../../server/connections/sites-by-host.ts";
import { startTestListener } from "../http1/running-listener.ts";
import { RawClient } from "../raw-client.ts";

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
    ["shop.test.", "shop"],
    ["SHOP.test.:80", "shop"],
    ["www.shop.test.:8080", "shop"],
    ["shop.test..", null],
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

describe("without TLS, a host that a site names with the port of TLS", () => {
  const toHttpsOf = (hosts: readonly string[]) => ({ status: 308 as const, port: 8443, hosts, publicHost: null });
  const sending = (name: string, ...hosts: readonly string[]) => ({ ...site(name, hosts), toHttps: toHttpsOf(hosts) });
  const ask = async (sites: readonly ServedSite[], host: string, method = "GET") => {
    const running = await startTestListener(isolate.fetch, { sites: new SitesByHost(sites) });
    const client = new RawClient(running.where);
    await client.send(`${method} /a HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    await client.closed;
    await running.stop();
    const [head] = client.received.split("\r\n\r\n", 1);
    return [Number(head!.slice(9, 12)), /^location: (.*)$/im.exec(head!)?.[1] ?? null];
  };
  const sites = [
    sending("shop", "shop.test:8443"),
    sending("blog", "blog.test"),
    sending("wiki", "wiki.test", "shop.test:9000"),
  ];

  test.each(["shop.test", "SHOP.test", "shop.test.", "shop.test:8080"])("leads there: %s", async (host) => {
    expect(await ask(sites, host)).toEqual([308, "https://shop.test:8443/a"]);
  });
  test("leads to the site without a port if it names none", async () => {
    expect(await ask(sites, "blog.test:8080")).toEqual([308, "https://blog.test/a"]);
  });
  test("is refused to those who do not follow, and where nobody is sent to https", async () => {
    expect(await ask(sites, "shop.test", "PURGE")).toEqual([421, null]);
    expect(await ask([site("shop", ["shop.test:8443"])], "shop.test")).toEqual([421, null]);
  });
  test("is one of all others for the site that takes them", async () => {
    expect(await ask([...sites, site("rest", null)], "shop.test")).toEqual([200, null]);
  });
});
