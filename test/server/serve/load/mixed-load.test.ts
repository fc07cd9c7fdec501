import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { Agent, createServer, get } from "node:http";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { byDepth } from "../../../suite/depth.ts";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { ServerProcess } from "../running-server.ts";

const MIB = 1024 * 1024;
const PROBE = new URL("./live-memory.mjs", import.meta.url).href;
const REQUESTS_IN_A_THIRD = byDepth({ test: 450, gate: 450, all: 3_000, explore: 20_000 });
const CONNECTIONS = 20;
/** Three times the memory tier, so that it and the disk tier evict from the first third on. */
const FILES = 500;
const FILE = Buffer.alloc(100_000, "file ");
const PAGE = Buffer.alloc(10_000, "page ");
/** Of the size that lasts, what is alive may differ between two moments: bodies on their way, and what waits for the disk. */
const MAX_GROWTH_BYTES = 8 * MIB;

/*
 * The short form of `npm run bench -- endurance`. The process's size says little within a minute: V8 lets the space
 * of young objects grow to its bound, and malloc keeps what was freed. So this looks at what is alive after a collection.
 */
describe.skipIf(platform() !== "linux")("mixed load on tidemark serve (open files are read from /proc)", () => {
  const origin = createServer((request, response) => {
    const isStorable = !request.url!.startsWith("/uncached");
    const body = request.url!.startsWith("/files") ? FILE : PAGE;
    const cacheControl = isStorable ? "max-age=600" : "no-store";
    response.writeHead(200, { "cache-control": cacheControl, "content-length": body.length }).end(body);
  });
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let folder: string;
  let server: ServerProcess;
  let address: URL;
  let worker: number;

  beforeAll(async () => {
    await listenLocally(origin);
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    const bounds = ["--workers", "1", "--memory", "16MiB", "--disk", "32MiB"];
    const args = ["--origin", localUrl(origin), "--listen", "127.0.0.1:0", ...bounds];
    const environment = { TIDEMARK_HOSTS: "*", NODE_OPTIONS: `--expose-gc --import ${PROBE}` };
    server = new ServerProcess(folder, args, environment);
    address = await server.address();
    worker = Number((await server.prints(/worker-1 \(process (\d+)\) accepts/))[1]);
  }, 60_000);
  afterAll(async () => {
    agent.destroy();
    expect(await server.stop()).toBe(0);
    origin.close();
    rmSync(folder, { recursive: true });
  }, 60_000);

  /** Of twenty requests, twelve for one page, four for files, two for new pages, two for a page that is never stored. */
  function pathOf(number: number): string {
    const turn = number % 20;
    if (turn < 12) return "/page";
    if (turn < 16) return `/files/${(number * 7919) % FILES}`;
    return turn < 18 ? `/new/${number}` : "/uncached";
  }

  async function ask(path: string): Promise<void> {
    const [answer] = await once(get(new URL(path, address), { agent }), "response");
    let bytes = 0;
    for await (const piece of answer) bytes += piece.length;
    expect({ path, status: answer.statusCode, bytes }).toEqual({
      path,
      status: 200,
      bytes: path.startsWith("/files") ? FILE.length : PAGE.length,
    });
  }

  async function askAll(from: number): Promise<void> {
    let next = from;
    const visitor = async () => {
      while (next < from + REQUESTS_IN_A_THIRD) await ask(pathOf(next++));
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, visitor));
  }

  /** What the worker holds, `number` being how often it was asked. */
  async function look(number: number): Promise<{ readonly bytes: number; readonly descriptors: number }> {
    process.kill(worker, "SIGUSR2");
    const [, bytes] = await server.prints(new RegExp(`live memory ${number}: (\\d+) bytes`));
    return { bytes: Number(bytes), descriptors: readdirSync(`/proc/${worker}/fd`).length };
  }

  test("what is alive in a worker does not grow from the second third of the load to the last", async () => {
    await askAll(0);
    await askAll(REQUESTS_IN_A_THIRD);
    const before = await look(1);
    await askAll(2 * REQUESTS_IN_A_THIRD);
    const after = await look(2);
    expect(after.bytes - before.bytes).toBeLessThan(MAX_GROWTH_BYTES);
    expect(after.descriptors - before.descriptors).toBeLessThan(CONNECTIONS);
    expect(before.bytes).toBeGreaterThan(16 * MIB); // the memory tier is full
  }, 300_000);
});
