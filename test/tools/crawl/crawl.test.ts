import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { crawl } from "../../../tools/crawl/crawl.ts";
import { crawlChart } from "../../../tools/crawl/crawl-chart.ts";
import type { CrawlOptions, CrawlProgress } from "../../../tools/crawl/crawl-options.ts";
import { CrawlRecord } from "../../../tools/crawl/crawl-record.ts";
import { crawlText } from "../../../tools/crawl/crawl-text.ts";
import { warm } from "../../../tools/crawl/warm.ts";
import { warmText } from "../../../tools/crawl/warm-text.ts";
import { analyseLogs } from "../../../tools/report/analyse-logs.ts";
import { type TimedAnswer, TimedSite, VirtualTime } from "./timed-site.ts";

/** Not as long as any pause, because the virtual time tells the two apart by that. */
const TIMEOUT_MS = 31_000;

const time = { current: new VirtualTime(TIMEOUT_MS) };
const sites: TimedSite[] = [];
afterEach(() => Promise.all(sites.splice(0).map((site) => site.stop())));

/** A site at an address of its own. Without an answer for it, it has no robots.txt. */
async function siteThat(answer: (target: string, count: number, request: IncomingMessage) => TimedAnswer | null) {
  const counts = new Map<string, number>();
  const site = new TimedSite(time.current, (target, request) => {
    const count = (counts.get(target) ?? 0) + 1;
    counts.set(target, count);
    const answered = answer(target, count, request);
    return target === "/robots.txt" && answered?.body === undefined ? { status: 404 } : answered;
  });
  sites.push(site);
  return { site, address: await site.start() };
}

function optionsFor(edge: string, places: readonly string[], rest: Partial<CrawlOptions> = {}): CrawlOptions {
  return {
    edge,
    origin: null,
    from: null,
    host: null,
    places,
    limit: 1_000,
    concurrency: 1,
    perSecond: 10,
    timeoutMs: TIMEOUT_MS,
    ignoresRobots: false,
    signal: new AbortController().signal,
    standardInput: async () => "",
    clock: time.current,
    ...rest,
  };
}

const printed = (text: string) => stripVTControlCharacters(text);

describe("what is measured", () => {
  test("the time to each head, in the table, the sentence and the chart", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const millis: Readonly<Record<string, number>> = { "/a": 100, "/b": 200, "/c": 300, "/d": 1_000 };
    const edge = await siteThat((target, count) => ({
      fields: { "x-cache": count === 1 ? "MISS" : "HIT" },
      ms: count === 1 ? millis[target]! : millis[target]! / 20,
    }));
    const origin = await siteThat((target) => ({ ms: millis[target]! - 50 }));
    const { report } = await crawl(
      optionsFor(edge.address, ["/a", "/b", "/c", "/d"], { origin: origin.address, ignoresRobots: true }),
    );
    expect(
      printed(crawlText(report, false)).replaceAll(edge.address, "EDGE").replaceAll(origin.address, "ORIGIN"),
    ).toBe(
      `4 pages of EDGE, requested twice, and once at ORIGIN

                           COUNT  HIT RATIO  AVERAGE  MEDIAN       P95
this machine  first pass       4      0.0 %   400 ms  250 ms  1,000 ms
              second pass      4    100.0 %    20 ms   13 ms     50 ms
              origin           4          -   350 ms  200 ms    950 ms

From here a page takes 13 ms instead of 200.
`,
    );
    expect(crawlChart(report)).toContain(">From here a page takes 13 ms instead of 200.</text>");
    expect(origin.site.seen.map(({ target }) => target)).toEqual(["/a", "/b", "/c", "/d"]);
  });

  test.each([20, 19.8])("an edge that is not faster is not reported as faster: %s ms", async (ms) => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { address } = await siteThat((target, count) => ({ ms: target === "/" && count > 1 ? ms : 20 }));
    const { report } = await crawl(optionsFor(address, ["/"]));
    expect(printed(crawlText(report, false))).toContain(
      "From here a page takes 20 ms, and 20 ms in the first pass: the edge does not make it faster.",
    );
  });

  test("hits, also those of a cache that marks them by Age alone, even of 0", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { address } = await siteThat((_target, count) => ({ fields: count === 1 ? {} : { age: "0" } }));
    const { report } = await crawl(optionsFor(address, ["/a", "/b"]));
    expect(report.all.second).toMatchObject({ hitRatio: 1, answers: { Age: 2 } });
    const always = await siteThat(() => ({ fields: { age: "0" } }));
    expect((await crawl(optionsFor(always.address, ["/a"]))).report.all.second.hitRatio).toBeNull();
  });

  test("from simulated regions, with their latency", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    // All regions are on one port here, which tells them apart by nothing but the distance.
    const port = { number: 0 };
    const { site, address } = await siteThat((target, count) => {
      if (target !== "/_tidemark/dev/regions") return { fields: { "x-cache": count === 1 ? "MISS" : "HIT" }, ms: 2 };
      const at = (region: string, city: string, clientMs: number, originMs: number) => ({
        region,
        city,
        port: port.number,
        clientMs,
        originMs,
      });
      return { body: JSON.stringify({ regions: [at("nyc", "New York", 10, 2), at("syd", "Sydney", 18, 205)] }) };
    });
    port.number = Number(new URL(address).port);
    const origin = await siteThat(() => ({ ms: 30 }));
    const { report } = await crawl(optionsFor(address, ["/"], { from: ["nyc", "syd"], origin: origin.address }));
    expect(printed(crawlText(report, false))).toMatch(/From Sydney a page takes 20 ms instead of 253\.\n$/);
    expect(
      report.places.map(({ city, first, second, origin }) => [city, first.medianMs, second.medianMs, origin!.medianMs]),
    ).toEqual([
      ["New York", 12, 12, 42],
      ["Sydney", 20, 20, 253],
    ]);
    expect(report.all.second).toMatchObject({ count: 2, hitRatio: 1, averageMs: 16 });
    // The origin is asked once, whatever the number of regions.
    expect(origin.site.seen).toHaveLength(1);
    expect(site.times).toHaveLength(1 + 4);
  });
});

describe("politely", () => {
  test("no more requests in a second than were allowed", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { site, address } = await siteThat(() => ({}));
    await crawl(optionsFor(address, ["/a", "/b", "/c"], { perSecond: 4 }));
    const [first = 0, ...others] = site.times;
    expect(others.map((at) => at - first)).toEqual([250, 500, 750, 1_000, 1_250]);
  });

  test("robots.txt is obeyed for paths that begin with //, too", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { site, address } = await siteThat((target) =>
      target === "/robots.txt" ? { body: "User-agent: *\nDisallow: //private/\n" } : {},
    );
    await warm(optionsFor(address, ["//", "//private/x", "//open/x"]));
    expect(site.seen.map(({ target }) => target)).toEqual(["/robots.txt", "//", "//open/x"]);
  });

  test.each([
    { bytes: 512 * 1024, asks: ["/robots.txt", "/a"] },
    { bytes: 512 * 1024 + 1, asks: ["/robots.txt"] },
  ])("a robots.txt of $bytes bytes is never taken for none", async ({ bytes, asks }) => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const rules = "User-agent: *\nDisallow: /b\n";
    const { site, address } = await siteThat((target) =>
      target === "/robots.txt" ? { body: rules.padEnd(bytes, "#") } : {},
    );
    const warming = warm(optionsFor(address, ["/a", "/b"]));
    if (asks.includes("/a")) await warming;
    else await expect(warming).rejects.toThrow(/robots\.txt is larger than 512 KiB.*--ignore-robots/);
    expect(site.seen.map(({ target }) => target)).toEqual(asks);
  });

  test("the Crawl-delay of robots.txt is kept where it is longer", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { site, address } = await siteThat((target) =>
      target === "/robots.txt" ? { body: "User-agent: *\nCrawl-delay: 3\n" } : {},
    );
    const { report } = await crawl(optionsFor(address, ["/a", "/b"]));
    const [first = 0, ...others] = site.times;
    expect(others.map((at) => at - first)).toEqual([3_000, 6_000, 9_000]);
    expect(printed(crawlText(report, false))).toContain("robots.txt asks for 3 s between two requests.");
  });

  test.each([
    { delay: "120", asks: ["/robots.txt", "/a", "/b"] },
    { delay: "120.5", asks: ["/robots.txt"] },
    { delay: "Infinity", asks: ["/robots.txt"] },
  ])("a Crawl-delay of $delay s is kept, or nothing is requested", async ({ delay, asks }) => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { site, address } = await siteThat((target) =>
      target === "/robots.txt" ? { body: `User-agent: *\nCrawl-delay: ${delay}\n` } : {},
    );
    const warming = warm(optionsFor(address, ["/a", "/b"]));
    if (asks.includes("/a")) await warming;
    else
      await expect(warming).rejects.toThrow(
        `${address}/robots.txt asks for ${delay} s between two requests, and a crawl waits at most 120 s.`,
      );
    expect(site.seen.map(({ target }) => target)).toEqual(asks);
  });

  test.each([
    { status: 429, fields: { "retry-after": "30" }, pauseMs: 30_000 },
    { status: 503, fields: { "retry-after": "Thu, 01 Jan 1970 00:01:00 GMT" }, pauseMs: 60_000 },
    { status: 429, fields: {}, pauseMs: 5_000 },
  ])("after $status with $fields it asks again when it may", async ({ status, fields, pauseMs }) => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { site, address } = await siteThat((target, count) =>
      target === "/b" && count === 1 ? { status, fields } : { fields: { "x-cache": "HIT" } },
    );
    const { report } = await warm(optionsFor(address, ["/a", "/b", "/c"]));
    const [, b = 0, again, c] = site.times;
    expect(site.seen.map(({ target }) => target)).toEqual(["/robots.txt", "/a", "/b", "/b", "/c"]);
    expect([again! - b, c! - b]).toEqual([pauseMs, pauseMs + 100]);
    expect(report).toMatchObject({ asked: 3, hadBeen: 3, failed: { count: 0 } });
  });

  test("a 503 without Retry-After is a failure, and is not asked again", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { site, address } = await siteThat((target) => (target === "/a" ? { status: 503 } : {}));
    const { report } = await warm(optionsFor(address, ["/a"]));
    expect(site.times).toHaveLength(1);
    expect(report.failed.examples).toEqual([{ round: "the edge", path: "/a", because: "it answered 503" }]);
  });

  test("a page that answers with Retry-After again and again is given up, and the next one waits, too", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { site, address } = await siteThat((target) =>
      target === "/a" ? { status: 429, fields: { "retry-after": "1" } } : {},
    );
    const { report } = await warm(optionsFor(address, ["/a", "/b"]));
    const [first = 0, ...others] = site.times;
    expect(site.seen.map(({ target }) => target)).toEqual(["/robots.txt", "/a", "/a", "/a", "/b"]);
    expect(others.map((at) => at - first)).toEqual([1_000, 2_000, 3_000]);
    expect(report.failed.examples[0]?.because).toBe("it answered 429 3 times");
  });

  test("a closed connection is followed by another request only if it was kept, once, and in its turn", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { site, address } = await siteThat((target, count, { socket }) => {
      if (target === "/robots.txt" || (target === "/a" && count > 1)) return { fields: { "x-cache": "HIT" } };
      socket.destroy();
      return null;
    });
    const { report } = await warm(optionsFor(address, ["/a", "/b", "/c"]));
    const [first = 0, ...others] = site.times;
    expect(site.seen.map(({ target }) => target)).toEqual(["/robots.txt", "/a", "/a", "/b", "/b", "/c"]);
    expect(others.map((at) => at - first)).toEqual([100, 200, 300, 400]);
    expect(report).toMatchObject({ asked: 3, hadBeen: 1, failed: { count: 2 } });
    expect(report.failed.examples[0]?.because).toBe("the connection was closed");
  });

  test.each([
    { seconds: 120, ends: false },
    { seconds: 121, ends: true },
  ])("a Retry-After of $seconds s ends the crawl: $ends", async ({ seconds, ends }) => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { site, address } = await siteThat((target, count) =>
      target === "/a" && count === 1 ? { status: 429, fields: { "retry-after": String(seconds) } } : {},
    );
    const { report } = await warm(optionsFor(address, ["/a", "/b"]));
    expect(site.seen.filter(({ target }) => target === "/b")).toHaveLength(ends ? 0 : 1);
    expect(report.endedBecause).toBe(ends ? "it answered 429 with a Retry-After of 121 s" : null);
    if (ends) expect(warmText(report)).toContain("The crawl ended early: it answered 429 with a Retry-After");
  });

  test.each(["/robots.txt", "/1.xml"])("a long Retry-After of %s ends the crawl", async (refused) => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { site, address } = await siteThat((target) => {
      if (target === refused) return { status: 429, fields: { "retry-after": "3600" }, body: "Slow down." };
      if (target === "/robots.txt") return { status: 404 };
      const location = (path: string) => `<sitemap><loc>http://www.example.com${path}</loc></sitemap>`;
      return { body: `<sitemapindex>${["/1.xml", "/2.xml"].map(location).join("")}</sitemapindex>` };
    });
    await expect(warm(optionsFor(address, ["/index.xml"]))).rejects.toMatchObject({
      kind: "refused",
      message: `${address}${refused} could not be read: it answered 429 with a Retry-After of 3,600 s.`,
    });
    expect(site.seen.at(-1)?.target).toBe(refused);
  });

  test("a pause that robots.txt asks for is kept, although robots.txt is ignored", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { site, address } = await siteThat((target) => {
      if (target === "/robots.txt") return { status: 429, fields: { "retry-after": "60" }, body: "Slow down." };
      return { body: "<urlset><url><loc>http://www.example.com/a</loc></url></urlset>" };
    });
    await warm(optionsFor(address, [], { ignoresRobots: true }));
    expect(site.seen.map(({ target, at }) => [target, at - site.seen[0]!.at])).toEqual([
      ["/robots.txt", 0],
      ["/robots.txt", 60_000],
      ["/robots.txt", 120_000],
      ["/sitemap.xml", 180_000],
      ["/a", 180_100],
    ]);
  });

  test("a waiting request is not sent to a site that has sent a long Retry-After", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { site, address } = await siteThat(() => ({ status: 429, fields: { "retry-after": "3600" } }));
    const paths = Array.from({ length: 20 }, (_, index) => `/${index}`);
    const { report } = await crawl(optionsFor(address, paths, { ignoresRobots: true, origin: address }));
    expect(site.seen.map(({ target }) => target)).toEqual(["/0"]);
    expect(report).toMatchObject({ interrupted: false, failed: { count: 1 } });
    expect(report.endedBecause).toBe("it answered 429 with a Retry-After of 3,600 s");
  });

  test("a request without an answer in time is given up, and the others are sent", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { address } = await siteThat((target) => {
      if (target !== "/never") return { fields: { "x-cache": "HIT" } };
      setImmediate(() => time.current.timeOut());
      return null;
    });
    const { report } = await warm(optionsFor(address, ["/a", "/never", "/b"]));
    expect(report).toMatchObject({ asked: 3, hadBeen: 2, failed: { count: 1 }, notStored: { count: 0 } });
    expect(warmText(report)).toContain("0 could not be stored.\n1 request failed:\n");
    expect(warmText(report)).toContain("/never (the edge): no whole answer came within 31 s");
  });

  test("a page that fails only when it is requested again is a failure, too", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { address } = await siteThat((target, count) => {
      if (target === "/a") return { fields: { "x-cache": "MISS" }, status: count === 1 ? 200 : 500 };
      return { fields: { "x-cache": "HIT" } };
    });
    const { report } = await warm(optionsFor(address, ["/b", "/a"]));
    expect(report).toMatchObject({ asked: 2, hadBeen: 1, notStored: { count: 0 }, unknown: 0 });
    expect(report.failed.examples).toEqual([{ round: "the edge, again", path: "/a", because: "it answered 500" }]);
  });

  test("addresses that are no pages are malformed, and hide no host of a sitemap", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const urls = ["mailto:a@example.com", "javascript:void(0)", "ftp://www.example.com/a", "https://www.example.com/a"];
    const body = `<urlset>${urls.map((url) => `<url><loc>${url}</loc></url>`).join("")}</urlset>`;
    const { site, address } = await siteThat(() => ({ body }));
    const { report } = await warm(optionsFor(address, ["/sitemap.xml"]));
    expect(report.pages).toMatchObject({ found: 1, publicHost: "www.example.com", malformed: 3, elsewhere: {} });
    expect(site.seen.map(({ target }) => target)).toContain("/a");
    expect(warmText(report)).toContain("3 lines or locations were left out, because they are not URLs of pages.");
  });

  test("what came but once is told in the singular", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const elsewhere = { status: 301, fields: { location: "https://other.example/" } };
    const { address } = await siteThat((target) => {
      if (target === "/a") return { status: 301, fields: { location: "/b" } };
      return target === "/c" ? elsewhere : { fields: { "x-cache": "HIT" } };
    });
    const { report } = await warm(optionsFor(address, ["-"], { standardInput: async () => "/a\n/c\nmailto:a@b" }));
    const told = warmText({ ...report, redirects: { ...report.redirects, followed: 1, elsewhere: 1 } });
    expect(told).toContain("1 line or location was left out, because it is not the URL of a page.");
    expect(told).toContain("1 redirect was followed.");
    expect(told).toContain("1 answer redirects to another host or to what robots.txt forbids, like https://other");
    expect(told).toContain("; it was not followed.");
  });

  test("pages and sitemaps of the edge's own host are the site's with either scheme, but not targets of redirects", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { site, address } = await siteThat((target, _count, { headers }) => {
      const other = `https://${headers.host}`;
      if (target === "/robots.txt") return { body: `Sitemap: ${other}/all.xml` };
      if (target === "/all.xml") return { body: `<sitemapindex><loc>${other}/pages.xml</loc></sitemapindex>` };
      if (target === "/pages.xml") return { body: `<urlset><loc>${other}/a</loc></urlset>` };
      return target === "/c" ? { status: 301, fields: { location: `${other}/d` } } : {};
    });
    const other = address.replace("http:", "https:");
    const found = await warm(optionsFor(address, []));
    expect(found.report.pages).toMatchObject({ found: 1, publicHost: null, elsewhere: {} });
    const listed = await warm(optionsFor(address, [`${other}/b`, "-"], { standardInput: async () => `${other}/c` }));
    expect(listed.report.redirects).toMatchObject({ followed: 0, elsewhereExample: `${other}/d` });
    const asked = [...new Set(site.seen.map(({ target }) => target))];
    expect(asked).toEqual(["/robots.txt", "/all.xml", "/pages.xml", "/a", "/b", "/c"]);
  });

  test("the public host is named to the edge alone, and not to the origin", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const hosts = new Set<string>();
    const siteNamed = (name: string) =>
      siteThat((target, _, { headers: { host } }) => {
        hosts.add(`${name} ${target} ${host}`);
        return {};
      });
    const [edge, origin] = [await siteNamed("edge"), await siteNamed("origin")];
    await crawl(optionsFor(edge.address, ["/a"], { origin: origin.address, host: "www.example.com" }));
    expect([...hosts]).toEqual([
      "edge /robots.txt www.example.com",
      "edge /a www.example.com",
      `origin /a ${new URL(origin.address).host}`,
    ]);
  });

  test("no path makes it ask another host, not even one that begins with //", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const other = await siteThat(() => ({ body: "<urlset/>" }));
    const elsewhere = new URL(other.address).host;
    const www = "http://www.example.com";
    const location = (kind: string, path: string) => `<${kind}><loc>${www}/${path}</loc></${kind}>`;
    const { site, address } = await siteThat((target) => {
      if (target === "/robots.txt") return { body: `Sitemap: ${www}//${elsewhere}/named.xml\n` };
      if (target.endsWith("/named.xml")) {
        const locations = [`/${elsewhere}/listed.xml`, "moved.xml"].map((path) => location("sitemap", path));
        return { body: `<sitemapindex>${locations.join("")}</sitemapindex>` };
      }
      if (target === "/moved.xml") return { status: 301, fields: { location: `${www}//${elsewhere}/target.xml` } };
      return { body: `<urlset>${location("url", "a")}</urlset>` };
    });
    await warm(optionsFor(address, []));
    expect(other.site.seen).toEqual([]);
    expect(site.seen.map(({ target }) => target)).toEqual([
      "/robots.txt",
      `//${elsewhere}/named.xml`,
      `//${elsewhere}/listed.xml`,
      "/moved.xml",
      `//${elsewhere}/target.xml`,
      "/a",
    ]);
  });

  test("the pages that a report of a log with hosts names are requested", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const folder = await mkdtemp(join(tmpdir(), "tidemark-warm-"));
    const file = join(folder, "access.log");
    const line = (host: string, path: string) =>
      `${JSON.stringify({ time_iso8601: "2026-11-01T10:00:00Z", host, request_method: "GET", request_uri: path, status: 200, body_bytes_sent: 5 })}\n`;
    const lines = [
      line("www.example.com", "/about?a=1"),
      line("shop.example.com:8080", "/"),
      line("other.example", "/"),
    ];
    await writeFile(file, lines.join("").repeat(40));
    const { warm: pages } = await analyseLogs({ files: [file] });
    await rm(folder, { recursive: true });
    const list = pages.map(({ url }) => url).join("\n");

    const asked = [];
    for (const host of ["www.example.com", "shop.example.com:8080"]) {
      const { site, address } = await siteThat(() => ({ fields: { "x-cache": "HIT" } }));
      const { report } = await warm(optionsFor(address, ["-"], { host, standardInput: async () => list }));
      asked.push({ targets: site.seen.map(({ target }) => target), ...report.pages });
    }
    expect(asked).toMatchObject([
      {
        targets: ["/robots.txt", "/about?a=1"],
        malformed: 0,
        elsewhere: { "shop.example.com:8080": 1, "other.example": 1 },
      },
      { targets: ["/robots.txt", "/"], malformed: 0, elsewhere: { "www.example.com": 1, "other.example": 1 } },
    ]);
  });

  test("a list without pages is refused, with the number of its lines that are no URLs", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { address } = await siteThat(() => null);
    const refusal = (list: string) => warm(optionsFor(address, ["-"], { standardInput: async () => list }));
    await expect(refusal("\n")).rejects.toThrow(/^no pages were found\.$/);
    await expect(refusal("http://\n")).rejects.toThrow("no pages were found: 1 line or location is no URL of a page.");
    await expect(refusal("mailto:a@example.com\nthe pages\n")).rejects.toThrow(
      "no pages were found: 2 lines or locations are no URLs of pages.",
    );
  });

  test("no more requests at a time than were allowed", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { site, address } = await siteThat((target) => (target === "/robots.txt" ? { status: 404 } : null));
    const ending = new AbortController();
    const paths = Array.from({ length: 10 }, (_, index) => `/${index}`);
    const crawling = warm(optionsFor(address, paths, { concurrency: 3, signal: ending.signal }));
    // None of them is answered; all that may be sent together have arrived when no more come in ten turns of the loop.
    for (let quiet = 0, before = 0; quiet < 10 || site.times.length < 3; quiet++) {
      await fetch(`${address}/robots.txt`);
      if (site.times.length !== before) quiet = 0;
      before = site.times.length;
    }
    ending.abort();
    const { report } = await crawling;
    expect(site.times).toHaveLength(3);
    expect(report).toMatchObject({ interrupted: true, asked: 0, failed: { count: 0 } });
  });

  test("what has failed is asked again by the next run, and what was answered is not", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    let isBroken = true;
    const { site, address } = await siteThat((target) => (target === "/b" && isBroken ? { status: 500 } : {}));
    const folder = await mkdtemp(join(tmpdir(), "tidemark-crawl-"));
    try {
      const options = optionsFor(address, ["/a", "/b"], { ignoresRobots: true });
      const run = async () =>
        (await crawl({ ...options, record: new CrawlRecord(join(folder, "crawl.jsonl"), options) })).report;
      expect((await run()).failed.count).toBe(2);
      isBroken = false;
      site.seen.length = 0;
      expect((await run()).failed.count).toBe(0);
      expect(site.seen.map(({ target }) => target)).toEqual(["/b", "/b"]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("it reports its progress", async () => {
    time.current = new VirtualTime(TIMEOUT_MS);
    const { address } = await siteThat((target) => ({ status: target === "/b" ? 500 : 200 }));
    const told: CrawlProgress[] = [];
    await crawl(optionsFor(address, ["/a", "/b"], { progress: (progress) => told.push(progress) }));
    expect(told.map(({ round, done, of, failed }) => `${round}: ${done} of ${of}, ${failed}`)).toEqual([
      "null: 0 of 0, 0",
      "first pass: 1 of 2, 0",
      "first pass: 2 of 2, 1",
      "second pass: 1 of 2, 0",
      "second pass: 2 of 2, 1",
    ]);
  });
});
