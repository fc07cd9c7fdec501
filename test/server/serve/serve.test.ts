import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, fetch as undiciFetch } from "undici";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_CACHE } from "../../../cli/server-folder.ts";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import type { Explanation } from "../../../wire/explanation.ts";
import { tidemark } from "../../cli/run-command.ts";
import { byDepth, inGate } from "../../suite/depth.ts";
import { freePort } from "../../suite/free-ports.ts";
import { until } from "../../suite/until.ts";
import { RawClient } from "../raw-client.ts";
import { untilOnDisk } from "./disks/pages-on-disk.ts";
import { ServerProcess } from "./running-server.ts";
import { type Settling, settled, untilOneSettlesAtOnce } from "./settled-purges.ts";

const ROUNDS = byDepth({ test: 6, gate: 6, all: 10, explore: 40 });
const LISTEN = ["--listen", "127.0.0.1:0", "--workers", "2"];

describe("tidemark serve", () => {
  const origin = new ScriptedOrigin(() => Date.now());
  const running: ServerProcess[] = [];
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    await origin.comeUp();
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.stop()));
  });
  afterAll(async () => {
    await origin.goDown();
    rmSync(folder, { recursive: true });
  });

  const start = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) => {
    const server = new ServerProcess(folder, args, environment);
    running.push(server);
    return server;
  };
  const refusal = async (args: readonly string[], environment: Readonly<Record<string, string>> = {}) => {
    const server = start(args, environment);
    const code = await server.ended();
    return { code, printed: server.printed };
  };
  const ask = async (address: URL, path: string, init: RequestInit = {}) => {
    const answer = await fetch(new URL(path, address), init);
    return { status: answer.status, xCache: answer.headers.get("x-cache"), body: await answer.text() };
  };

  test("needs an origin, and says how to name it", async () => {
    expect(await tidemark({ args: ["serve"], cwd: folder })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("tidemark serve --origin"),
    });
  });

  test("touches no page of a server whose folder it is refused", { tags: ["deep"] }, async () => {
    const args = ["--origin", origin.url, ...LISTEN, "--cache", "owned"];
    const first = start(args, { TIDEMARK_HOSTS: "*" });
    await first.address();
    const draft = join(folder, "owned", "pages", "being-written", "4194304-0123abcd-1"); // of a process that has died
    writeFileSync(draft, "");
    const { code, printed } = await refusal(args, { TIDEMARK_HOSTS: "*" });
    expect({ code, printed }).toEqual({ code: 2, printed: expect.stringContaining("Another tidemark serve is using") });
    if (platform() === "linux") expect(printed).toContain(`Stop it first (process ${first.pid}), or give`);
    expect(existsSync(draft)).toBe(true);
  });

  test("serves the dashboard, whose session every worker knows and which may only read", {
    tags: ["deep"],
  }, async () => {
    const token = "a-token-of-this-server-000123456789";
    const listen = ["--listen", `127.0.0.1:${await freePort()}`, "--workers", "2"];
    const server = start([...listen, "--origin", origin.url], { TIDEMARK_TOKEN: token });
    const address = await server.address();
    expect(server.printed).not.toContain(token);
    const ofPlane = (path: string, init: RequestInit = {}) => fetch(new URL(`/_tidemark/${path}`, address), init);
    const page = await ofPlane("", { headers: { accept: "text/html" } });
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(await page.text()).toContain("<title>Tidemark</title>");
    const login = await ofPlane("session", { method: "POST", headers: { authorization: `Bearer ${token}` } });
    const cookie = login.headers.get("set-cookie")!.split(";")[0]!;
    await login.text();
    for (let reads = 0; reads < 8; reads++) {
      const read = await ofPlane("stats", { headers: { cookie, connection: "close" } });
      expect(read.status).toBe(200);
      await read.text();
    }
    const json = { cookie, "content-type": "application/json" };
    const purge = await ofPlane("purge", { method: "POST", headers: json, body: '{"everything":true}' });
    expect(purge.status).toBe(401);
    await purge.text();
  });

  test.skipIf(platform() !== "linux")(
    "serves this machine on any address of loopback",
    { tags: ["deep"] },
    async () => {
      const where = `127.0.0.5:${await freePort()}`;
      const server = start(["--origin", origin.url, "--listen", where, "--workers", "1", "--cache", "loopback"]);
      const address = await server.address();
      await server.prints(new RegExp(`curl -si http://${where}/ `));
      expect((await ask(address, "/none")).status).toBe(404);
    },
  );

  test("names the socket of an origin that is down as its owner does", { tags: ["deep"] }, async () => {
    const socket = join(folder, "nobody.sock");
    const listen = ["--listen", `127.0.0.1:${await freePort()}`, "--workers", "1"];
    const server = start(["--origin", `unix:${socket}`, ...listen]);
    expect(await ask(await server.address(), "/")).toMatchObject({ status: 502 });
    await server.prints(/worker-1: The origin .*/);
    expect(server.printed).toContain(`worker-1: The origin unix:${socket} cannot be reached, or hung up (`);
  });

  test("does not serve other machines without knowing its public hosts", async () => {
    const args = ["serve", "--origin", origin.url, "--listen", "*:0"];
    const { exit, stderr } = await tidemark({ args, cwd: folder });
    expect(exit).toBe(2);
    expect(stderr).toContain('hosts: ["www.example.com"]');
    expect(stderr).toContain("TIDEMARK_HOSTS=www.example.com");
  });

  test.each(
    inGate(1, [
      ["--listen", "nowhere", "unix:/run/edge.sock"],
      ["--memory", "much", "512MiB"],
      ["--workers", "0", "1 to 256"],
      ["--origin", "ftp://example.com", "unix:/run/app.sock"],
    ]),
  )("refuses %s %s in words", async (option, value, words) => {
    const ended = await tidemark({ args: ["serve", "--origin", origin.url, option, value], cwd: folder });
    expect(ended).toMatchObject({ exit: 2, stderr: expect.stringContaining(words) });
  });

  test("says that pages of another origin are kept, once, at a start and at a reload", async () => {
    const kept = /pages that were fetched from (\S+) are kept, though the origin is now (\S+)\. .*purge --everything/g;
    const here = mkdtempSync(join(folder, "moved-"));
    const config = (url: string) =>
      writeFileSync(join(here, "site.config.mjs"), `export default { origin: "${url}", hosts: ["127.0.0.1"] };\n`);
    const told = async (url: string, next: string | null) => {
      config(url);
      const server = new ServerProcess(here, [
        "--config",
        "site.config.mjs",
        "--listen",
        "127.0.0.1:0",
        "--workers",
        "1",
      ]);
      running.push(server);
      await server.address();
      if (next !== null) {
        config(next);
        await server.prints(/the new settings are in use/);
      }
      await server.stop();
      return [...server.printed.matchAll(kept)].map(([, before, now]) => [before, now]);
    };
    const [first, second, third] = ["http://127.0.0.1:1", "http://127.0.0.1:2", "http://127.0.0.1:3"] as const;
    expect(await told(first, null)).toEqual([]);
    expect(await told(second, third)).toEqual([
      [first, second],
      [second, third],
    ]);
    expect(await told(third, null)).toEqual([]);
  });

  test("checks a config and ends", { tags: ["deep"] }, async () => {
    writeFileSync(join(folder, "wrong.config.ts"), 'export default { origin: "http://127.0.0.1:1", rutes: [] };\n');
    const wrong = await refusal(["--check", "--config", "wrong.config.ts"]);
    expect({ ...wrong }).toMatchObject({ code: 2, printed: expect.stringContaining("rutes") });
    writeFileSync(join(folder, "throwing.config.ts"), 'throw "no database";\n');
    const throwing = await refusal(["--check", "--config", "throwing.config.ts"]);
    expect(throwing).toMatchObject({ code: 2, printed: expect.stringContaining("throwing.config.ts: no database") });
    const right = await refusal(["--check", "--origin", origin.url], { TIDEMARK_HOSTS: "www.example.test" });
    expect(right).toMatchObject({ code: 0, printed: expect.stringContaining("www.example.test") });
  });

  test("goes on with the fetch of a client that leaves, logs 499, and blames nobody", { tags: ["deep"] }, async () => {
    const log = join(folder, "left.log");
    const listen = ["--listen", "127.0.0.1:0", "--workers", "1", "--cache", "left"];
    const token = "a-token-of-this-test-0123456789-abcdef";
    const environment = { TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: token };
    const server = start(["--origin", origin.url, ...listen, "--access-log", log, "--log-format", "json"], environment);
    const address = await server.address();
    origin.reply("/slow", { fields: { "cache-control": "max-age=60" }, body: "v1", hold: "slow" });
    const client = new RawClient({ host: address.hostname, port: Number(address.port) });
    await client.send(`GET /slow HTTP/1.1\r\nHost: ${address.host}\r\n\r\n`);
    await until(() => origin.countOf("/slow") === 1);
    client.socket.resetAndDestroy();
    await client.closed;
    await ask(address, "/_tidemark/health"); // the worker has seen the reset when it answers what came after it
    origin.release("slow");
    await until(async () => (await ask(address, "/slow")).xCache === "HIT");
    expect(origin.countOf("/slow")).toBe(1);
    const stats = await ask(address, "/_tidemark/stats?scope=isolate", {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(JSON.parse(stats.body)).toMatchObject({ origin: { asked: 1, answered: 1, failed: 0 }, failures: 0 });
    expect(await server.stop()).toBe(0);
    const lines = readFileSync(log, "latin1").trim().split("\n");
    const first = lines.map((line) => JSON.parse(line)).find(({ target }) => target === "/slow");
    expect(first).toMatchObject({ status: 499, bytes: 0, whole: false, xCache: "MISS" });
  });

  describe("with two workers", () => {
    let server: ServerProcess;
    let address: URL;

    beforeAll(async () => {
      const listen = ["--listen", `127.0.0.1:${await freePort()}`, "--workers", "2", "--cache", "shared"];
      server = new ServerProcess(folder, ["--origin", origin.url, ...listen]);
      address = await server.address();
    });
    afterAll(async () => {
      expect(await server.stop()).toBe(0);
    });

    test("answers from memory, and no worker has the page once a purge is acknowledged", async () => {
      const [, token] = await server.prints(/token +(\S+)/);
      const headers = { authorization: `Bearer ${token}` };
      const purge = async () =>
        (await (await fetch(new URL("/page", address), { method: "PURGE", headers })).json()) as Settling;
      for (let round = 1; round <= ROUNDS; round++) {
        origin.reply("/page", { fields: { "cache-control": "max-age=3600" }, body: `v${round}` });
        // Each request is a connection of its own, so that both workers are asked.
        for (let turn = 0; turn < 6; turn++)
          expect(await ask(address, "/page", { headers: { connection: "close" } })).toMatchObject({
            body: `v${round}`,
          });
        expect(await settled(await purge())).toMatchObject({ seq: round });
      }
      await untilOneSettlesAtOnce(purge);
      const explain = async () => {
        const headers = { authorization: `Bearer ${token}`, connection: "close" };
        const answer = await fetch(new URL("/_tidemark/explain?url=/page", address), { headers });
        return (await answer.json()) as { readonly worker?: string };
      };
      // Each explanation is one worker's, and says whose.
      expect(await explain()).toMatchObject({ worker: expect.stringMatching(/^worker-[12], one of 2$/) });
      expect(origin.countOf("/page")).toBeLessThanOrEqual(2 * ROUNDS); // two workers, at most once each per version
    }, 60_000); // each purge may have to settle by the clock

    test("each worker says why the last answer of a page was not stored, whichever worker gave it", async () => {
      const [, token] = await server.prints(/token +(\S+)/);
      const withCookie = { "cache-control": "max-age=60", "set-cookie": "a=1" };
      origin.reply("/refused", { fields: withCookie }, { fields: { "cache-control": "no-store" } });
      const headers = { authorization: `Bearer ${token}`, connection: "close" };
      const saidByEach = async () => {
        const said = new Map<string | undefined, string | undefined>();
        await until(async () => {
          const answer = await fetch(new URL("/_tidemark/explain?url=/refused", address), { headers });
          const { worker, lastRefusal } = (await answer.json()) as Explanation;
          return said.set(worker, lastRefusal?.because).size === 2;
        });
        return [...said.values()];
      };
      await ask(address, "/refused", { headers: { connection: "close" } });
      expect(await saidByEach()).toEqual(["set-cookie", "set-cookie"]);
      await ask(address, "/refused", { headers: { connection: "close" } });
      expect(await saidByEach()).toEqual(["no-store", "no-store"]); // of either worker, it is the newest
    });

    test("no worker has a page that a form has changed, once the answer to the form is there", async () => {
      const fields = { "cache-control": "max-age=3600" };
      const headers = { connection: "close" }; // so that both workers are asked
      const path = "/form";
      let late = 0;
      for (let round = 0; round < 10; round++) {
        const before = `${round} changes`;
        origin.reply(path, { fields, body: before });
        for (let turn = 0; turn < 6; turn++) await ask(address, path, { headers });
        origin.reply(path, { status: 303, fields: { location: path } }, { fields, body: `${round + 1} changes` });
        const saved = await ask(address, path, { method: "POST", body: "x", redirect: "manual", headers });
        expect(saved.status).toBe(303);
        const seen: string[] = [];
        for (let turn = 0; turn < 4; turn++) seen.push((await ask(address, path, { headers })).body);
        if (seen.includes(before)) late++;
      }
      expect(late).toBeLessThan(3); // a busy machine may take longer than the form's answer waits
    });
  });

  test("purges for an address of the config's without a token, and for no one behind it", {
    tags: ["deep"],
  }, async () => {
    const site = { origin: origin.url, hosts: ["localhost"], doors: { varnish: { from: ["127.0.0.1"] } } };
    writeFileSync(join(folder, "purges.config.ts"), `export default ${JSON.stringify(site)};\n`);
    origin.reply("/page", { fields: { "cache-control": "max-age=3600" }, body: "page" });
    const server = start(["--config", "purges.config.ts", ...LISTEN, "--cache", "purges"], { TIDEMARK_HOSTS: "*" });
    const address = await server.address();
    await ask(address, "/page");
    const before = origin.countOf("/page");
    const forwarded = { "x-forwarded-for": "127.0.0.1" };
    expect(await ask(address, "/page", { method: "PURGE", headers: forwarded })).toMatchObject({ status: 405 });
    expect(origin.countOf("/page")).toBe(before);
    expect(await ask(address, "/page", { method: "PURGE" })).toMatchObject({ status: 200 });
    await until(async () => (await ask(address, "/page")).xCache === "MISS" || origin.countOf("/page") > before);
  });

  test("a client that breaks off or breaks the rules is no failure of the origin's", { tags: ["deep"] }, async () => {
    const log = join(folder, "broken.log");
    const token = "a-token-of-this-test-0123456789-abcdef";
    const args = ["--origin", origin.url, "--listen", "127.0.0.1:0", "--workers", "1", "--cache", "broken"];
    const environment = { TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: token };
    const server = start([...args, "--access-log", log], environment);
    const address = await server.address();
    for (const [path, framing, body, hangsUp] of [
      ["/within-body", "Content-Length: 9", "half", true],
      ["/within-chunks", "Transfer-Encoding: chunked", "4\r\nhalf\r\n", true],
      ["/broken-chunks", "Transfer-Encoding: chunked", "4\r\nhalf\r\nZZ\r\n", false],
    ] as const) {
      const client = new RawClient({ host: address.hostname, port: Number(address.port) });
      await client.send(`POST ${path} HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n${body}`);
      if (hangsUp) client.destroy();
      await client.closed;
      await until(() => existsSync(log) && readFileSync(log, "utf8").includes(`POST ${path}`));
      expect(readFileSync(log, "utf8")).toContain(`"POST ${path} HTTP/1.1" 400 `);
    }
    const headers = { authorization: `Bearer ${token}` };
    const stats = await ask(address, "/_tidemark/stats?scope=isolate", { headers });
    expect(JSON.parse(stats.body)).toMatchObject({ origin: { failed: 0 } });
    expect(server.printed).not.toContain("The origin");
  });

  test("goes on when nobody reads its output any more", { tags: ["deep"] }, async () => {
    const log = join(folder, "unread.log");
    const args = ["--origin", origin.url, ...LISTEN, "--cache", "unread", "--access-log", log];
    const server = start(args, { TIDEMARK_HOSTS: "*" });
    const address = await server.address();
    server.child.stdout!.destroy();
    server.child.stderr!.destroy();
    for (let time = 0; time < 2; time++) {
      renameSync(log, `${log}.old`);
      server.signal("SIGUSR1"); // of which it says a line once both workers have opened the file anew
      await until(() => existsSync(log));
    }
    expect((await ask(address, "/none")).status).toBe(404);
    expect(await server.stop()).toBe(0);
  });

  test("leaves no pid file behind, neither when it stops nor when it gives up, which its last line tells", {
    tags: ["deep"],
    timeout: 60_000,
  }, async () => {
    const args = ["--origin", origin.url, "--listen", "127.0.0.1:0", "--workers", "1", "--cache", "gone"];
    const serveOnce = async () => {
      const server = start([...args, "--pid-file", "serve.pid"], { TIDEMARK_HOSTS: "*" });
      await server.address();
      expect(readFileSync(join(folder, "serve.pid"), "utf8")).toBe(`${server.pid}\n`);
      return server;
    };
    expect(await (await serveOnce()).stop()).toBe(0);
    expect(existsSync(join(folder, "serve.pid"))).toBe(false);
    const server = await serveOnce();
    const [, worker] = await server.prints(/worker-1 \(process (\d+)\) accepts/);
    renameSync(join(folder, "gone", "log"), join(folder, "gone", "away")); // where workers lock a file at their start
    process.kill(Number(worker), "SIGKILL");
    expect(await server.ended()).toBe(1);
    expect(existsSync(join(folder, "serve.pid"))).toBe(false);
    expect(server.printed.trimEnd().split("\n").at(-1)).toMatch(
      /^\S+Z tidemark: no worker starts, so the server ends; the last one, worker-\d+, ended: Error: .* was removed/,
    );
  });

  test("keeps the token that it has printed when the config names hosts later", {
    tags: ["deep"],
    timeout: 60_000,
  }, async () => {
    const config = join(folder, "named.config.ts");
    const site = (rest: object) => `export default ${JSON.stringify({ origin: origin.url, ...rest })};\n`;
    writeFileSync(config, site({}));
    const port = await freePort();
    const server = start([
      "--config",
      "named.config.ts",
      "--listen",
      `127.0.0.1:${port}`,
      "--workers",
      "1",
      "--cache",
      "named",
    ]);
    const address = await server.address();
    const [, token] = await server.prints(/token +(\S+)/);
    const purge = () => ask(address, "/page", { method: "PURGE", headers: { authorization: `Bearer ${token}` } });
    expect(await purge()).toMatchObject({ status: 200 });
    writeFileSync(config, site({ hosts: ["localhost", `localhost:${port}`, `127.0.0.1:${port}`] }));
    await server.prints(/the new settings are in use/);
    expect(server.printed).not.toContain("nobody can purge");
    await until(async () => (await purge()).status === 200);
    expect(await purge()).toMatchObject({ status: 200 });
  });

  test("takes over a changed config, and keeps the old one if the new one is wrong", {
    tags: ["deep"],
    timeout: 60_000,
  }, async () => {
    // it starts workers three times
    const config = join(folder, "edited.config.ts");
    const site = (ttl: string) =>
      `export default { origin: ${JSON.stringify(origin.url)}, hosts: ["127.0.0.1"], routes: [{ match: "/*", ttl: "${ttl}" }] };\n`;
    origin.reply("/aged", { body: "aged" });
    writeFileSync(config, site("60s").replace('"*"]', '"localhost"]'));
    const server = start(["--config", "edited.config.ts", ...LISTEN], { TIDEMARK_HOSTS: "*" });
    const address = await server.address();
    await ask(address, "/aged");
    await untilOnDisk(join(folder, DEFAULT_CACHE), "aged"); // where the next workers look for it
    writeFileSync(config, site("soon"));
    await server.prints(/the old settings stay in use: .*soon/s);
    writeFileSync(config, site("2h"));
    await server.prints(/the new settings are in use/);
    await server.hasRetired(2);
    // One connection, and so one worker: an answer is stored behind it, and the other worker finds it a moment later.
    const connection = new Agent({ connections: 1 });
    const lifetimeOf = async (path: string) => {
      const answer = await undiciFetch(new URL(path, address), { dispatcher: connection });
      await answer.text();
      return answer.headers.get("cache-status");
    };
    // What is stored keeps its lifetime.
    expect(await lifetimeOf("/aged")).toMatch(/hit; ttl=[1-6]\d?$/);
    origin.reply("/other", { body: "other" });
    expect(await lifetimeOf("/other")).toMatch(/fwd=uri-miss.*stored/);
    expect(await lifetimeOf("/other")).toMatch(/hit; ttl=7[12]\d\d$/);
    await connection.close();
  });
});
