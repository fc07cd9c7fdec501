import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { createServer as createTlsServer, type Server } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Message } from "esbuild";
import { Miniflare } from "miniflare";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { loadSite } from "../../../local/config/config-file.ts";
import { startDevSession } from "../../../local/dev/dev-session.ts";
import { bundleWorker, edgeEntry, formatMessage } from "../../../local/runtime/bundle.ts";
import type { SiteStats } from "../../../wire/stats.ts";
import { DOOR_TOKENS, EVERY_DOOR, TOKEN_LIST } from "../../control/vendor-apis/door-edges.ts";
import type { ClientAnswer } from "../../engine/engine.ts";
import { exchange } from "../../engine/runtime/runtime-engine.ts";
import { purgerUnderTest } from "../../sdk/purger-under-test.ts";
import { type MadeCertificate, makeCertificate } from "../../server/connections/make-certificate.ts";
import { freePort } from "../../suite/free-ports.ts";
import { until } from "../../suite/until.ts";
import { Dev } from "./dev-process.ts";

const agent = new Agent({ keepAlive: false });
const origin = new ScriptedOrigin(() => Date.now());
/** Of the runs that do not make one of their own. */
const TOKEN = "a-token-for-a-test-of-early-purges";

const READ_TOKEN = "a-token-that-reads-0123456789abcdef";
const READER = {
  name: "dashboard",
  scopes: ["read"],
  sha256: createHash("sha256").update(READ_TOKEN).digest("hex"),
};

let folder: string;
let port: number;
let dev: Dev | undefined;

async function begin(): Promise<void> {
  mkdirSync(".tidemark", { recursive: true });
  folder = mkdtempSync(join(".tidemark", "dev-test-"));
  port = await freePort();
  await origin.comeUp();
}

async function end(): Promise<void> {
  dev?.interrupt();
  await dev?.exited;
  dev = undefined;
  await origin.goDown();
  rmSync(folder, { recursive: true });
}

function config(text: string): string {
  const file = join(folder, "site.ts");
  writeFileSync(file, `import { defineSite } from "tidemark/worker";\nexport default defineSite(${text});\n`);
  return file;
}

function ask(path: string, fields: Record<string, string> = {}, method = "GET"): Promise<ClientAnswer> {
  return exchange(new URL(`http://127.0.0.1:${port}`), agent, { method, path, fields, host: `localhost:${port}` });
}

/** Sends a purge that purges nothing. */
function tryPurge(url: string): Promise<ClientAnswer> {
  return purge({ urls: [url], dryRun: true });
}

function purge(asked: object): Promise<ClientAnswer> {
  const fields = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const body = JSON.stringify(asked);
  const call = { method: "POST", path: "/_tidemark/purge", fields, host: `localhost:${port}`, body };
  return exchange(new URL(`http://127.0.0.1:${port}`), agent, call);
}

/** Ends a run, whose temporary folder this is. */
async function leavesNothing(run: Dev, signal: "SIGHUP" | "SIGQUIT", temporary: string): Promise<void> {
  run.interrupt(signal);
  expect(await run.exited).toBe(0);
  await expect(ask("/_tidemark/health")).rejects.toThrow("ECONNREFUSED");
  expect(readdirSync(temporary)).toEqual([]);
}

/** Starts an origin that says `v1` over TLS. */
async function startTlsOrigin({
  chain,
  key,
}: MadeCertificate): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createTlsServer({ cert: chain, key }, (_, response) => response.end("v1"));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return { server, url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe("tidemark dev, in one run", () => {
  let running: Dev;
  let temporary: string;

  beforeAll(async () => {
    await begin();
    temporary = mkdtempSync(resolve(folder, "temporary-"));
    const flags = [
      "--config",
      // Which of the visitor's hosts the origin may see, only hosts tell.
      config(`{ origin: "${origin.url}", hosts: ["www.example.test"], forward: { host: "visitor" } }`),
      "--port",
      String(port),
    ];
    const tokens = { TIDEMARK_TOKEN: TOKEN, TIDEMARK_TOKENS: JSON.stringify([READER]) };
    dev = running = new Dev(flags, { ...tokens, TMPDIR: temporary });
    await running.says(/everything/);
  });
  afterAll(end);

  test("listens on both addresses that localhost may mean", async () => {
    for (const host of ["127.0.0.1", "[::1]"]) {
      const answer = await exchange(new URL(`http://${host}:${port}`), agent, {
        path: "/_tidemark/health",
      });
      expect(answer.status).toBe(200);
    }
  });

  test("answers for this machine and the config's hosts, and for no other name that leads here", async () => {
    origin.reply("/private", { body: "v1" });
    const at = (host: string, path = "/private") =>
      exchange(new URL(`http://127.0.0.1:${port}`), agent, { path, host: `${host}:${port}` });
    for (const host of ["localhost", "shop.localhost", "[::1]", "www.example.test"]) {
      expect(await at(host)).toMatchObject({ status: 200, body: "v1" });
    }
    for (const path of ["/private", "/_tidemark/health", "/_tidemark/dev/early-purges?purge=1"]) {
      expect(await at("evil.example", path)).toMatchObject({ status: 421, body: expect.stringContaining("--public") });
    }
    await running.says(/ {2}GET {4}\/private +421 /);
  });

  test("also accepts the tokens of TIDEMARK_TOKENS, with their scopes", async () => {
    const authorization = `Bearer ${READ_TOKEN}`;
    expect(await ask("/_tidemark/stats", { authorization })).toMatchObject({ status: 200 });
    expect(await ask("/a", { authorization }, "PURGE")).toMatchObject({ status: 403 });
  });

  test("tells its stats to nobody without a token, not even where other regions ask for them", async () => {
    for (const path of ["/_tidemark/stats", "/_tidemark/dev/report"]) {
      expect(await ask(path)).toMatchObject({ status: 401 });
      expect(await ask(path, { authorization: `Bearer ${READ_TOKEN}` })).toMatchObject({ status: 200 });
    }
  });

  test("its stats have every request at once, under a name of its own", async () => {
    const requests = async () => {
      const { body } = await ask("/_tidemark/stats?last=15m", { authorization: `Bearer ${READ_TOKEN}` });
      return JSON.parse(body) as SiteStats;
    };
    const before = await requests();
    origin.reply("/counted", { body: "v1" });
    for (let turn = 0; turn < 3; turn++) await ask("/counted");
    const after = await requests();
    expect(after.requests - before.requests).toBe(3);
    expect(after.isCurrent).toBe(true);
    expect(Object.keys(after.pops)).toEqual(["dev"]);
  });

  test("prints a line for each request", async () => {
    origin.reply("/line", { body: "v1" });
    await ask("/line");
    await running.says(/^\d\d:\d\d:\d\d {2}GET {4}\/line +200 {2}MISS /m);
    origin.reply("/odd", { fields: { "cache-control": "max-age=60" }, body: "v1" });
    await ask("/odd", { "x-odd": "1" });
    await running.says(/ {2}GET {4}\/odd +200 {2}MISS .* {2}unkeyed-field:x-odd$/m);
  });

  test("prints a dry run as what it is, without the number of a purge", async () => {
    expect(await tryPurge("/dry")).toMatchObject({ status: 200 });
    await running.says(/ {2}PURGE {2}\/dry +dry run {2}(<1|\d+) ms$/m);
    expect(running.output).not.toMatch(/\/dry.*(purge 0|settles)/);
  });

  test("says which request waited for the origin, and which one for another's fetch", async () => {
    origin.reply("/slow", { hold: "slow", fields: { "cache-control": "max-age=60" }, body: "v1" });
    const both = [ask("/slow"), ask("/slow")];
    // The runtime reads requests in the order in which they come, so it has both.
    for (let later = 0; later < 3; later++) await ask("/line");
    origin.release("slow");
    await Promise.all(both);
    await running.says(/ {2}GET {4}\/slow +200 {2}MISS .* {2}origin \d+ ms$/m);
    await running.says(/ {2}GET {4}\/slow +200 {2}MISS .* ms {2}collapsed$/m);
  });

  test("warns of a page that comes back unchanged right after its purge, at the terminal and in the backend", async () => {
    const fields = { "cache-control": "max-age=60", "cache-tag": "early" };
    origin.reply(
      "/early",
      { fields, body: "v1" },
      { fields, body: "v1" },
      { fields, body: "v2" },
      { fields, body: "v2" },
    );
    const later: (() => void)[] = [];
    const { promise: warned, resolve: warn } = Promise.withResolvers<string>();
    await using cdn = purgerUnderTest(
      { endpoint: `http://localhost:${port}`, token: TOKEN },
      { later: (_, work) => later.push(work), warn },
    );

    await ask("/early");
    await cdn.purgeTags("early");
    expect(await ask("/early")).toMatchObject({ body: "v1", fields: { "x-cache": "MISS" } });
    await running.says(/\/early was fetched again \d+ ms after purge 1, and is the same as before\./);
    const secondAt = Date.now();
    await cdn.purgeTags("early");
    expect(await ask("/early")).toMatchObject({ body: "v2", fields: { "x-cache": "MISS" } });
    await cdn.purgeUrls("/early", { refresh: true });
    const isOneMoment = Date.now() - secondAt <= 2_000; // on a busy machine it may not be
    await running.says(/\/early was fetched again \d+ ms after purge 3, and is the same as before\./);

    expect(later).toHaveLength(3);
    later[0]!();
    expect(await warned).toMatch(
      /^Purge 1 may have come before the commit: \/early \(\d+ ms later\) was fetched again/,
    );
    expect(running.output).not.toContain("after purge 2");
    const foundFor = async (seq: number) => {
      const answer = await fetch(`http://localhost:${port}/_tidemark/dev/early-purges?purge=${seq}`);
      return ((await answer.json()) as { changedFor?: number }[]).map(({ changedFor }) => changedFor);
    };
    expect(await foundFor(1)).toEqual([undefined]);
    expect(isOneMoment ? [[2]] : [[2], [undefined]]).toContainEqual(await foundFor(3)); // 2 and 3 are for one change
  });

  test.each([
    { urls: ["https://www.example.test/shop/a"] },
    { prefixes: ["www.example.test/shop"] },
    { hosts: ["www.example.test"] },
    { urls: ["http://www.example.test:1/shop/a"] },
    { urls: ["http://127.0.0.1/shop/a", "/shop/a"] },
  ])("a purge of the site's public address reaches the page that the browser has from here: %j", async (asked) => {
    origin.reply("/shop/a", { fields: { "cache-control": "max-age=60" }, body: "v1" });
    await ask("/shop/a");
    expect((await ask("/shop/a")).fields["x-cache"]).toBe("HIT");
    const { status, body } = await purge(asked);
    expect([status, JSON.parse(body)]).toEqual([200, expect.not.objectContaining({ warnings: expect.anything() })]);
    expect((await ask("/shop/a")).fields["x-cache"]).toBe("MISS");
  });

  test("neither purges nor explains a host that it does not serve", async () => {
    const url = "https://evil.example/private";
    const refusal = "evil.example is not a host of this site";
    expect(await tryPurge(url)).toMatchObject({ status: 400, body: expect.stringContaining(refusal) });
    const explained = await ask(`/_tidemark/explain?url=${url}`, { authorization: `Bearer ${TOKEN}` });
    expect(explained).toMatchObject({ status: 200, body: expect.stringContaining(refusal) });
  });

  test("says once that the origin is down, answers 502, and says when it is back", async () => {
    origin.reply("/down", { body: "v1" });
    await origin.goDown();
    for (let index = 0; index < 3; index++) expect(await ask("/down")).toMatchObject({ status: 502 });
    await running.says(/cannot be reached/);
    await origin.comeUp();
    expect(await ask("/down")).toMatchObject({ status: 200, body: "v1" });
    await running.says(/answers again/);
    expect(running.output.match(/cannot be reached/g)).toHaveLength(1);
    expect(running.output).toContain("get 502 or 503 until it answers");
  });

  test("picks up an edit of the rules; after an invalid edit it prints the mistake and keeps the earlier rules", async () => {
    const page = { fields: { "cache-control": "max-age=60" }, body: "v1" };
    origin.reply("/edited", page);
    expect((await ask("/edited")).fields["x-cache"]).toBe("MISS");

    config(`{ origin: "${origin.url}", routes: [{ match: "/edited", pass: true }] }`);
    await running.says(/its rules are in force/);
    expect((await ask("/edited")).fields["x-cache"]).toBe("BYPASS");

    config(`{ origin: "${origin.url}", routes: [{ match: "/edited", pas: true }] }`);
    await running.says(/did you mean pass\?[\s\S]*earlier rules stay in force/);
    expect((await ask("/edited")).fields["x-cache"]).toBe("BYPASS");
  });

  test("takes up an edit of the origin, and keeps the earlier one after an edit to what has no address", async () => {
    const second = new ScriptedOrigin(() => Date.now());
    await second.comeUp();
    try {
      second.reply("/moved", { body: "second" });
      const from = running.output.length;
      config(`{ origin: "${second.url}" }`);
      await until(() => /its rules are in force/.test(running.output.slice(from)));
      expect(await ask("/moved")).toMatchObject({ body: "second" });

      config(`{ origin: { service: "SITE" } }`);
      await running.says(/names a service binding instead of an origin\.[\s\S]*The earlier rules stay in force\./);
      expect(await ask("/moved")).toMatchObject({ body: "second" });
    } finally {
      await second.goDown();
    }
  });

  test("says once for each origin that its certificate is not trusted, and what to do", async () => {
    const certificate = makeCertificate(["127.0.0.1"]);
    for (const name of ["first", "second"]) {
      const { server, url } = await startTlsOrigin(certificate);
      try {
        const from = running.output.length;
        config(`{ origin: "${url}" }`);
        await until(() => /its rules are in force/.test(running.output.slice(from)));
        for (const path of [`/tls/${name}/1`, `/tls/${name}/2`]) expect(await ask(path)).toMatchObject({ status: 502 });
        await running.says(new RegExp(` /tls/${name}/2 `));
        const said = running.output.slice(from);
        const words =
          "The origin's certificate is not trusted: self signed certificate. If you made it, start dev with NODE_EXTRA_CA_CERTS=FILE.";
        expect(said.split(words), name).toHaveLength(2);
        expect(said).not.toMatch(/workerd|stack:/);
      } finally {
        server.close();
      }
    }
  });

  test("keeps the earlier rules after an edit that only Node can load", async () => {
    origin.reply("/kept", { fields: { "cache-control": "max-age=60" }, body: "v1" });
    const first = running.output.length;
    config(`{ origin: "${origin.url}", routes: [{ match: "/kept", pass: true }] }`);
    await until(() => /its rules are in force/.test(running.output.slice(first)));
    const before = running.output.length;

    config(`{ origin: process.env.NO_SUCH ?? "${origin.url}", routes: [] }`);
    await running.says(/cannot: ReferenceError: process is not defined\n.*\nThe earlier rules stay in force\./);
    expect((await ask("/kept")).fields["x-cache"]).toBe("BYPASS");
    expect(running.output.slice(before)).not.toMatch(/ at |service core/);

    const last = running.output.length;
    config(`{ origin: "${origin.url}", routes: [] }`);
    await until(() => /its rules are in force/.test(running.output.slice(last)));
    expect((await ask("/kept")).fields["x-cache"]).toBe("MISS");
  });

  test("leaves no process and no folder behind at Ctrl-\\", () => leavesNothing(running, "SIGQUIT", temporary));
});

describe("tidemark dev", () => {
  beforeEach(begin);
  afterEach(end);

  test("prints its addresses and curl lines that work, and stops cleanly at Ctrl-C", async () => {
    origin.reply(
      "/",
      { fields: { "cache-control": "max-age=60" }, body: "v1" },
      { fields: { "cache-control": "max-age=60" }, body: "v2" },
    );
    dev = new Dev(["--config", config(`{ origin: "${origin.url}" }`), "--port", String(port)]);
    await dev.says(/everything/);
    expect(dev.output).toContain(`edge     http://localhost:${port}`);
    expect(dev.output).toContain(`origin   ${origin.url}`);
    const token = /token {4}(\S{32}) /.exec(dev.output)![1]!;
    const curls = dev.output.split("\n").filter((line) => line.startsWith("  curl "));
    expect(curls).toHaveLength(3);

    expect(await sh(curls[0]!)).toMatch(/^x-cache: MISS$/im);
    expect(await sh(curls[0]!)).toMatch(/^x-cache: HIT$/im);
    expect(curls[1]).toContain(token);
    expect(JSON.parse(await sh(curls[1]!))).toMatchObject({ seq: 1, accepted: { urls: 1 } });
    expect(await sh(curls[0]!)).toMatch(/^x-cache: MISS$/im);
    expect(JSON.parse(await sh(curls[2]!))).toMatchObject({ seq: 2, accepted: { everything: true } });

    dev.interrupt();
    expect(await dev.exited).toBe(0);
    await expect(ask("/")).rejects.toThrow("ECONNREFUSED");
  });

  test("waits for no config that waits for ever: the next edit is taken up, and Ctrl-C ends it", async () => {
    const file = config(`{ origin: "${origin.url}" }`);
    const hang = (words: string) => {
      const endless = `console.log("${words}"); setInterval(() => {}, 1000); await new Promise(() => {});`;
      writeFileSync(file, `${endless}\nexport default { origin: "${origin.url}" };\n`);
      return dev!.says(new RegExp(words));
    };
    dev = new Dev(["--config", file, "--port", String(port)]);
    await dev.says(/everything/);
    await hang("waits once");
    origin.reply("/a", { fields: { "cache-control": "max-age=60" }, body: "v1" });
    config(`{ origin: "${origin.url}", routes: [{ match: "/a", pass: true }] }`);
    await dev.says(/its rules are in force/);
    expect((await ask("/a")).fields["x-cache"]).toBe("BYPASS");
    await hang("waits again");
    dev.interrupt();
    expect(await dev.exited).toBe(0);
  });

  test("says of a config that has not loaded for long that it must not wait", async () => {
    const file = join(folder, "site.ts");
    writeFileSync(file, `setInterval(() => {}, 1000).unref(); await new Promise(() => {});\nexport default {};\n`);
    const words = `${file}: the file has not loaded within 0.1 s; it must not wait for anything, nor have very many routes`;
    await expect(loadSite(file, {}, 100)).rejects.toThrow(words);
  });

  test("judges a config with the settings that outrank it", { tags: ["deep"] }, async () => {
    const file = config('{ origin: "https://www.example.test", hosts: ["www.example.test"] }');
    expect(await loadSite(file, { origin: "http://127.0.0.1:1" })).toEqual({
      origin: "https://www.example.test",
      dashboard: true,
    });
  });

  test.each([
    ["reads env of the runtime", 'import { env } from "cloudflare:workers"; env.SECRET;', "it reads SECRET of env, "],
    ["imports what a module lacks", 'import { nothing } from "tidemark/worker"; nothing;', 'import "nothing"'],
  ])("says of a config that %s what is wrong", async (_, code, words) => {
    const file = join(folder, "site.ts");
    writeFileSync(file, `${code}\nexport default { origin: "${origin.url}" };\n`);
    await expect(loadSite(file)).rejects.toThrow(words);
  });

  test("says of a config without a default export how it must end, and of one that lacks another where", async () => {
    const told = (code: string) => {
      const file = join(folder, "site.ts");
      writeFileSync(file, code);
      return bundleWorker(edgeEntry(file)).catch(({ errors }: { errors: Message[] }) => errors.map(formatMessage));
    };
    expect(await told("export const site = {};")).toEqual([
      expect.stringMatching(/^the file must end in export default/),
    ]);
    writeFileSync(join(folder, "other.ts"), "export const other = 1;");
    expect(await told('import other from "./other.ts";\nexport default other;')).toEqual([
      expect.stringMatching(/site\.ts:1:8: No matching export in ".*other\.ts" for import "default"$/),
    ]);
  });

  test("leaves no process and no folder behind when its terminal is closed", async () => {
    const temporary = mkdtempSync(resolve(folder, "temporary-"));
    const flags = ["--config", config(`{ origin: "${origin.url}" }`), "--port", String(port)];
    dev = new Dev(flags, { TMPDIR: temporary });
    await dev.says(/everything/);
    await leavesNothing(dev, "SIGHUP", temporary);
  });

  test("leaves no process and no folder behind when its terminal is closed while it starts", async () => {
    const temporary = mkdtempSync(resolve(folder, "temporary-"));
    const flags = ["--config", config(`{ origin: "${origin.url}" }`), "--port", String(port)];
    dev = new Dev(flags, { TMPDIR: temporary });
    await until(() => readdirSync(temporary).some((name) => readdirSync(join(temporary, name)).length > 0));
    dev.interrupt("SIGHUP");
    expect(await dev.exited).toBe(130);
    await expect(ask("/_tidemark/health")).rejects.toThrow("ECONNREFUSED");
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("prints a link that logs in to the dashboard: once, even when the rules change, and only at localhost", {
    tags: ["deep"],
  }, async () => {
    const file = config(`{ origin: "${origin.url}" }`);
    dev = new Dev(["--config", file, "--port", String(port)]);
    await dev.says(/everything/);
    const [, path, code] = new RegExp(`http://localhost:${port}(/_tidemark/)#code=([\\w-]{22}) `).exec(dev.output)!;
    expect(await ask(path!, { accept: "text/html" })).toMatchObject({
      status: 200,
      body: expect.stringContaining("<title>"),
    });
    const logIn = (host: string) =>
      exchange(new URL(`http://127.0.0.1:${port}`), agent, {
        method: "POST",
        path: "/_tidemark/dev/login",
        host,
        body: code!,
      });
    expect((await logIn(`evil.example:${port}`)).status).toBe(421);
    expect((await logIn(`192.0.2.7:${port}`)).status).toBe(403);
    const { status, body } = await logIn(`localhost:${port}`);
    expect(status).toBe(200);
    const { token } = JSON.parse(body) as { token: string };
    expect((await ask("/_tidemark/session", { authorization: `Bearer ${token}` }, "POST")).status).toBe(200);
    await dev.says(/the link cannot be used again/);
    expect((await logIn(`localhost:${port}`)).status).toBe(403);
    config(`{ origin: "${origin.url}", purge: { leaseMs: 2000 } }`);
    await dev.says(/its rules are in force/);
    expect((await logIn(`localhost:${port}`)).status).toBe(403);
    config(`{ origin: "${origin.url}", dashboard: false }`);
    await dev.says(/its rules are in force.*its rules are in force/s);
    // An edit that the disk interrupts may be taken up, and told, twice.
    await until(async () => (await ask(path!, { accept: "text/html" })).status === 404);
  });

  test("prints no link if the dashboard is switched off", { tags: ["deep"] }, async () => {
    dev = new Dev(["--config", config(`{ origin: "${origin.url}", dashboard: false }`), "--port", String(port)]);
    await dev.says(/everything/);
    expect(dev.output).not.toContain("#code=");
  });

  test("a flag overrides the environment, which overrides the file", { tags: ["deep"] }, async () => {
    const second = new ScriptedOrigin(() => Date.now());
    await second.comeUp();
    try {
      second.reply("/a", { body: "second" });
      const file = config(`{ origin: "http://127.0.0.1:1" }`);
      const environment = {
        TIDEMARK_ORIGIN: "http://127.0.0.1:2",
        TIDEMARK_PORT: "3",
        TIDEMARK_CONFIG: "none.ts",
        TIDEMARK_TOKEN: "from-the-environment-0123456789ab",
      };
      dev = new Dev(["--config", file, "--port", String(port), "--origin", second.url], environment);
      await dev.says(/everything/);
      expect(await ask("/a")).toMatchObject({ body: "second" });
      expect(await ask("/a", { authorization: "Bearer from-the-environment-0123456789ab" }, "PURGE")).toMatchObject({
        status: 200,
      });
      config(`{ origin: "http://127.0.0.1:4" }`);
      await dev.says(/its rules are in force/);
      expect(await ask("/a")).toMatchObject({ body: "second" });
    } finally {
      await second.goDown();
    }
  });

  test("with only --origin, there are no rules, so that the demo's rules do not apply", {
    tags: ["deep"],
  }, async () => {
    origin.reply("/images/a?w=1", { fields: { "cache-control": "max-age=60" }, body: "one" });
    origin.reply("/images/a?w=2", { fields: { "cache-control": "max-age=60" }, body: "two" });
    dev = new Dev(["--origin", origin.url, "--port", String(port)], {}, ["demo/dev.ts"]);
    await dev.says(/everything/);
    expect(dev.output).toContain("rules    none");
    expect(await ask("/images/a?w=1")).toMatchObject({ body: "one" });
    expect(await ask("/images/a?w=2")).toMatchObject({ body: "two" });
    expect(origin.seen.at(-1)?.fields).not.toHaveProperty("x-edge");
  });

  test("--public is the address that is forwarded to the origin and under which pages are purged", {
    tags: ["deep"],
  }, async () => {
    origin.reply("/a", { fields: { "cache-control": "max-age=60" }, body: "v1" });
    const file = config(`{ origin: "${origin.url}" }`);
    const flags = ["--config", file, "--port", String(port), "--public", "https://www.example.test"];
    dev = new Dev(flags, { TIDEMARK_TOKEN: "token-of-the-edge-0123456789abcdef" });
    await dev.says(/everything/);
    expect(dev.output).toContain("public   https://www.example.test");
    expect((await ask("/a")).fields["x-cache"]).toBe("MISS");
    expect(origin.seen.at(-1)?.fields).toMatchObject({
      "x-forwarded-host": "www.example.test",
      "x-forwarded-proto": "https",
    });
    const receipt = await exchange(new URL(`http://127.0.0.1:${port}`), agent, {
      method: "POST",
      path: "/_tidemark/purge",
      host: `localhost:${port}`,
      fields: {
        authorization: "Bearer token-of-the-edge-0123456789abcdef",
        "content-type": "application/json",
      },
      body: JSON.stringify({ urls: ["https://www.example.test/a"] }),
    });
    expect(receipt.status).toBe(200);
    expect((await ask("/a")).fields["x-cache"]).toBe("MISS");
  });

  test.each([
    ["varnish", "authorization", "Bearer ", "Purged"],
    ["fastly", "fastly-key", "", '"status":"ok"'],
  ] as const)("a PURGE by the door of %s is answered as there, and shown", { tags: ["deep"] }, async (...asked) => {
    const [door, field, scheme, answer] = asked;
    origin.reply("/a", { fields: { "cache-control": "max-age=60" }, body: "v1" });
    const site = config(`{ origin: "${origin.url}", doors: ${JSON.stringify({ [door]: EVERY_DOOR[door] })} }`);
    dev = new Dev(["--config", site, "--port", String(port)], { TIDEMARK_TOKENS: TOKEN_LIST });
    await dev.says(/everything/);
    expect((await ask("/a")).fields["x-cache"]).toBe("MISS");
    const purged = await ask("/a", { [field]: `${scheme}${DOOR_TOKENS[door][0]}` }, "PURGE");
    expect([purged.status, purged.body]).toEqual([200, expect.stringContaining(answer)]);
    await dev.says(/PURGE {2}\/a +<?\d+ ms/);
    expect((await ask("/a")).fields["x-cache"]).toBe("MISS");
  });

  test("--quiet prints no line for a request, and ends with a one-line summary", { tags: ["deep"] }, async () => {
    origin.reply("/a", { fields: { "cache-control": "max-age=60" }, body: "v1" });
    const flags = ["--config", config(`{ origin: "${origin.url}" }`), "--port", String(port)];
    dev = new Dev([...flags, "--quiet"], { TIDEMARK_TOKEN: TOKEN });
    await dev.says(/everything/);
    for (const path of ["/a", "/a", "/a", "/_tidemark/health", "/_tidemark/purges", "/b"]) await ask(path);
    await ask("/a", { authorization: `Bearer ${TOKEN}` }, "PURGE");
    await tryPurge("/a");
    await origin.goDown();
    await ask("/c");
    await dev.says(/cannot be reached/); // without a line for a request before it
    expect(dev.output).not.toMatch(/GET/);
    dev.interrupt();
    expect(await dev.exited).toBe(0);
    expect(dev.output).toMatch(/Stopping …\n5 requests: 2 hits \(40 %\), 3 waited for the origin\. 1 purge\.\n$/);

    dev = new Dev([...flags, "--json"]);
    await dev.says(/everything/);
    dev.interrupt();
    expect(await dev.exited).toBe(0);
    expect(dev.output).toMatch(/\nNo requests\.\n$/);
    expect(dev.stdout).toBe("");
  });

  test("takes rules from a folder that does not have the package", { tags: ["deep"] }, async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "tidemark-elsewhere-"));
    const file = join(elsewhere, "site.ts");
    const site = `{ origin: "${origin.url}", routes: [{ match: "/a", pass: true }] }`;
    writeFileSync(file, `import { defineSite } from "tidemark/worker";\nexport default defineSite(${site});\n`);
    origin.reply("/a", { body: "v1" });
    dev = new Dev(["--config", file, "--port", String(port)]);
    await dev.says(/everything/);
    expect((await ask("/a")).fields["x-cache"]).toBe("BYPASS");
    rmSync(elsewhere, { recursive: true });
  });

  test("trusts the certificate that NODE_EXTRA_CA_CERTS names", { tags: ["deep"] }, async () => {
    const certificate = makeCertificate(["127.0.0.1"]);
    const file = join(folder, "origin.pem");
    writeFileSync(file, certificate.chain);
    const { server, url } = await startTlsOrigin(certificate);
    try {
      dev = new Dev(["--origin", url, "--port", String(port)], { NODE_EXTRA_CA_CERTS: file });
      await dev.says(/everything/);
      expect(await ask("/a")).toMatchObject({ status: 200, body: "v1" });
    } finally {
      server.close();
    }
  });

  test("starts with the rules that it has read if a mistake is saved meanwhile, and tells the mistake", async () => {
    const file = config(`{ origin: "${origin.url}" }`);
    const { promise: told, resolve: printLine } = Promise.withResolvers<string>();
    const ready = Object.getOwnPropertyDescriptor(Miniflare.prototype, "ready")!.get!;
    const starting = vi.spyOn(Miniflare.prototype, "ready", "get").mockImplementation(async function (this: Miniflare) {
      writeFileSync(file, "{{{");
      await told;
      return ready.call(this);
    });
    try {
      const options = { origin: undefined, firstPort: port, config: file, publicUrl: null, token: TOKEN };
      const more = { namedTokens: undefined, regions: undefined, latency: false, persists: false, onEntry: null };
      const session = await startDevSession({ ...options, ...more, onTraffic: () => undefined, printLine }, null);
      expect(await told).toMatch(/^[^:]*site\.ts:1:\d+: .*\nThe earlier rules stay in force\.$/);
      origin.reply("/a", { body: "v1" });
      expect(await ask("/a")).toMatchObject({ status: 200, body: "v1" });
      await session.stop();
    } finally {
      starting.mockRestore();
    }
  });

  const namesPlace = async (_: string, text: string, expected: RegExp) => {
    dev = new Dev(["--config", config(text), "--port", String(port)]);
    expect(await dev.exited).toBe(2);
    expect(dev.output).toMatch(expected);
    expect(dev.output).not.toMatch(/^\s+at /m);
  };
  test("ends with the error of a config whose timer goes on", async () => {
    const file = join(folder, "site.ts");
    writeFileSync(file, `setInterval(() => {}, 1000);\nthrow new Error("it is broken");\nexport default {};\n`);
    dev = new Dev(["--config", file, "--port", String(port)]);
    expect(await dev.exited).toBe(2);
    expect(dev.output).toMatch(/site\.ts: .*it is broken\n$/);
  });

  const RULES = '{ origin: "http://127.0.0.1:1", rotes: [] }';
  test.each([["rules that are not valid", RULES, /rotes: unknown key; did you mean routes\?/]] as const)(
    "names the place of %s",
    { tags: ["deep"] },
    namesPlace,
  );
  const ITSELF = '{ origin: "https://www.example.test", hosts: ["www.example.test"] }';
  test.each([
    ["an origin that is the site itself", ITSELF, /site\.ts: the site's.*\n {2}origin: .* of the site itself/],
  ] as const)("names the place of %s", { tags: ["deep"] }, namesPlace);
  const RANDOM = '{ origin: "http://127.0.0.1:1", routes: [{ match: "/" + crypto.randomUUID(), pass: true }] }';
  test.each([["rules that only Node can load", RANDOM, /site\.ts: Node can load .* cannot: .*random values/]] as const)(
    "names the place of %s",
    namesPlace,
  );
  test.each([["a file that is not TypeScript", "{{{", /site\.ts:2:\d+: /]] as const)(
    "names the place of %s",
    { tags: ["deep"] },
    namesPlace,
  );

  test("if the port of the demo's search page is taken, the error names it, and nothing keeps running", {
    tags: ["deep"],
  }, async () => {
    const other = createServer();
    // If the port is taken already, that serves as well.
    await new Promise((done) => other.once("error", done).listen(8789, "127.0.0.1", () => done(null)));
    try {
      dev = new Dev(["--port", String(port)], { TMPDIR: resolve(folder) }, ["demo/dev.ts"]);
      expect(await dev.exited).toBe(2);
      expect(dev.output).toMatch(
        /port 8789, where the search page of the demo would listen, is taken\. Stop the process that listens there/,
      );
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      other.close();
    }
  });

  test("each o stops the demo, or starts it, also after its port was taken", { tags: ["deep"] }, async () => {
    const other = createServer();
    try {
      dev = new Dev(["--port", String(port)], { TMPDIR: resolve(folder) }, ["demo/dev.ts"]);
      await dev.says(/everything/);
      dev.type("o\no\no\n");
      await dev.says(/The origin is stopped\.[\s\S]*is up again\.[\s\S]*is stopped\./);
      await new Promise<void>((done) => other.listen(8788, "127.0.0.1", done));
      dev.type("o\n");
      await dev.says(/port 8788, where the demo site would listen, is taken\. Stop the process that listens there/);
      await new Promise((done) => other.close(done));
      dev.type("o\n");
      await dev.says(/is taken[\s\S]*The origin is up again\./);
      dev.interrupt();
      expect(await dev.exited).toBe(0);
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      other.close();
    }
  });

  test("if a port is taken, the error names it and says what to do", { tags: ["deep"] }, async () => {
    dev = new Dev(["--config", config(`{ origin: "${origin.url}" }`), "--port", new URL(origin.url).port]);
    expect(await dev.exited).toBe(2);
    expect(dev.output).toMatch(
      /port \d+ is taken\. Stop the process that listens there, or choose another port with --port\. A session that was killed leaves processes named workerd\./,
    );
  });
});

function sh(line: string): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn("sh", ["-c", line], { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.on("close", () => resolve(text));
  });
}
