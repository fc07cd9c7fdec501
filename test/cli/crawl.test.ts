import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import type { CrawlReport } from "../../tools/crawl/crawl.ts";
import type { WarmReport } from "../../tools/crawl/warm.ts";
import { deadEndpoint } from "../sdk/fake-edge.ts";
import { MAIN, ServerProcess } from "../server/serve/running-server.ts";
import { startProxy } from "../suite/connect-proxy.ts";
import { tidemark } from "./run-command.ts";

const PAGE = { fields: { "cache-control": "max-age=600" }, body: "a page" };

let folder: string;
/** The site. Tests of other caches than ours ask it directly, and it says what such a cache would. */
let site: ScriptedOrigin;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-crawl-"));
});
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(async () => {
  site = new ScriptedOrigin(() => Date.now());
  await site.comeUp();
});
afterEach(() => site.goDown());

function start(command: "crawl" | "warm", ...parameters: readonly string[]) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [MAIN, command, "--rate", "1000", ...parameters], {
    cwd: folder,
    env: { PATH, NODE_COMPILE_CACHE },
  });
  const ended = Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)]).then(
    ([[exit], stdout, stderr]) => ({ exit: exit as number, stdout, stderr }),
  );
  return { child, ended };
}

/** Runs a command with a list on its standard input. */
const run = (command: "crawl" | "warm", parameters: readonly string[], stdin = "") =>
  tidemark({ args: [command, "--rate", "1000", ...parameters], stdin, cwd: folder });

/** What the site was asked for, without the file that says what may be asked for. */
const pagesSeen = () => site.seen.map(({ target }) => target).filter((target) => target !== "/robots.txt");

function sitemap(...urls: readonly string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${urls.map((url) => `<url><loc>${url}</loc></url>`).join("\n")}
</urlset>`;
}

test("pages are asked for through the proxy of the environment where Node uses that", async () => {
  site.reply("/a", PAGE);
  await using proxy = await startProxy(site.url);
  const settings = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: proxy.url };
  const args = ["warm", "--rate", "1000", "--edge", "http://www.example.test", "/a"];
  const through = await tidemark({ args, env: settings });
  expect([through.exit, pagesSeen(), new Set(proxy.asked)]).toEqual([0, ["/a"], new Set(["www.example.test:80"])]);
  const { stderr } = await tidemark({ args, env: { ...settings, HTTP_PROXY: await deadEndpoint() } });
  expect(stderr).toContain("the connection was refused, through the proxy in HTTPS_PROXY or HTTP_PROXY");
});

describe("through a real edge", () => {
  let edge: ServerProcess;
  let address: string;

  beforeEach(async () => {
    const cache = mkdtempSync(join(folder, "cache-"));
    const flags = ["--listen", "127.0.0.1:0", "--workers", "1", "--cache", cache];
    edge = new ServerProcess(folder, [...flags, "--origin", site.url], { TIDEMARK_HOSTS: "*" });
    address = (await edge.address()).origin;
  });
  afterEach(() => edge.stop());

  test("crawl finds the site's pages, and shows both passes, the edge against the origin", async () => {
    site.reply("/robots.txt", { body: "User-agent: *\nDisallow: /admin\nSitemap: https://www.example.com/map.xml\n" });
    site.reply("/map.xml", {
      body: `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>https://www.example.com/posts.xml</loc></sitemap>
<sitemap><loc>https://www.example.com/gone.xml</loc></sitemap></sitemapindex>`,
    });
    site.reply("/posts.xml", {
      body: sitemap(
        "https://www.example.com/",
        "https://www.example.com/a?x=1&amp;y=2",
        "https://www.example.com/private",
        "https://www.example.com/admin/users",
        "https://elsewhere.example/",
      ),
    });
    site.reply("/", PAGE);
    site.reply("/a?x=1&y=2", PAGE);
    site.reply("/private", { fields: { "cache-control": "private" }, body: "for you" });

    const { exit, stdout, stderr } = await run("crawl", ["--edge", address, "--origin", site.url]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    const lines = stdout.split("\n");
    expect(lines[0]).toBe(`3 pages of ${address}, requested twice, and once at ${site.url}`);
    expect(lines.slice(2, 6).map((line) => line.replaceAll(/[\d.,]+ ms/g, "_ ms").replaceAll(/ +/g, " "))).toEqual([
      " COUNT HIT RATIO AVERAGE MEDIAN P95",
      "this machine first pass 3 0.0 % _ ms _ ms _ ms",
      " second pass 3 66.7 % _ ms _ ms _ ms",
      " origin 3 - _ ms _ ms _ ms",
    ]);
    expect(stdout).toContain("\nNo hits in the second pass: /private (private).\n");
    expect(stdout).toContain(`\nThe sitemap is for www.example.com; the crawl requested its pages at ${address}.\n`);
    expect(stdout).toContain("\n1 page was left out, because robots.txt forbids it.\n");
    expect(stdout).toContain("\nURLs of other hosts were left out: 1 of elsewhere.example.");
    expect(stdout).toContain("\nA sitemap was left out: /gone.xml answered 404.\n");
    expect(lines.at(-2)).toMatch(/^From here a page takes /);
    expect(stdout).not.toContain("\u001b");

    // The first pass and, where nothing is stored, the second; then the origin without the edge. Nothing else is asked for.
    expect(pagesSeen().slice(3).sort()).toEqual(
      ["/", "/", "/a?x=1&y=2", "/a?x=1&y=2", "/private", "/private", "/private"].sort(),
    );
    expect(new Set(site.seen.map(({ method }) => method))).toEqual(new Set(["GET"]));
    expect(site.seen.flatMap(({ fields }) => [fields.cookie, fields["cache-control"], fields.pragma])).toEqual(
      site.seen.flatMap(() => [undefined, undefined, undefined]),
    );
  });

  test("warm says which pages it stored, which were stored before, and why the rest is not stored", {
    tags: ["deep"],
  }, async () => {
    for (const path of ["/", "/a", "/b"]) site.reply(path, PAGE);
    site.reply("/private", { fields: { "cache-control": "private" }, body: "for you" });
    const first = await run("warm", ["--edge", address, "/", "/a"]);
    expect(first).toEqual({
      exit: 0,
      stdout: "2 pages requested: 2 were stored now, 0 could not be stored.\n",
      stderr: "",
    });
    const second = await run("warm", ["--edge", address, "/", "/a", "/b", "/private", "/gone"]);
    expect(second.stdout).toBe(
      `5 pages requested: 1 was stored now, 2 stored before, 1 could not be stored (private: 1).
1 request failed:
  /gone (the edge): it answered 404
`,
    );
    expect(second.exit).toBe(1);
    // The witness: all of it was asked for once, since ours says whether it has stored a page.
    expect(pagesSeen().sort()).toEqual(["/", "/a", "/b", "/gone", "/private"]);
  });

  test("warm takes the list of a report on standard input", { tags: ["deep"] }, async () => {
    for (const path of ["/", "/a?q=1"]) site.reply(path, PAGE);
    const { exit, stdout } = await run("warm", ["--edge", address, "--json", "-"], "/\n\n/a?q=1\r\n/\nhttp://\n");
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      version: 1,
      asked: 2,
      stored: 2,
      pages: { found: 2, malformed: 1 },
    } satisfies Partial<Record<keyof WarmReport, unknown>>);
    expect(pagesSeen().sort()).toEqual(["/", "/a?q=1"]);
  });

  test("--from is refused, with the reason", { tags: ["deep"] }, async () => {
    const { exit, stderr } = await run("crawl", ["--edge", address, "--from", "nyc,syd", "/"]);
    expect(exit).toBe(2);
    expect(stderr).toContain(`--from is for regions that tidemark dev simulates, but ${address} is another edge`);
  });
});

describe("through any other cache", () => {
  test("warm requests pages again if the cache does not say what it stored", { tags: ["deep"] }, async () => {
    site.reply("/a", { fields: { "x-cache": "MISS" } }, { fields: { "x-cache": "HIT" } });
    site.reply("/b", { fields: { "cf-cache-status": "DYNAMIC" } });
    site.reply("/c", { fields: { "cache-status": "Proxy; fwd=uri-miss; stored" } });
    site.reply("/d", {});
    const { exit, stdout } = await run("warm", ["--edge", site.url, "/a", "/b", "/c", "/d"]);
    expect(exit).toBe(0);
    expect(stdout).toBe(
      "4 pages requested: 2 were stored now, 1 could not be stored (DYNAMIC the second time, too: 1), 1 unknown.\n",
    );
    expect(pagesSeen().sort()).toEqual(["/a", "/a", "/b", "/b", "/c", "/d"]);
  });

  test("crawl says so if it cannot tell hits from misses, and --min-hit-ratio then fails", async () => {
    site.reply("/", {});
    const { exit, stdout, stderr } = await run("crawl", ["--edge", site.url, "/", "--min-hit-ratio", "1"]);
    expect(stdout).toMatch(/ second pass {2,}1 {2,}unknown /);
    expect(stdout).toContain("The answers do not tell whether they came from a cache");
    expect({ exit, stderr }).toEqual({
      exit: 1,
      stderr: "tidemark: the hit ratio is unknown in the second pass, where --min-hit-ratio wants 1 %.\n",
    });
  });

  test("--min-hit-ratio fails below it, and not at it", async () => {
    site.reply("/a", { fields: { "x-cache": "HIT" } });
    site.reply("/b", { fields: { "x-cache": "MISS" } });
    const at = await run("crawl", ["--edge", site.url, "/a", "/b", "--min-hit-ratio", "50"]);
    const above = await run("crawl", ["--edge", site.url, "/a", "/b", "--min-hit-ratio", "51"]);
    expect([at.exit, above.exit]).toEqual([0, 1]);
    expect(above.stderr).toContain("50.0 % are hits in the second pass, where --min-hit-ratio wants 51 %.");
  });

  test("an error, a cut answer and a missing answer are reported, and do not count", async () => {
    site.reply("/good", { fields: { "x-cache": "HIT" }, body: "good" });
    site.reply("/gone", { status: 404 });
    site.reply("/broken", { status: 500 });
    site.reply("/cut", { body: "a page", cutAfterBytes: 2 });
    site.reply("/reset", { failure: "reset" });
    const pages = ["/good", "/gone", "/broken", "/cut", "/reset"];
    const { exit, stdout } = await run("crawl", ["--edge", site.url, "--json", ...pages]);
    expect(exit).toBe(1);
    const report = JSON.parse(stdout) as CrawlReport;
    expect(report.all.first.count).toBe(2);
    expect(report.failed.count).toBe(8);
    const ofFirst = report.failed.examples.filter(({ round }) => round === "first pass");
    expect(ofFirst.map(({ path, because }) => `${path}: ${because}`)).toEqual([
      "/gone: it answered 404",
      "/broken: it answered 500",
      "/cut: the answer was cut off",
      "/reset: the connection was closed",
    ]);
  });

  test("redirects are followed on the same host, where robots.txt allows it, and counted", {
    tags: ["deep"],
  }, async () => {
    const other = new ScriptedOrigin(() => Date.now());
    await other.comeUp();
    site.reply("/robots.txt", { body: "User-agent: tidemark\nDisallow: /login" });
    site.reply("/old", { status: 301, fields: { location: "/older" } });
    site.reply("/older", { status: 302, fields: { location: `${site.url}/new` } });
    site.reply("/new", { fields: { "x-cache": "HIT" } });
    site.reply("/leave", { status: 301, fields: { location: `${other.url}/new` } });
    site.reply("/mine", { status: 302, fields: { location: "/login" } });
    site.reply("/round", { status: 302, fields: { location: "/round" } });
    const pages = ["/old", "/leave", "/mine", "/round"];
    const { exit, stdout } = await run("crawl", ["--edge", site.url, "--json", ...pages]);
    const report = JSON.parse(stdout) as CrawlReport;
    await other.goDown();
    expect(report.redirects).toMatchObject({ followed: 4, elsewhere: 4, elsewhereExample: `${other.url}/new` });
    expect(report.all.second).toMatchObject({ count: 3, answers: { HIT: 1, unknown: 2 } });
    expect(exit).toBe(1);
    expect(report.failed.examples[0]).toMatchObject({ path: "/round", because: "it redirects more than 5 times" });
    expect(other.seen).toEqual([]);
    expect(pagesSeen()).not.toContain("/login");
  });

  test("a sitemap with more pages than the limit is crawled up to the limit, and the report says so", {
    tags: ["deep"],
  }, async () => {
    site.setDefaultReply({ status: 200, fields: { "x-cache": "HIT" } });
    writeFileSync(
      join(folder, "map.xml.gz"),
      gzipSync(sitemap(...Array.from({ length: 5000 }, (_, n) => `http://a.example/${n}`))),
    );
    const { exit, stdout } = await run("crawl", ["--edge", site.url, "map.xml.gz", "--limit", "20"]);
    expect(exit).toBe(0);
    expect(stdout).toContain("There are more pages than these first 20: raise --limit to request more.");
    expect(new Set(pagesSeen()).size).toBe(20);
  });

  test("a sitemap that is not a file here is looked for on the site", { tags: ["deep"] }, async () => {
    site.reply("/map.xml", { body: sitemap(`${site.url}/a`) });
    site.reply("/a", {});
    expect((await run("warm", ["--edge", site.url, "map.xml"])).exit).toBe(0);
    expect(pagesSeen()).toEqual(["/map.xml", "/a"]);
  });

  test("an index that names itself is read once, and a path that is not a sitemap is a page", {
    tags: ["deep"],
  }, async () => {
    site.reply("/map.xml", {
      body: `<sitemapindex><sitemap><loc>${site.url}/map.xml</loc></sitemap><sitemap><loc>/more.xml</loc></sitemap></sitemapindex>`,
    });
    site.reply("/more.xml", { body: sitemap("/a", "/a", "/b#top", "/b") });
    site.reply("/feed.xml", { body: "<rss></rss>" });
    for (const path of ["/a", "/b"]) site.reply(path, {});
    expect((await run("warm", ["--edge", site.url, "--concurrency", "1", "/map.xml", "/feed.xml"])).exit).toBe(0);
    expect(pagesSeen()).toEqual(["/map.xml", "/more.xml", "/feed.xml", "/a", "/b", "/feed.xml"]);
  });

  test("--host is sent to the edge, and its URLs are pages of the site", { tags: ["deep"] }, async () => {
    site.reply("/", {});
    const { exit } = await run("crawl", ["--edge", site.url, "--host", "www.example.com", "http://www.example.com/"]);
    expect(exit).toBe(0);
    expect(new Set(site.seen.map(({ fields }) => fields.host))).toEqual(new Set(["www.example.com"]));
  });

  test("--ignore-robots asks for what robots.txt forbids", { tags: ["deep"] }, async () => {
    site.reply("/robots.txt", { body: "User-agent: *\nDisallow: /" });
    site.reply("/", {});
    const refused = await run("crawl", ["--edge", site.url, "/"]);
    expect(refused).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining("robots.txt forbids all of these pages"),
    });
    expect(pagesSeen()).toEqual([]);
    expect((await run("crawl", ["--edge", site.url, "--ignore-robots", "/"])).exit).toBe(0);
    expect(pagesSeen()).toEqual(["/", "/"]);
  });

  test("a chart is one file, as .svg without scripts, or as .png", { tags: ["deep"] }, async () => {
    site.reply("/", { fields: { "x-cache": "HIT" } });
    const ended = await Promise.all(
      ["chart.svg", "chart.png"].map((file) => run("crawl", ["--edge", site.url, "/", "--chart", file])),
    );
    expect(ended.map(({ exit }) => exit)).toEqual([0, 0]);
    const svg = readFileSync(join(folder, "chart.svg"), "utf8");
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
    expect(svg).toContain(">this machine</text>");
    expect(svg).not.toMatch(/<script|href=|@import|url\(/);
    expect(readFileSync(join(folder, "chart.png")).subarray(1, 4).toString()).toBe("PNG");
  });

  test("Ctrl-C keeps the results, and sends no more requests", { tags: ["deep"] }, async () => {
    for (const path of ["/a", "/b", "/d"]) site.reply(path, { fields: { "x-cache": "MISS" } });
    site.reply("/c", { hold: "for ever" });
    const { child, ended } = start("crawl", "--edge", site.url, "--concurrency", "1", "--json", "/a", "/b", "/c", "/d");
    await site.waitUntilSeen("/c", 1);
    child.kill("SIGINT");
    const { exit, stdout, stderr } = await ended;
    expect({ exit, stderr }).toEqual({ exit: 130, stderr: "" });
    const report = JSON.parse(stdout) as CrawlReport;
    expect(report).toMatchObject({
      interrupted: true,
      failed: { count: 0 },
      all: { first: { count: 2 }, second: { count: 0 } },
    });
    expect(pagesSeen()).toEqual(["/a", "/b", "/c"]);
  });

  test("with --resume, an interrupted run continues where it stopped", async () => {
    for (const path of ["/a", "/b", "/d"]) site.reply(path, { fields: { "x-cache": "MISS" } });
    site.reply("/c", { hold: "for ever" });
    const flags = ["--edge", site.url, "--concurrency", "1", "--resume", "crawl.jsonl", "/a", "/b", "/c", "/d"];
    const { child, ended } = start("crawl", ...flags);
    await site.waitUntilSeen("/c", 1);
    child.kill("SIGINT");
    const { exit, stdout } = await ended;
    expect(exit).toBe(130);
    expect(stdout).toContain(
      "The crawl was interrupted; this report covers the requests until then.\nThe same command continues from here.",
    );
    const other = await run("crawl", ["--edge", site.url, "--resume", "crawl.jsonl", "--host", "b.example", "/a"]);
    expect(other.exit).toBe(2);
    expect(other.stderr).toContain("crawl.jsonl belongs to a crawl with another --edge, --origin, --from or --host");
    // Killed while it wrote a line.
    appendFileSync(join(folder, "crawl.jsonl"), '{"round":"first pass","path":"/d","ans');
    site.reply("/c", { status: 500 });
    const before = pagesSeen().length;
    const resumed = await run("crawl", [...flags, "--json"]);
    expect(pagesSeen().slice(before)).toEqual(["/c", "/d", "/a", "/b", "/c", "/d"]);
    expect(JSON.parse(resumed.stdout) as CrawlReport).toMatchObject({
      interrupted: false,
      answeredBefore: 2,
      failed: { count: 2 },
      all: { first: { count: 3, answers: { MISS: 3 } }, second: { count: 3 } },
    });
    expect(existsSync(join(folder, "crawl.jsonl"))).toBe(false);
  });

  test("--resume names a file that is a record of a crawl, or none", async () => {
    writeFileSync(join(folder, "notes.txt"), "buy milk\n");
    const { exit, stderr } = await run("crawl", ["--edge", site.url, "--resume", "notes.txt", "/"]);
    expect({ exit, pages: pagesSeen() }).toEqual({ exit: 2, pages: [] });
    expect(stderr).toContain("notes.txt is not a record of a crawl. Name a file that does not exist yet.");
    expect(readFileSync(join(folder, "notes.txt"), "utf8")).toBe("buy milk\n");
  });

  test("if there are many failures, the report names the first and counts the rest", async () => {
    const pages = Array.from({ length: 7 }, (_none, page) => `/gone-${page}`);
    const { stdout } = await run("warm", ["--edge", site.url, ...pages]);
    expect(stdout).toMatch(/7 requests failed:\n( {2}\/gone-.*\n){5} {2}and 2 more\n/);
    expect((await run("warm", ["--edge", site.url, ...pages.slice(2)])).stdout).not.toContain(" more");
  });

  test("Ctrl-C ends a list on standard input that has not ended itself", { tags: ["deep"] }, async () => {
    const { child, ended } = start("warm", "--edge", site.url, "-");
    await site.waitUntilSeen("/robots.txt", 1);
    child.kill("SIGINT");
    expect((await ended).exit).toBe(130);
  });

  test.each([
    { parameters: ["/"], exit: 2, message: "required option '--edge <url>'" },
    { parameters: ["--edge", "www.example.com", "/"], exit: 2, message: "It must be like https://www.example.com" },
    {
      parameters: ["--edge", "http://127.0.0.1:1", "/"],
      exit: 3,
      message: "failed: the connection was refused",
    },
    { parameters: ["--edge", "HTTPS", "/"], exit: 3, message: "failed: the port does not speak https, perhaps http" },
    { parameters: ["--edge", "http://127.0.0.1:1", "/", "--ignore-robots"], exit: 3, message: "" },
    { parameters: ["--edge", "SITE", "--from", "nyx"], exit: 2, message: "Did you mean nyc?" },
    { parameters: ["--edge", "SITE", "blog/"], exit: 2, message: "blog/ is neither a path like /blog/, nor a URL" },
    { parameters: ["--edge", "SITE", "gone.xml"], exit: 2, message: "there is no file gone.xml here, and http" },
    { parameters: ["--edge", "SITE", "/gone.xml"], exit: 1, message: "/gone.xml answered 404" },
    { parameters: ["--edge", "SITE"], exit: 2, message: "robots.txt names no sitemap, and /sitemap.xml answered 404" },
    { parameters: ["--edge", "SITE", "https://a.example/"], exit: 2, message: "is not a page of http://127.0.0.1" },
    { parameters: ["--edge", "SITE", "/", "--chart", "chart.gif"], exit: 2, message: "must end in .svg or .png" },
    {
      parameters: ["--edge", "SITE", "/", "--chart", "no/such.svg"],
      exit: 2,
      message: "no/such.svg cannot be opened: there is no folder no.",
    },
    { parameters: ["--edge", "SITE", "/", "--limit", "0"], exit: 2, message: "It must be 1 to 100,000." },
  ])("$parameters ends with $exit and says why", async ({ parameters, exit, message }) => {
    const ended = await run(
      "crawl",
      parameters.map((parameter) =>
        parameter.replace("SITE", site.url).replace("HTTPS", site.url.replace("http:", "https:")),
      ),
    );
    expect(ended.stderr).toContain(message);
    expect(ended.exit).toBe(exit);
    expect(ended.stderr).not.toContain("    at ");
  });

  test("a chart of pages that cannot be asked for leaves no empty file", async () => {
    const ended = await run("crawl", ["--edge", site.url, "/gone.xml", "--chart", "gone.svg"]);
    expect(ended.exit).toBe(1);
    expect(existsSync(join(folder, "gone.svg"))).toBe(false);
  });

  test("a server that refuses TLS is told without OpenSSL's internals", async () => {
    const refusing = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, 40]))); // the alert handshake_failure
    }).listen(0, "127.0.0.1");
    await once(refusing, "listening");
    const { port } = refusing.address() as AddressInfo;
    const { stderr } = await run("crawl", ["--edge", `https://127.0.0.1:${port}`, "/"]);
    refusing.close();
    expect(stderr).toMatch(/failed: TLS failed: [a-z0-9/ ]*alert handshake failure[,.\n]/);
  });

  test("a robots.txt that cannot be read forbids every page", { tags: ["deep"] }, async () => {
    site.reply("/robots.txt", { status: 500 });
    const { exit, stderr } = await run("crawl", ["--edge", site.url, "/"]);
    expect({ exit, pages: pagesSeen() }).toEqual({ exit: 1, pages: [] });
    expect(stderr).toContain("/robots.txt answered 500, which forbids every page (RFC 9309 §2.3.1.4)");
  });
});
