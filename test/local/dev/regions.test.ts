import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import type { IsolateStats, SiteStats } from "../../../wire/stats.ts";
import type { ClientAnswer } from "../../engine/engine.ts";
import { exchange } from "../../engine/runtime/runtime-engine.ts";
import { freePorts } from "../../suite/free-ports.ts";
import { until } from "../../suite/until.ts";
import { Dev } from "./dev-process.ts";

/** The command of the packed package, in a project that has it installed. */
const INSTALLED = [join(inject("packedProject"), "node_modules/tidemark/dist/package/cli.mjs"), "dev"];
const REGIONS = ["nyc", "fra", "syd"] as const;
const TOKEN = "token-of-the-regions-0123456789";
const STORED = { fields: { "cache-control": "max-age=3600" } };

type Region = (typeof REGIONS)[number];

const agent = new Agent({ keepAlive: false });
const origin = new ScriptedOrigin(() => Date.now());
let folder: string;
let port: number;
let dev: Dev | undefined;

async function begin(): Promise<void> {
  mkdirSync(".tidemark", { recursive: true });
  folder = mkdtempSync(join(".tidemark", "dev-regions-"));
  mkdirSync(join(folder, "tmp"));
  port = await freePorts(REGIONS.length);
  await origin.comeUp();
}

async function end(): Promise<void> {
  dev?.interrupt();
  await dev?.exited;
  dev = undefined;
  await origin.goDown();
  rmSync(folder, { recursive: true });
}

function config(rest = ""): string {
  const file = join(folder, "site.ts");
  const site = `{ origin: "${origin.url}", ${rest} }`;
  writeFileSync(file, `import { defineSite } from "tidemark/worker";\nexport default defineSite(${site});\n`);
  return file;
}

function start(...flags: string[]): Promise<Dev> {
  return startWith("", ...flags);
}

async function startWith(rest: string, ...flags: string[]): Promise<Dev> {
  const environment = { TIDEMARK_TOKEN: TOKEN, TMPDIR: resolve(folder, "tmp") };
  dev = new Dev(
    ["--config", config(rest), "--port", String(port), "--regions", REGIONS.join(","), ...flags],
    environment,
    INSTALLED,
  );
  await dev.says(/everything/);
  return dev;
}

interface Asked {
  readonly method?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

function ask(region: Region, path: string, { method = "GET", fields = {} }: Asked = {}): Promise<ClientAnswer> {
  const own = port + REGIONS.indexOf(region);
  return exchange(new URL(`http://127.0.0.1:${own}`), agent, { method, path, fields, host: `localhost:${own}` });
}

async function xCache(region: Region, path: string, after?: string): Promise<unknown> {
  const answer = await ask(region, path, after === undefined ? {} : { fields: { "tidemark-after": after } });
  return answer.fields["x-cache"];
}

/** How many pages a region has written into its cache. */
async function storedIn(region: Region): Promise<number> {
  const fields = { authorization: `Bearer ${TOKEN}` };
  const { body } = await ask(region, "/_tidemark/stats?scope=isolate", { fields });
  return (JSON.parse(body) as IsolateStats).store.stored;
}

/** Purges a page in a region; resolves to the receipt's token. */
async function purge(region: Region, path: string): Promise<string> {
  const answer = await ask(region, path, { method: "PURGE", fields: { authorization: `Bearer ${TOKEN}` } });
  expect(answer.status).toBe(200);
  return (JSON.parse(answer.body) as { token: string }).token;
}

describe("tidemark dev --regions, in one run", () => {
  let running: Dev;

  beforeAll(async () => {
    await begin();
    running = await start();
  });
  afterAll(end);

  test("prints a table of the regions, each with a port and a cache of its own", async () => {
    origin.reply("/a", { ...STORED, body: "v1" });
    const table = [
      "  region   city           address                 round trips",
      `  nyc      New York       http://localhost:${port}  none added`,
      `  fra      Frankfurt      http://localhost:${port + 1}  none added`,
      `  syd      Sydney         http://localhost:${port + 2}  none added`,
    ];
    expect(running.output.replaceAll(/ +/g, " ")).toContain(table.join("\n").replaceAll(/ +/g, " "));
    for (const region of REGIONS) {
      expect([await xCache(region, "/a"), await xCache(region, "/a")]).toEqual(["MISS", "HIT"]);
    }
  });

  test("the stats of each region have every request of all regions at once", { tags: ["deep"] }, async () => {
    const stats = async (region: Region) => {
      const { body } = await ask(region, "/_tidemark/stats?last=15m", { fields: { authorization: `Bearer ${TOKEN}` } });
      return JSON.parse(body) as SiteStats;
    };
    const before = await stats("nyc");
    origin.reply("/counted", { body: "v1" });
    for (const region of REGIONS) await xCache(region, "/counted");
    for (const region of REGIONS) {
      const { isCurrent, requests, pops } = await stats(region);
      expect({ isCurrent, more: requests - before.requests }).toEqual({ isCurrent: true, more: REGIONS.length });
      expect(Object.keys(pops).sort()).toEqual([...REGIONS].sort());
    }
  });

  test("a purge in one region takes effect in all regions", async () => {
    origin.reply("/purged", { ...STORED, body: "v1" });
    for (const region of REGIONS) expect(await xCache(region, "/purged")).toBe("MISS");
    const receipt = await purge("nyc", "/purged");
    for (const region of REGIONS) expect(await xCache(region, "/purged", receipt)).toBe("MISS");

    // Whichever of the printed addresses a page is named by, it is the same page.
    const body = JSON.stringify({ urls: [`http://localhost:${port + 2}/purged`] });
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const answer = await fetch(`http://127.0.0.1:${port}/_tidemark/purge`, { method: "POST", headers, body });
    expect(answer.status).toBe(200);
    const { token } = (await answer.json()) as { token: string };
    for (const region of REGIONS) expect(await xCache(region, "/purged", token)).toBe("MISS");
  });

  test("prints a line for each request and each purge, but no tokens and no health checks", async () => {
    origin.reply("/a?b=c", { ...STORED, body: "v1" });
    origin.reply("/private", { fields: { "cache-control": "private" }, body: "v1" });
    const from = running.output.length;
    await ask("fra", "/_tidemark/health");
    await ask("fra", "/a?b=c", { fields: { cookie: "session=secret-of-a-visitor" } });
    await ask("fra", "/a?b=c");
    await ask("fra", "/a?b=c");
    await ask("syd", "/private", { method: "HEAD" });
    await purge("nyc", "/a?b=c");
    await ask("nyc", "/a?b=c", { method: "PURGE" });
    await running.says(/refused/);
    const said = running.output.slice(from).split("\n");
    const lines = said
      .filter((line) => /^\d\d:\d\d:\d\d {2}/.test(line) && !line.includes("/purged")) // which was asked before
      .map((line) => line.replaceAll(/\d+ ms/g, "_ ms"));
    expect(
      lines.map((line) => line.slice("00:00:00  ".length).replaceAll(/ +/g, " ").replace("<_", "_").trim()),
    ).toEqual([
      expect.stringMatching(/^fra GET \/a\?b=c 200 \w+ age - /),
      expect.stringMatching(/^fra GET \/a\?b=c 200 MISS age - stored _ ms origin <?_ ms$/),
      expect.stringMatching(/^fra GET \/a\?b=c 200 HIT age \ds ttl 3\d\d\ds _ ms$/),
      expect.stringMatching(/^syd HEAD \/private 200 MISS age - ttl - _ ms origin <?_ ms/),
      expect.stringMatching(/^nyc PURGE \/a\?b=c purge \d+ settles in _ ms _ ms$/),
      "nyc PURGE refused: 401 _ ms",
    ]);
    expect(running.output).not.toContain("secret-of-a-visitor");
  });

  test("the line of a purge names its first items, and that of a large purge their numbers", {
    tags: ["deep"],
  }, async () => {
    const send = (body: object) =>
      exchange(new URL(`http://127.0.0.1:${port}`), agent, {
        method: "POST",
        path: "/_tidemark/purge",
        host: `localhost:${port}`,
        fields: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    await send({ tags: ["song:1", "song:2"], urls: ["/a", "/b"] });
    await send({ prefixes: ["/shop"], hosts: [`localhost:${port}`] });
    await send({ prefixes: Array.from({ length: 20 }, (_, index) => `/${index}/${"a".repeat(4000)}`) });
    await send({ tags: Array.from({ length: 4000 }, (_, index) => `tag-of-some-length-${index}`) });
    await send({ tags: Array.from({ length: 2000 }, (_, index) => `tag-of-some-length-${index}`) });
    await send({ everything: true });
    await running.says(/PURGE {2}\/a, \/b, tag:song:1 and 1 more /);
    await running.says(/PURGE {2}prefix:\/shop, host:localhost:\d+ /);
    await running.says(/PURGE {2}20 prefixes /);
    await running.says(/PURGE {2}4000 tags /);
    await running.says(/PURGE {2}tag:tag-of-some-length-0, .* and 1997 more /);
    await running.says(/PURGE {2}everything /);
  });

  test("an edit of the rules reaches every region, and each still finds the log", { tags: ["deep"] }, async () => {
    origin.reply("/a", { ...STORED, body: "v1" });
    origin.reply("/b", { ...STORED, body: "v1" });
    for (const region of REGIONS) expect(await xCache(region, "/b")).toBe("MISS");
    config(`routes: [{ match: "/a", pass: true }]`);
    await running.says(/its rules are in force/);
    for (const region of REGIONS) expect(await xCache(region, "/a")).toBe("BYPASS");
    const receipt = await purge("syd", "/b");
    expect(await xCache("fra", "/b", receipt)).toBe("MISS");
    expect(running.output).not.toContain("log cannot be reached");
  });

  test("the regions find the log after the machine has slept", { tags: ["deep"] }, async () => {
    const [home] = readdirSync(join(folder, "tmp")).filter((name) => name.startsWith("tidemark-dev-"));
    const registry = join(folder, "tmp", home!, "registry");
    for (const name of readdirSync(registry)) {
      const beforeSleep = new Date(statSync(join(registry, name)).mtimeMs - 3_600_000);
      utimesSync(join(registry, name), beforeSleep, beforeSleep); // for which Miniflare removes what is too old
    }
    await until(() => readdirSync(registry).join() === "purge-log");
    for (const region of REGIONS) await purge(region, "/slept");
  });

  test("Ctrl-C leaves no port open and, without --persist, no file", async () => {
    origin.reply("/a", { ...STORED, body: "v1" });
    for (const region of REGIONS) await ask(region, "/a");
    running.interrupt();
    expect(await running.exited).toBe(0);
    for (const region of REGIONS) await expect(ask(region, "/a")).rejects.toThrow("ECONNREFUSED");
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
    expect(readdirSync(folder).sort()).toEqual(["site.ts", "tmp"]);
  });
});

describe("tidemark dev --regions", () => {
  beforeEach(begin);
  afterEach(end);

  test("--json writes entries, and nothing else, on stdout; with --latency, requests to the origin take as long", {
    tags: ["deep"],
  }, async () => {
    origin.reply("/a", { ...STORED, body: "v1" });
    const running = await start("--latency", "--json");
    expect(running.output).toMatch(/syd +Sydney +\S+ +205 ms to the origin, 205 ms to the purge log/);
    await ask("fra", "/a");
    await ask("nyc", "/nobody");
    await purge("nyc", "/a");
    await running.says(/"kind":"purge".*\n/);
    expect(entries(running)).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        region: "fra",
        kind: "request",
        method: "GET",
        path: "/a",
        status: 200,
        xCache: "MISS",
        detail: null,
        ageS: null,
        ttlS: null,
        stored: true,
        collapsed: false,
        ms: expect.any(Number),
        originMs: expect.any(Number),
      },
      expect.objectContaining({ region: "nyc", path: "/nobody", status: 404, stored: false }),
      {
        time: expect.any(String),
        region: "nyc",
        kind: "purge",
        method: "PURGE",
        status: 200,
        purged: ["/a"],
        dryRun: false,
        seq: 1,
        settlesInMs: expect.any(Number),
        ms: expect.any(Number),
      },
    ]);
    await ask("syd", "/a");
    await running.says(/"region":"syd"/);
    expect(entries(running).at(-1)).toMatchObject({ region: "syd", originMs: expect.any(Number) });
    expect(entries(running).at(-1)?.originMs).toBeGreaterThanOrEqual(200);
  });

  test("with purge.push, a purge is pushed to every region, and the log says that all of them have confirmed it", {
    tags: ["deep"],
  }, async () => {
    origin.reply("/a", { ...STORED, body: "v1" });
    // A receipt that settled by the clock would take longer than the test.
    const running = await startWith("purge: { push: true, leaseMs: 30_000 }");
    for (const region of REGIONS) expect(await xCache(region, "/a")).toBe("MISS");
    await purge("nyc", "/a");
    await running.says(/nyc {2}PURGE {2}purge 1 has settled after \d+ ms: all isolates have confirmed it/);
    for (const region of REGIONS) expect(await xCache(region, "/a")).toBe("MISS");
  });

  test("--persist keeps cache and purges over a restart", { tags: ["deep"] }, async () => {
    origin.reply("/kept", { ...STORED, body: "v1" });
    origin.reply("/purged", { ...STORED, body: "v1" });
    const before = await start("--persist");
    for (const path of ["/kept", "/purged"]) for (const region of REGIONS) await ask(region, path);
    await purge("nyc", "/purged");
    for (const region of REGIONS) await until(async () => (await storedIn(region)) === 2); // behind their answers
    before.interrupt();
    expect(await before.exited).toBe(0);

    await start("--persist");
    for (const region of REGIONS) {
      expect([region, await xCache(region, "/kept"), await xCache(region, "/purged")]).toEqual([region, "HIT", "MISS"]);
    }
    expect(readdirSync(join(folder, ".tidemark", "dev")).sort()).toEqual(["fra", "nyc", "purge-log", "syd"]);
  });

  test("if a port is taken, the error names it and its region, and no file is left", {
    tags: ["deep"],
  }, async () => {
    const first = Number(new URL(origin.url).port) - 1;
    const environment = { TMPDIR: resolve(folder, "tmp") };
    dev = new Dev(["--config", config(), "--port", String(first), "--regions", "nyc,fra"], environment, INSTALLED);
    expect(await dev.exited).toBe(2);
    expect(dev.output).toMatch(/port \d+ is taken, where (nyc|fra) would listen\. Stop the process that listens there/);
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  });
});

function entries(running: Dev): Record<string, unknown>[] {
  return running.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
