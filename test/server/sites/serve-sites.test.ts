import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { tidemark } from "../../cli/run-command.ts";
import type { ClientAnswer } from "../../engine/engine.ts";
import { exchange } from "../../engine/runtime/runtime-engine.ts";
import { until } from "../../suite/until.ts";
import { untilOnDisk } from "../serve/disks/pages-on-disk.ts";
import { ServerProcess } from "../serve/running-server.ts";
import { type Settling, settled, untilOneSettlesAtOnce } from "../serve/settled-purges.ts";

const tokenOf = (site: string) => `the-token-of-${site}-0123456789-abcdefghijkl`;
const REPEATED = 6;

/** A request that gets no answer fails, and says which one it is. */
const agent = new Agent({ keepAlive: false, timeout: 50_000 });

describe("tidemark serve --sites", { timeout: 180_000 }, () => {
  const origins = new Map<string, ScriptedOrigin>();
  let folder: string;
  let server: ServerProcess | undefined;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    mkdirSync(join(folder, "sites"));
    for (const name of ["shop", "blog", "third"]) {
      const origin = new ScriptedOrigin(() => Date.now());
      await origin.comeUp();
      origins.set(name, origin);
      publish(name, "v1");
    }
  });
  afterEach(async () => {
    await server?.stop();
    server = undefined;
    for (const origin of origins.values()) await origin.goDown();
    rmSync(folder, { recursive: true });
  });

  function publish(site: string, version: string): void {
    const fields = { "cache-control": "max-age=3600", "cache-tag": "all" };
    origins.get(site)!.reply("/page", { fields, body: `${site} ${version}` });
  }

  /** Writes the config of a site, and its token. */
  function write(name: string, more: string = `hosts: ["${name}.test"]`): void {
    writeFileSync(join(folder, "sites", `${name}.env`), `TIDEMARK_TOKEN=${tokenOf(name)}\n`);
    const config = `export default { origin: ${JSON.stringify(origins.get(name)!.url)}, ${more} };\n`;
    writeFileSync(join(folder, "sites", `${name}.config.ts`), config);
  }

  function remove(name: string): void {
    for (const file of [`${name}.config.ts`, `${name}.env`]) unlinkSync(join(folder, "sites", file));
  }

  async function start(...more: readonly string[]): Promise<number> {
    const listen = ["--listen", "127.0.0.1:0", "--workers", "2", "--cache", "cache"];
    server = new ServerProcess(folder, ["--sites", "sites", ...listen, ...more]);
    return Number((await server.address()).port);
  }

  async function refusal(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const refused = new ServerProcess(folder, [...args, "--cache", "cache"], environment);
    return { code: await refused.ended(), printed: refused.printed };
  }

  function ask(port: number, host: string, path = "/page", token = "", body?: object): Promise<ClientAnswer> {
    return exchange(new URL(`http://127.0.0.1:${port}`), agent, {
      ...(body && { method: "POST", body: JSON.stringify(body) }),
      host,
      path,
      ...(token !== "" && { fields: { authorization: `Bearer ${token}`, "content-type": "application/json" } }),
    });
  }

  /** Resolves to the receipt when the purge has settled. */
  async function purge(port: number, site: string): Promise<Settling> {
    let got: ClientAnswer;
    // A worker of the old settings, which may take connections a moment longer, does not know a new site or its token.
    await until(async () => {
      got = await ask(port, `${site}.test`, "/_tidemark/purge", tokenOf(site), { urls: ["/page"] });
      return got.status !== 421 && got.status !== 401;
    });
    if (got!.status !== 200) throw new Error(`a purge was answered with ${got!.status}: ${got!.body}`);
    return settled(JSON.parse(got!.body) as Settling);
  }

  /** Both workers answer with this, each on connections of its own. */
  async function expectPage(port: number, site: string, version: string): Promise<void> {
    for (let turn = 0; turn < REPEATED; turn++) {
      expect(await ask(port, `${site}.test`)).toMatchObject({ status: 200, body: `${site} ${version}` });
    }
  }

  /** Resolves once every worker answers so. Those of the old settings may take connections a moment longer. */
  async function untilPage(port: number, host: string, body: string): Promise<void> {
    let same = 0;
    await until(async () => {
      same = (await ask(port, host)).body === body ? same + 1 : 0;
      return same === 2 * REPEATED;
    });
  }

  test("keeps sites apart, with a log, a ledger and a backup of each, over restarts and the death of its supervisor", async () => {
    write("shop");
    write("blog");
    const port = await start("--access-log", "access.log", "--log-format", "json");
    expect(server!.printed).toMatch(/blog +blog\.test from http:/);
    for (let round = 2; round <= 4; round++) {
      await expectPage(port, "shop", `v${round - 1}`);
      await expectPage(port, "blog", "v1");
      await untilOnDisk(join(folder, "cache"), "blog v1"); // for a worker that was not asked
      publish("shop", `v${round}`);
      publish("blog", "newer, and not purged");
      expect(await purge(port, "shop")).toMatchObject({ seq: round - 1 });
      await expectPage(port, "shop", `v${round}`);
      await expectPage(port, "blog", "v1");
    }
    expect(await purge(port, "blog")).toMatchObject({ seq: 1 });
    const strange = { urls: ["/page"] };
    expect((await ask(port, "blog.test", "/_tidemark/purge", tokenOf("shop"), strange)).status).toBe(401);
    expect((await ask(port, "unknown.test", "/_tidemark/purge", tokenOf("shop"), strange)).status).toBe(421);
    const stats = await ask(port, "shop.test", "/_tidemark/stats", tokenOf("shop"));
    expect(stats.status).toBe(200);

    const args = ["backup", "--cache", "cache/sites/shop", "shop.sqlite"];
    const { stdout } = await tidemark({ args, cwd: folder });
    expect(stdout).toContain("3 purges");

    // A page that one worker has written, once: of two that write versions of a page, the slower one may have the older.
    origins.get("shop")!.reply("/kept", { fields: { "cache-control": "max-age=3600" }, body: "shop kept" });
    expect(await ask(port, "shop.test", "/kept")).toMatchObject({ body: "shop kept" });
    await untilOnDisk(join(folder, "cache"), "shop kept");
    origins.get("shop")!.reply("/kept", { body: "shop fetched again" });
    publish("shop", "v5");
    server!.child.kill("SIGKILL");
    await server!.ended();
    const again = await start();
    // Pages are there after a restart, as are the logs.
    expect(await ask(again, "shop.test", "/kept")).toMatchObject({ body: "shop kept" });
    expect(["shop v4", "shop v5"]).toContain((await ask(again, "shop.test")).body); // none that was purged
    expect(await ask(again, "blog.test")).toMatchObject({ body: "blog newer, and not purged" });
    expect(await purge(again, "shop")).toMatchObject({ seq: 4 });
    await expectPage(again, "shop", "v5");
    const lines = readFileSync(join(folder, "access.log"), "utf8").trim().split("\n");
    const sites = new Set(lines.map((line) => (JSON.parse(line) as { site: string | null }).site));
    expect(sites).toEqual(new Set(["shop", "blog", null]));
    expect(existsSync(join(folder, "cache", "log", "purge-log.sqlite"))).toBe(false);
  });

  test("adds, changes and removes sites while it runs, and a faulty one stays as it was, alone", {
    tags: ["deep"],
  }, async () => {
    write("shop");
    write("blog");
    const port = await start();
    await expectPage(port, "blog", "v1");
    write("third");
    await untilPage(port, "third.test", "third v1");
    expect(await purge(port, "third")).toMatchObject({ seq: 1 });

    // A faulty config alone, for which no worker is replaced, and then beside a sound change of another site.
    writeFileSync(
      join(folder, "sites", "blog.config.ts"),
      'export default { origin: "http://127.0.0.1:1", rutes: [] };\n',
    );
    await server!.prints(/the old settings stay in use: site blog: its old settings stay in use: .*rutes/s);
    write("shop", 'hosts: ["shop.test", "www.shop.test"]');
    await untilPage(port, "www.shop.test", "shop v1");
    await expectPage(port, "blog", "v1");

    // A host that another site has.
    write("third", 'hosts: ["third.test", "shop.test"]');
    await server!.prints(/site third: its old settings stay in use: the host shop\.test is in both shop and third/);
    await expectPage(port, "shop", "v1");
    await expectPage(port, "third", "v1");

    remove("third");
    write("blog", 'hosts: ["blog.test", "third.test"]');
    await untilPage(port, "third.test", "blog v1");
    await until(async () => (await ask(port, "third.test", "/_tidemark/site", tokenOf("third"))).status === 401);
    publish("shop", "v2");
    expect(await purge(port, "shop")).toMatchObject({ seq: 1 });
    await expectPage(port, "shop", "v2");

    // Its log is where it was.
    write("blog");
    write("third");
    await untilPage(port, "third.test", "third v1");
    expect(await purge(port, "third")).toMatchObject({ seq: 2 });
    for (const site of ["shop", "blog", "third"]) await untilOneSettlesAtOnce(() => purge(port, site));
  });

  test("takes up sites and tokens that were written while it read its sites at the start", {
    tags: ["deep"],
  }, async () => {
    const [reading, written] = ["reading", "written"].map((name) => join(folder, name)) as [string, string];
    write("shop");
    const config = join(folder, "sites", "shop.config.ts");
    const waits = `import { existsSync, writeFileSync } from "node:fs";
      writeFileSync(${JSON.stringify(reading)}, "");
      while (!existsSync(${JSON.stringify(written)})) await new Promise((resolve) => setTimeout(resolve, 10));\n`;
    writeFileSync(config, waits + readFileSync(config, "utf8"));
    const starts = start("--workers", "1");
    await until(() => existsSync(reading));
    const token = "another-token-of-shop-0123456789-abcdefghijkl";
    writeFileSync(join(folder, "sites", "shop.env"), `TIDEMARK_TOKEN=${token}\n`);
    write("blog");
    writeFileSync(written, "");
    const port = await starts;
    await server!.prints(/the new settings are in use/);
    await server!.hasRetired(1);
    await expectPage(port, "shop", "v1");
    await expectPage(port, "blog", "v1");
    expect((await ask(port, "shop.test", "/_tidemark/purges", token)).status).toBe(200);
    expect((await ask(port, "shop.test", "/_tidemark/purges", tokenOf("shop"))).status).toBe(401);
  });

  test("settings with which no worker has started count as changes at the next reload", async () => {
    write("shop");
    write("blog");
    const port = await start("--workers", "1");
    const log = join(folder, "cache", "log");
    renameSync(log, `${log}-away`); // where workers lock a file at their start
    let from = server!.printed.length;
    write("blog", 'hosts: ["new.test"]');
    await server!.prints(/the old settings stay in use: .*log was removed/, from);
    renameSync(`${log}-away`, log);
    from = server!.printed.length;
    write("shop", "hosts: 7");
    const [said] = await server!.prints(/the (?:new settings are|old settings stay) in use/, from);
    expect(said).toBe("the new settings are in use");
    expect(server!.printed.slice(from)).toContain("site shop: its old settings stay in use");
    await untilPage(port, "new.test", "blog v1");
  });

  test("at SIGHUP a site is read again although none of its files has changed", { tags: ["deep"] }, async () => {
    writeFileSync(join(folder, "host"), "shop.test");
    write(
      "shop",
      `hosts: [process.getBuiltinModule("node:fs").readFileSync(${JSON.stringify(join(folder, "host"))}, "utf8")]`,
    );
    write("blog");
    const port = await start();
    writeFileSync(join(folder, "host"), "new.test");
    write("blog", 'hosts: ["blog.test", "www.blog.test"]');
    await untilPage(port, "www.blog.test", "blog v1");
    await expectPage(port, "shop", "v1");
    server!.child.kill("SIGHUP");
    await untilPage(port, "new.test", "shop v1");
  });

  test("a page that was purged while its host was another site's does not come back with the host", async () => {
    write("shop");
    write("blog");
    const port = await start("--workers", "1");
    await expectPage(port, "blog", "v1");
    await untilOnDisk(join(folder, "cache"), "blog v1");
    // The site is renamed, purged by its new name, and named as before.
    const hosts = 'hosts: ["blog.test"]';
    remove("blog");
    write("third", hosts);
    await untilPage(port, "blog.test", "third v1");
    publish("blog", "v2");
    const purged = await ask(port, "blog.test", "/_tidemark/purge", tokenOf("third"), { urls: ["/page"] });
    expect(purged.status).toBe(200);
    remove("third");
    write("blog", hosts);
    await untilPage(port, "blog.test", "blog v2");
    expect(server!.printed).toMatch(/counts as a new log, .*sites\/blog\/log: another site had blog\.test meanwhile/);
  });

  test("hands over to a new server with all logs", { tags: ["deep"] }, async () => {
    write("shop");
    write("blog");
    const port = await start();
    await expectPage(port, "shop", "v1");
    await expectPage(port, "blog", "v1");
    expect(await purge(port, "shop")).toMatchObject({ seq: 1 });
    await untilOnDisk(join(folder, "cache"), "blog v1"); // where the new workers look for it
    await server!.upgrade();
    publish("shop", "v2");
    publish("blog", "v2");
    expect(await purge(port, "shop")).toMatchObject({ seq: 2 });
    await expectPage(port, "shop", "v2");
    await expectPage(port, "blog", "v1");
    expect(await purge(port, "blog")).toMatchObject({ seq: 1 });
    await expectPage(port, "blog", "v2");
  });

  test("a damaged log starts again, and no other does", { tags: ["deep"] }, async () => {
    write("shop");
    write("blog");
    const port = await start();
    expect(await purge(port, "shop")).toMatchObject({ seq: 1 });
    expect(await purge(port, "blog")).toMatchObject({ seq: 1 });
    await server!.stop();
    const path = join(folder, "cache", "sites", "shop", "log", "purge-log.sqlite");
    writeFileSync(path, "no database", { flag: "r+" });
    const again = await start();
    expect(server!.printed).toMatch(/the purge log counts as a new log, .*sites\/shop\/log: it was damaged/);
    expect(await purge(again, "shop")).toMatchObject({ seq: 1 });
    expect(await purge(again, "blog")).toMatchObject({ seq: 2 });
  });

  test("sends the clients of each site to its own address with TLS", { tags: ["deep"] }, async () => {
    write("shop", 'hosts: ["shop.test"], publicUrl: "https://www.shop.test", trustedProxies: ["192.0.2.1"]');
    write("blog", 'hosts: ["blog.test"], trustedProxies: ["192.0.2.1"]');
    const port = await start("--redirect-to-https");
    expect(await ask(port, "shop.test")).toMatchObject({
      status: 308,
      fields: { location: "https://www.shop.test/page" },
    });
    expect(await ask(port, "blog.test")).toMatchObject({
      status: 308,
      fields: { location: "https://blog.test/page" },
    });
    expect(await ask(port, "unknown.test")).toMatchObject({ status: 421 });
  });

  test("checks all sites, and refuses to start with a faulty one", { tags: ["deep"] }, async () => {
    write("shop");
    write("blog");
    const check = ["--sites", "sites", "--check"];
    const valid = await refusal(check);
    expect(valid).toMatchObject({ code: 0, printed: expect.stringContaining("site shop: origin http") });
    expect(valid.printed).not.toContain("TIDEMARK_TOKEN");
    writeFileSync(join(folder, "sites", "blog.env"), `TIDEMARK_TOKEN=${tokenOf("shop")}\n`);
    const sameToken = await refusal(check);
    expect(sameToken.printed).toContain("the sites blog, shop have the same TIDEMARK_TOKEN: give each its own.");
    write("blog");
    expect(existsSync(join(folder, "cache"))).toBe(false);
    const wrong = async (words: readonly string[], args = check, environment = {}) => {
      const { code, printed } = await refusal(args, environment);
      expect(code).toBe(2);
      for (const word of words) expect(printed).toContain(word);
    };
    write("third", 'hosts: ["blog.test:443"]');
    await wrong(["the host blog.test is in both blog and third"]);
    write("third", "");
    write("blog", "");
    await wrong(["blog and third both serve the hosts that no site names"], [...check, "--listen", "127.0.0.1:8080"]);
    write("blog");
    await wrong(["site third", "other machines can reach this server"], [...check, "--listen", "*:8080"]);
    write("third", "rutes: []");
    await wrong(["site third", "rutes"]);
    await wrong(["site third", "rutes"], ["--sites", "sites", "--listen", "127.0.0.1:0"]);
    write("third");
    write("third", 'hosts: ["third.test"], trustedProxies: ["10.0.0.1"]');
    write("blog", 'hosts: ["blog.test"], trustedProxies: ["10.0.0.1"]');
    write("shop", 'hosts: ["shop.test"], trustedProxies: ["10.0.0.2"]');
    await wrong(["all sites must have the same trustedProxies"], [...check, "--proxy-protocol"]);
    write("shop");
    writeFileSync(join(folder, "sites", "shop.env"), `TIDEMARK_TOKN=${tokenOf("shop")}\n`);
    await wrong(["shop.env", "TIDEMARK_TOKN is not a variable of a site"]);
    writeFileSync(join(folder, "sites", "shop.env"), "\ufeffTIDEMARK_ORIGIN=nowhere\n");
    await wrong(["site shop", "nowhere"]);
    write("shop");
    writeFileSync(join(folder, "sites", "shp.env"), "");
    await wrong(["shp.env belongs to no site"]);
    unlinkSync(join(folder, "sites", "shp.env"));
    writeFileSync(join(folder, "sites", "Shop.config.ts"), "");
    await wrong(["Shop.config.ts: a site's name must be lower-case letters"]);
    unlinkSync(join(folder, "sites", "Shop.config.ts"));
    const long = join(folder, "sites", `${"long-".repeat(12)}er.config.ts`);
    writeFileSync(
      long,
      readFileSync(join(folder, "sites", "shop.config.ts"), "utf8").replace("shop.test", "long.test"),
    );
    await wrong(["site long-", "is too long for a Unix socket"]);
    unlinkSync(long);
    await wrong(["TIDEMARK_TOKEN in the environment would apply to every site"], check, {
      TIDEMARK_TOKEN: tokenOf("all"),
    });
    await wrong(["--log works with one site only"], [...check, "--log", "postgres://a@b/c"]);
    await wrong(["leave out --config (or TIDEMARK_CONFIG) and --origin"], [...check, "--config", "a.config.ts"]);
    await wrong(["cannot be read from nowhere"], ["--sites", "nowhere", "--check"]);
    mkdirSync(join(folder, "empty"));
    await wrong(["there is no site in empty"], ["--sites", "empty", "--check"]);
    mkdirSync(join(folder, "cache", "sites", "blog", "log", "purge-log.sqlite"), { recursive: true });
    const withoutLog = await refusal(check);
    expect(withoutLog).toMatchObject({
      code: 0,
      printed: expect.stringMatching(/EISDIR.* Until it can be written again/),
    });
  });

  test("has the folder of its cache for itself, also beside a server with one site", { tags: ["deep"] }, async () => {
    write("shop");
    await start();
    const other = await refusal(["--origin", origins.get("blog")!.url, "--listen", "127.0.0.1:0"], {
      TIDEMARK_HOSTS: "*",
    });
    expect(other).toMatchObject({ code: 2, printed: expect.stringContaining("Another tidemark serve is using") });
  });
});
