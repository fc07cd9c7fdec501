import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../../local/cdn/scripted-origin.ts";
import { until } from "../../../suite/until.ts";
import { ServerProcess } from "../running-server.ts";
import { untilOnDisk } from "./pages-on-disk.ts";

const TOKEN = "a-token-of-this-test-0123456789-0123456789";

describe("if somebody removes the folder of a running server", { timeout: 60_000 }, () => {
  const origin = new ScriptedOrigin(() => Date.now());
  const servers: ServerProcess[] = [];
  let folder: string;
  let cache: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    cache = join(folder, "cache");
    await origin.comeUp();
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
    await origin.goDown();
    rmSync(folder, { recursive: true });
  });

  async function start(): Promise<{ server: ServerProcess; edge: URL }> {
    const args = ["--origin", origin.url, "--listen", "127.0.0.1:0", "--workers", "1", "--cache", cache];
    const server = new ServerProcess(folder, args, { TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN });
    servers.push(server);
    return { server, edge: await server.address() };
  }
  /** With several sites, of which each has all pages under its own host. */
  async function startSites(...sites: readonly string[]): Promise<{ server: ServerProcess; edge: URL }> {
    mkdirSync(join(folder, "sites"));
    for (const site of sites) {
      const config = { origin: origin.url, hosts: [`${site}.test`] };
      writeFileSync(join(folder, "sites", `${site}.config.ts`), `export default ${JSON.stringify(config)};`);
      writeFileSync(join(folder, "sites", `${site}.env`), `TIDEMARK_TOKEN=${site}-${TOKEN}`, { mode: 0o600 });
    }
    const args = ["--sites", "sites", "--listen", "127.0.0.1:0", "--workers", "1", "--cache", cache];
    const server = new ServerProcess(folder, args);
    servers.push(server);
    return { server, edge: await server.address() };
  }
  const askSite = async (edge: URL, site: string, path = "/page", purged?: object) => {
    const fields = {
      host: `${site}.test`,
      authorization: `Bearer ${site}-${TOKEN}`,
      "content-type": "application/json",
    };
    const asked = request(new URL(path, edge), { headers: fields, method: purged ? "POST" : "GET", agent: false });
    asked.end(purged && JSON.stringify(purged));
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    return { status: answer.statusCode, body: await text(answer) };
  };
  const publish = (body: string) =>
    origin.reply("/page", { fields: { "cache-control": "max-age=3600", "cache-tag": "all" }, body });
  const ask = async (edge: URL) => {
    // One host, whatever the port is, so that the next server has the same pages.
    const asked = get(new URL("/page", edge), { headers: { host: "www.test" } });
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    return { xCache: answer.headers["x-cache"], body: await text(answer) };
  };
  const purge = async (edge: URL) => {
    const answer = await fetch(new URL("/_tidemark/purge", edge), {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ tags: ["all"] }),
    });
    return answer.status;
  };
  const isLogWritable = async (edge: URL) => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const metrics = await (await fetch(new URL("/_tidemark/metrics", edge), { headers })).text();
    return Number(/^tidemark_log_writable (.)$/m.exec(metrics)?.[1]);
  };
  const linesWith = (server: ServerProcess, words: string) =>
    server.printed.split("\n").filter((line) => line.includes(words));

  test("log: purges are refused, a metric and lines say so, and the next server fetches every page again", async () => {
    publish("v1");
    const { server, edge } = await start();
    await ask(edge);
    await untilOnDisk(cache, "v1");
    expect(await purge(edge)).toBe(200);
    await ask(edge);
    rmSync(join(cache, "log"), { recursive: true });
    publish("v2");
    expect(await isLogWritable(edge)).toBe(0);
    await server.prints(/the counts of requests cannot be stored in .*: .*its file was removed while the server ran/);
    expect([await purge(edge), await purge(edge)]).toEqual([503, 503]);
    expect(await ask(edge)).toEqual({ xCache: "HIT", body: "v1" });
    expect(linesWith(server, "the purge log refuses purges")).toEqual([
      expect.stringContaining("its file was removed while the server ran; restart the server"),
    ]);
    process.kill(Number(/worker-1 \(process (\d+)\)/.exec(server.printed)![1]), "SIGKILL");
    await server.prints(/worker-2 died: Error: \S+ was removed while the server ran; restart it/);
    await server.stop();
    const next = await start();
    expect(await ask(next.edge)).toEqual({ xCache: "MISS", body: "v2" });
    expect(await purge(next.edge)).toBe(200);
  });

  test("log of one of several sites: only its pages get 503 from new workers, until the folder is back", async () => {
    publish("v1");
    const { server, edge } = await startSites("shop", "blog");
    expect(await askSite(edge, "blog")).toEqual({ status: 200, body: "v1" });
    const log = join(cache, "sites/blog/log");
    renameSync(log, join(folder, "log"));
    mkdirSync(log); // as the mount point of a file system that is not mounted
    server.signal("SIGHUP");
    await server.prints(/worker-2: site blog: its purge log is out of reach: \S+ was removed while the server ran/);
    await server.prints(
      /site blog: its purge log does not answer, so the server answers 503 for this site until it does/,
    );
    await server.prints(/the new settings are in use/);
    await server.hasRetired(1);
    const purge = () => askSite(edge, "blog", "/_tidemark/purge", { tags: ["all"] });
    publish("v2");
    expect((await askSite(edge, "shop")).status).toBe(200);
    expect([await askSite(edge, "blog"), await purge()]).toMatchObject([{ status: 503 }, { status: 503 }]);
    expect(readdirSync(log)).toEqual([]);
    rmdirSync(log);
    renameSync(join(folder, "log"), log);
    await until(async () => (await purge()).status === 200);
    expect(await askSite(edge, "blog")).toEqual({ status: 200, body: "v2" });
    expect(server.printed.match(/is out of reach/g)).toHaveLength(1);
  });

  test("pages: a line says that pages are kept in memory, and purges go on", async () => {
    publish("v1");
    const { server, edge } = await start();
    await ask(edge);
    await untilOnDisk(cache, "v1");
    rmSync(join(cache, "pages"), { recursive: true });
    publish("v2");
    expect(await purge(edge)).toBe(200);
    expect((await ask(edge)).body).toBe("v2");
    await server.prints(
      /cannot be used \(ENOENT: its folder is missing; if it was removed, restart the server\). For now, pages are kept only in memory/,
    );
    await until(async () => (await ask(edge)).xCache === "HIT");
    await server.stop();
    publish("v3");
    const next = await start();
    expect(await ask(next.edge)).toEqual({ xCache: "MISS", body: "v3" });
  });
});
