import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import { BEGINNING, TOKEN } from "../engine/scenario.ts";

const EXAMPLE = fileURLToPath(new URL("../../docs/examples/purge_cdn_urls.py", import.meta.url));
const PAGE = fileURLToPath(new URL("../../docs/purging.md", import.meta.url));
const VIRTUAL_TIME_WORKER = fileURLToPath(new URL("../../local/runtime/virtual-time.worker.ts", import.meta.url));

const hasPython = spawnSync("python3", ["--version"]).status === 0;
const NOT_RUN = "the Python example is SKIPPED, because this machine has no python3";
if (!hasPython) process.stdout.write(`${NOT_RUN}\n`);

test("the page shows the example as it runs", () => {
  const shown = /<!-- example: purge_cdn_urls\.py -->\n```python\n(.*?)```/s.exec(readFileSync(PAGE, "utf8"))?.[1];
  const [imports, definition] = shown!.split("\n\n\n") as [string, string];
  expect(definition).toMatch(/^def purge_cdn_urls\(urls, refresh=False\):\n/);
  const file = readFileSync(EXAMPLE, "utf8");
  for (const line of [definition, ...imports.split("\n")]) expect(file).toContain(line);
});

test("the page shows the backend for Wagtail as it is, below the text at its top", () => {
  const shown = /<!-- example: wagtail_tidemark\.py -->\n```python\n(.*?)```/s.exec(readFileSync(PAGE, "utf8"))?.[1];
  const file = readFileSync(new URL("../../docs/examples/wagtail_tidemark.py", import.meta.url), "utf8");
  expect(file.replace(/^""".*"""\n\n/, "")).toBe(shown);
});

describe.skipIf(!hasPython)(hasPython ? "the Python example" : NOT_RUN, () => {
  const origin = new ScriptedOrigin(() => BEGINNING);
  let edge: EdgeRuntime;
  let endpoint: string;

  beforeAll(async () => {
    await origin.comeUp();
    const variables = { SITE: { origin: origin.url }, TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN };
    edge = await startEdgeRuntime({ script: await bundleWorker(VIRTUAL_TIME_WORKER), variables }, { port: 0 });
    endpoint = edge.url.origin;
    await fetch(`${endpoint}/_virtual-time?now=${BEGINNING}`);
  });

  afterAll(async () => {
    await edge?.stop();
    await origin.goDown();
  });

  /** A page that changes when it is fetched again. Each test has pages of its own. */
  function publish(path: string): void {
    const fields = { "cache-control": "max-age=3600" };
    origin.reply(path, { fields, body: `old ${path}` }, { fields, body: `new ${path}` });
  }

  async function seen(path: string): Promise<string> {
    const response = await fetch(endpoint + path);
    return `${response.headers.get("x-cache")} ${await response.text()}`;
  }

  /** What Python prints. Rejects with its stderr if it fails. */
  async function python(args: readonly string[], environment: Record<string, string>): Promise<string> {
    const env = { ...process.env, TIDEMARK_ENDPOINT: endpoint, TIDEMARK_TOKEN: TOKEN, no_proxy: "*", ...environment };
    return (await promisify(execFile)("python3", args, { env, cwd: dirname(EXAMPLE) })).stdout;
  }

  /** The lines that the example prints on the command line. */
  async function purgeFromPython(urls: readonly string[], environment: Record<string, string> = {}): Promise<string[]> {
    return (await python([EXAMPLE, ...urls], environment)).trimEnd().split("\n");
  }

  /** Calls its function as an app does. */
  function purgeInView(url: string, environment: Record<string, string> = {}): Promise<string> {
    const call = "import sys; from purge_cdn_urls import purge_cdn_urls; purge_cdn_urls(sys.argv[1:])";
    return python(["-B", "-c", call, url], environment);
  }

  test("purges, fetches anew, and prints each page's x-cache, also of a relative URL", async () => {
    publish("/about");
    publish("/plog/");
    expect([await seen("/about"), await seen("/plog/")]).toEqual(["MISS old /about", "MISS old /plog/"]);
    expect(await purgeFromPython(["/about", `${endpoint}/plog/`])).toEqual([
      `BYPASS 200 ${endpoint}/about`,
      `BYPASS 200 ${endpoint}/plog/`,
    ]);
    expect([origin.countOf("/about"), origin.countOf("/plog/")]).toEqual([2, 2]);
    expect([await seen("/about"), await seen("/plog/")]).toEqual(["HIT new /about", "HIT new /plog/"]);
    expect([origin.countOf("/about"), origin.countOf("/plog/")]).toEqual([2, 2]);
  });

  test("asks the origin for nothing when a view of the origin itself purges", async () => {
    publish("/edited");
    expect(await seen("/edited")).toBe("MISS old /edited");
    expect(await purgeInView("/edited")).toBe("");
    expect(origin.countOf("/edited")).toBe(1);
    expect(await seen("/edited")).toBe("MISS new /edited");
  });

  test("holds such a view up for five seconds at most", { tags: ["deep"], timeout: 30_000 }, async () => {
    await using server = createServer(() => {});
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const purged = purgeInView("/edited", { TIDEMARK_ENDPOINT: `http://127.0.0.1:${port}` });
    await expect(purged).rejects.toThrow(/TimeoutError|timed out/);
    server.closeAllConnections();
  });

  test("sends more than fifty URLs in several calls", { tags: ["deep"] }, async () => {
    const paths = Array.from({ length: 51 }, (_, index) => `/many/${index}`);
    for (const path of paths) origin.reply(path, { body: path });
    expect(await purgeFromPython(paths)).toEqual(paths.map((path) => `BYPASS 200 ${endpoint}${path}`));
    expect(paths.filter((path) => origin.countOf(path) !== 1)).toEqual([]);
  });

  test("says so when the origin is down, and the purge stands", { tags: ["deep"] }, async () => {
    publish("/news");
    expect(await seen("/news")).toBe("MISS old /news");
    await origin.goDown();
    expect(await purgeFromPython(["/news"])).toEqual([
      `the origin cannot be reached, or hung up before it answered. 502 ${endpoint}/news`,
    ]);
    await origin.comeUp();
    expect(await seen("/news")).toBe("MISS new /news");
  });

  test("says what went wrong with a page that was fetched, but not stored", async () => {
    const error = "the page could not be stored here";
    const refreshed = [{ url: "https://www.example.com/a", status: 200, xCache: "BYPASS", error }];
    await using server = createServer((_, response) => response.end(JSON.stringify({ refreshed })));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const printed = await purgeFromPython(["/a"], { TIDEMARK_ENDPOINT: `http://127.0.0.1:${port}` });
    expect(printed).toEqual([`${error} 200 https://www.example.com/a`]);
  });

  test("fails loudly with a wrong token", { tags: ["deep"] }, async () => {
    await expect(purgeFromPython(["/about"], { TIDEMARK_TOKEN: "guess" })).rejects.toThrow(
      /the edge refused \(401\): .*not one of the edge/,
    );
  });
});
