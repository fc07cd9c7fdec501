import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { noPostgres, type PostgresServer, startPostgres } from "../../sdk/outbox/postgres-server.ts";
import { inGate } from "../../suite/depth.ts";
import { until } from "../../suite/until.ts";
import { ServerProcess } from "../serve/running-server.ts";
import { type Settling, settled, untilOneSettlesAtOnce } from "../serve/settled-purges.ts";

const TOKEN = "a-token-of-these-servers-000123456789";

if (noPostgres) process.stdout.write(`${noPostgres}\n`);

describe("tidemark serve --log", { timeout: 60_000 }, () => {
  const origin = new ScriptedOrigin(() => Date.now());
  const running: ServerProcess[] = [];
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    await origin.comeUp();
  });
  afterEach(() => Promise.all(running.splice(0).map((server) => server.stop())));
  afterAll(async () => {
    await origin.goDown();
    rmSync(folder, { recursive: true });
  });

  function start(cache: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const listen = ["--listen", "127.0.0.1:0", "--workers", "2", "--origin", origin.url];
    const all = [...listen, "--cache", join(folder, cache), ...args];
    const server = new ServerProcess(folder, all, { TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN, ...environment });
    running.push(server);
    return server;
  }

  async function refused(cache: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const server = start(cache, args, environment);
    return { code: await server.ended(), printed: server.printed };
  }

  test.each(
    inGate(1, [
      ["mysql://root@host/log", "must be like postgres://user@host/database"],
      ["postgres://root:secret@[/log", "must be like postgres://user@host/database"],
      ["postgres://root:99/secret@host/log", "must have each / ? # and @ of its password percent-encoded"],
      ["postgres://root:secret@db1,db2/log", "must name one host"],
      ["postgres://root:secret@db1:5432,db2:5432/log", "must name one host"],
      ["postgres://db1/log?password=secret&target_session_attrs=read-write", "must name one host"],
      [
        "postgres://root:secret@db1/log?sslmode=verify-full&sslrootcert=/nowhere/db.pem",
        "/nowhere/db.pem cannot be read",
      ],
    ]),
  )("refuses %s in words, without its password", async (address, words) => {
    for (const [args, environment] of [
      [["--log", address], {}],
      [[], { TIDEMARK_LOG: address }],
    ] as const) {
      const { code, printed } = await refused("refused", args, environment);
      expect({ code, printed }).toEqual({ code: 2, printed: expect.stringContaining(words) });
      expect(printed).not.toContain("secret");
    }
  });

  test("says how to install pg where it is missing", async () => {
    const hook = `import { registerHooks } from "node:module";
      registerHooks({
        resolve(specifier, context, next) {
          if (specifier === "pg") throw new Error("not installed");
          return next(specifier, context);
        },
      });`;
    const without = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` };
    const { code, printed } = await refused("refused", ["--log", "postgres://db.internal/tidemark"], without);
    expect({ code, printed }).toEqual({ code: 2, printed: expect.stringMatching(/npm install pg@\d/) });
  });

  describe.skipIf(noPostgres)("with PostgreSQL", () => {
    let postgres: PostgresServer;
    beforeAll(async () => {
      postgres = await startPostgres();
    }, 60_000);
    afterAll(() => postgres?.stop());

    test("once a purge on one machine is acknowledged, no worker of another one has the page", {
      tags: ["deep"],
    }, async () => {
      const log = ["--log", postgres.url("postgres")];
      const servers = [start("one", log), start("two", log)];
      const addresses = await Promise.all(servers.map((server) => server.address()));
      const purge = async (address: URL | undefined) => {
        // A path, because the two have different ports and so different URLs of the page.
        const answer = await fetch(new URL("/_tidemark/purge", address), {
          method: "POST",
          headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
          body: JSON.stringify({ urls: ["/page"] }),
        });
        return (await answer.json()) as Settling;
      };
      for (let round = 1; round <= 10; round++) {
        origin.reply("/page", { fields: { "cache-control": "max-age=3600" }, body: `v${round}` });
        for (const address of [...addresses, ...addresses, ...addresses]) {
          // Each request is a connection of its own, so that both workers are asked.
          const answer = await fetch(new URL("/page", address), { headers: { connection: "close" } });
          expect(await answer.text()).toBe(`v${round}`);
        }
        expect(await settled(await purge(addresses[round % 2]))).toMatchObject({ seq: round });
      }
      await untilOneSettlesAtOnce(() => purge(addresses[0]));
      for (const server of servers) expect(await server.stop()).toBe(0);
    });

    test("a dump that is restored brings back no purged page, and each server says that the log is another one", {
      tags: ["deep"],
    }, async () => {
      const log = ["--log", postgres.url("postgres")];
      const reply = (body: string) => origin.reply("/restored", { fields: { "cache-control": "max-age=3600" }, body });
      const ask = async (address: URL) => {
        // One host, whatever the port is, so that it is one page.
        const [answer] = (await once(
          get(new URL("/restored", address), { headers: { host: "www.test" } }),
          "response",
        )) as [IncomingMessage];
        return { xCache: answer.headers["x-cache"], body: await text(answer) };
      };
      const control = async (address: URL, path: string, body?: object) => {
        const answer = await fetch(new URL(`/_tidemark/${path}`, address), {
          method: body ? "POST" : "GET",
          headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
          ...(body && { body: JSON.stringify(body) }),
        });
        return (await answer.json()) as { seq: number; settlesInMs: number };
      };
      const [first, second] = [start("first", log), start("second", log)];
      const [purging, storing] = await Promise.all([first.address(), second.address()]);
      reply("v1");
      await until(async () => (await ask(storing)).xCache === "HIT");
      expect(await second.stop()).toBe(0);
      const restore = postgres.dump("postgres");
      await settled(await control(purging, "purge", { urls: ["http://www.test/restored"] }));
      expect(await first.stop()).toBe(0);
      restore("postgres", "--clean");
      reply("v2");
      const unaware = start("second", log);
      const address = await unaware.address();
      expect(await ask(address)).toEqual({ xCache: "MISS", body: "v2" });
      const witness = start("first", log);
      await witness.address();
      for (const { printed } of [unaware, witness])
        expect(printed.match(/the purge log counts as a new log/g)).toHaveLength(1);
      const { seq, settlesInMs } = await control(address, "purge", { urls: ["/restored"] });
      expect(settlesInMs).toBeGreaterThan(3_600_000);
      expect(await control(address, `purges/${seq}`)).toMatchObject({
        settled: false,
        waitsFor: expect.arrayContaining(["machines that used the earlier log"]),
      });
    });

    test("a folder keeps to one kind of log, because pages in it may have been purged in the other", {
      tags: ["deep"],
    }, async () => {
      const log = ["--log", postgres.url("postgres")];
      for (const [cache, first, second, words] of [
        ["shared-first", log, [], "shared its purge log with others"],
        ["own-first", [], log, "had a purge log of its own"],
      ] as const) {
        const server = start(cache, first);
        await server.address();
        expect(await server.stop()).toBe(0);
        expect(await refused(cache, second)).toEqual({ code: 2, printed: expect.stringContaining(words) });
      }
    });
  });
});
