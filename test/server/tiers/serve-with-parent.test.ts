import { mkdtempSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { tidemark } from "../../cli/run-command.ts";
import { exchange } from "../../engine/runtime/runtime-engine.ts";
import { HOST } from "../../engine/scenario.ts";
import { noPostgres, type PostgresServer, startPostgres } from "../../sdk/outbox/postgres-server.ts";
import { byDepth, inGate } from "../../suite/depth.ts";
import { freePort } from "../../suite/free-ports.ts";
import { breath } from "../../suite/until.ts";
import { Relay } from "../machines/relay.ts";
import { ServerProcess } from "../serve/running-server.ts";
import { type Settling, settled } from "../serve/settled-purges.ts";
import { PARENT_TOKEN, PARENT_TOKENS } from "./parent-tokens.ts";

const TOKEN = "a-token-of-these-servers-000123456789";
const CHILDREN = byDepth({ test: 2, gate: 2, all: 10 });
const ROUNDS = byDepth({ test: 2, gate: 2, all: 6, explore: 300 });
const PAGE = { "cache-control": "max-age=3600, stale-if-error=600", "cache-tag": "page" };

if (noPostgres) process.stdout.write(`${noPostgres}\n`);

const origin = new ScriptedOrigin(() => Date.now());
const agent = new Agent({ keepAlive: false });
const running: ServerProcess[] = [];
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  await origin.comeUp();
});
afterEach(() => Promise.all(running.splice(0).map((server) => server.stop())), 60_000);
afterAll(async () => {
  agent.destroy();
  await origin.goDown();
  rmSync(folder, { recursive: true });
});

function start(name: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const all = ["--cache", join(folder, name), "--workers", "1", "--memory", "16MiB", ...args];
  const given = { TIDEMARK_HOSTS: HOST, TIDEMARK_TOKEN: TOKEN, ...environment };
  const server = new ServerProcess(folder, all, given);
  running.push(server);
  return server;
}

/** In this process: what is refused, or only checked, starts nothing. */
function check(args: readonly string[], environment: Readonly<Record<string, string>>) {
  const env = { TIDEMARK_HOSTS: HOST, TIDEMARK_TOKEN: TOKEN, ...environment };
  return tidemark({ args: ["serve", ...args, "--check"], env, cwd: folder });
}

describe("tidemark serve --parent", { timeout: 60_000 }, () => {
  const parent = ["--parent", "https://shield.example.com"];
  const log = ["--log", "postgres://user@db.internal/tidemark"];
  const token = { TIDEMARK_PARENT_TOKEN: PARENT_TOKEN };

  test.each(
    inGate(1, [
      ["without a shared log", parent, token, "--parent needs --log"],
      ["without a token", [...parent, ...log], {}, "--parent needs TIDEMARK_PARENT_TOKEN"],
      [
        "with a weak token",
        [...parent, ...log],
        { TIDEMARK_PARENT_TOKEN: "x" },
        "TIDEMARK_PARENT_TOKEN has fewer than 32",
      ],
      [
        "for a path",
        ["--parent", "https://shield.example.com/a", ...log],
        token,
        "is not like https://shield.example.com",
      ],
      [
        "with a password in its address",
        ["--parent", "https://user:secret@shield.example.com", "--origin", "http://127.0.0.1:8000", ...log],
        token,
        "the parent's address has a user or password",
      ],
      ["for no address", ["--parent", "shield", ...log], token, 'the parent "shield" is not like'],
    ]),
  )("%s is refused in words", async (_, args, environment, words) => {
    const { exit, stderr } = await check(args, environment);
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(words) });
  });
});

describe.skipIf(noPostgres)("a parent with children that share its log", { timeout: 120_000 }, () => {
  let postgres: PostgresServer;
  let port: number;
  let names = 0;

  beforeAll(async () => {
    postgres = await startPostgres({ port: await freePort() });
  }, 60_000);
  afterAll(() => postgres?.stop());

  function startParent(name: string, listen: number): ServerProcess {
    const args = ["--listen", `127.0.0.1:${listen}`, "--origin", origin.url, "--log", postgres.url("postgres")];
    return start(name, args, { TIDEMARK_TOKENS: PARENT_TOKENS });
  }

  function startChild(args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}): ServerProcess {
    const own = ["--listen", "127.0.0.1:0", "--parent", `http://127.0.0.1:${port}`, "--log", postgres.url("postgres")];
    own.push("--disk", "1GiB"); // Their rules are the same, although the parent's disk is larger.
    return start(`child-${++names}`, [...own, ...args], { TIDEMARK_PARENT_TOKEN: PARENT_TOKEN, ...environment });
  }

  async function family(children: number, args: readonly string[] = []) {
    port = await freePort();
    const name = `parent-${++names}`;
    const parent = startParent(name, port);
    const started = Array.from({ length: children }, () => startChild(args));
    const addresses = await Promise.all([parent, ...started].map((server) => server.address()));
    return { name, parent, children: started, addresses, at: addresses.slice(1) };
  }

  const get = (address: URL | undefined, path: string) => exchange(address!, agent, { path });

  async function purge(address: URL | undefined): Promise<void> {
    const { body } = await exchange(address!, agent, {
      method: "POST",
      path: "/_tidemark/purge",
      fields: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ tags: ["page"] }),
    });
    await settled(JSON.parse(body) as Settling);
  }

  test("is named by --check, with the origin that stands in for it", async () => {
    const log = ["--log", postgres.url("postgres")];
    const args = ["--parent", "http://shield.example.com", ...log, "--origin", "http://127.0.0.1:8000"];
    const { exit, stdout, stderr } = await check(args, { TIDEMARK_PARENT_TOKEN: TOKEN });
    expect(exit).toBe(0);
    expect(stdout).toContain("parent http://shield.example.com, origin http://127.0.0.1:8000");
    expect(stderr).toContain("could be read on the way");
  });

  test("may have a name of the site, because its children have the same hosts", async () => {
    const args = ["--parent", "https://shield.example.com", "--log", postgres.url("postgres")];
    const environment = { TIDEMARK_PARENT_TOKEN: PARENT_TOKEN, TIDEMARK_HOSTS: `${HOST},shield.example.com` };
    const { exit, stdout } = await check(args, environment);
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining("parent https://shield.example.com") });
  });

  test(`a page costs the origin one fetch, and ${ROUNDS} purges leave no old one on ${CHILDREN} children that are filling`, async () => {
    const { addresses, at } = await family(CHILDREN);
    origin.reply("/page", { fields: PAGE, body: "0", delayMs: 20 });
    const fetched = origin.countOf("/page");
    const asked = at.flatMap((address) => Array.from({ length: 20 }, () => get(address, "/page")));
    for (const { body } of await Promise.all(asked)) expect(body).toBe("0");
    expect(origin.countOf("/page") - fetched).toBe(1);

    // Visitors ask all the time, so that fills are under way whenever a purge comes.
    let settled = 0;
    let isOver = false;
    const old: string[] = [];
    const visit = async (address: URL) => {
      while (!isOver) {
        const before = settled;
        const { status, body } = await get(address, "/page");
        if (status !== 200 || Number(body) < before) old.push(`${status} ${body} after ${before} at ${address.host}`);
        await breath();
      }
    };
    const visitors = addresses.map(visit);
    for (let round = 1; round <= ROUNDS; round++) {
      origin.reply("/page", { fields: PAGE, body: String(round), delayMs: 20 });
      await purge(addresses[round % addresses.length]);
      settled = round;
      for (const { body } of await Promise.all(addresses.map((address) => get(address, "/page")))) {
        expect(body).toBe(String(round));
      }
    }
    isOver = true;
    await Promise.all(visitors);
    expect(old).toEqual([]);
  });

  test("is killed: what the children hold stands in, and after its return it gives nothing that was purged", {
    tags: ["deep"],
  }, async () => {
    const { name, parent, at } = await family(2);
    origin.reply("/page", { fields: PAGE, body: "v1" });
    for (const address of at) expect(await get(address, "/page")).toMatchObject({ body: "v1" });
    parent.child.kill("SIGKILL");
    await parent.ended();
    expect(await get(at[0], "/page")).toMatchObject({ body: "v1", fields: { "x-cache": "HIT" } });
    expect(await get(at[0], "/other")).toMatchObject({ status: 502 });
    origin.reply("/page", { fields: PAGE, body: "v2" });
    await purge(at[1]);
    expect(await get(at[0], "/page")).toMatchObject({ status: 502 });
    // The page that was purged is on the parent's disk.
    await startParent(name, port).address();
    for (const address of at) expect(await get(address, "/page")).toMatchObject({ body: "v2" });
  });

  test("is killed: the origin is asked instead where it is named", { tags: ["deep"] }, async () => {
    const { parent, children, at } = await family(1, ["--origin", origin.url]);
    origin.reply("/page", { fields: PAGE, body: "v1" });
    origin.reply("/other", { fields: PAGE, body: "other" });
    expect(await get(at[0], "/page")).toMatchObject({ body: "v1" });
    parent.child.kill("SIGKILL");
    await parent.ended();
    expect(await get(at[0], "/other")).toMatchObject({ status: 200, body: "other" });
    await children[0]!.prints(/the parent http:\S+ fails \(.*\); this server asks the origin instead/);
  });

  test("has children of which one cannot reach the log: what was purged elsewhere is not given there", {
    tags: ["deep"],
  }, async () => {
    const { addresses } = await family(1);
    const relay = await Relay.to(Number(new URL(postgres.url("postgres")).port));
    const child = startChild(["--log", `postgres://tidemark@127.0.0.1:${relay.port}/postgres`]);
    const address = await child.address();
    origin.reply("/page", { fields: PAGE, body: "v1" });
    for (const each of [...addresses, address]) expect(await get(each, "/page")).toMatchObject({ body: "v1" });
    relay.cut();
    origin.reply("/page", { fields: PAGE, body: "v2" });
    await purge(addresses[0]);
    expect(await get(address, "/page")).toMatchObject({ body: "v2" });
    relay.mend();
    expect(await child.stop()).toBe(0);
    await relay.close();
  });

  test("refuses a child with a wrong token, which says so", { tags: ["deep"] }, async () => {
    await family(0);
    const child = startChild([], { TIDEMARK_PARENT_TOKEN: "wrong-token-of-these-servers-000123456789" });
    expect(await get(await child.address(), "/page")).toMatchObject({ status: 502 });
    await child.prints(/it refuses TIDEMARK_PARENT_TOKEN: none of its tokens with the scope parent is this one/);
  });
});
