import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { byDepth, inGate } from "../../../suite/depth.ts";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { until } from "../../../suite/until.ts";
import { ServerProcess } from "../running-server.ts";

const MIB = 1024 * 1024;
const LARGE = Buffer.alloc(20 * MIB, "large ");
const READERS = byDepth({ test: 15, gate: 15, all: 100, explore: 200 });
const IDLE = byDepth({ test: 100, gate: 150, all: 500 });
/** Of others, while the crowd is there, and when it is gone. */
const VISITS = byDepth({ test: 30, gate: 30, all: 100 });
/** What a crowd may add to the memory of a worker. Its pages, if they were held for each reader, take over a gigabyte. */
const MAX_GROWTH_BYTES = 128 * MIB;

describe.skipIf(platform() !== "linux")("a crowd before tidemark serve (memory is read from /proc)", () => {
  const origin = createServer((request, response) => {
    const body = request.url === "/large" ? LARGE : Buffer.from(`body of ${request.url}`);
    response.writeHead(200, { "cache-control": "max-age=600", "content-length": body.length }).end(body);
  });
  let folder: string;
  let server: ServerProcess;
  let address: URL;
  let worker: string;
  const crowd: Socket[] = [];

  beforeAll(async () => {
    await listenLocally(origin);
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    const bounds = ["--workers", "1", "--memory", "32MiB", "--disk", "256MiB"];
    const args = ["--origin", localUrl(origin), "--listen", "127.0.0.1:0", ...bounds];
    server = new ServerProcess(folder, args, { TIDEMARK_HOSTS: "*" });
    address = await server.address();
    worker = (await server.prints(/worker-1 \(process (\d+)\) accepts/))[1]!;
    await ask("/large");
    await until(async () => (await ask("/large", { range: "bytes=0-0" })).xCache === "HIT");
  }, 60_000);
  afterEach(() => {
    for (const socket of crowd.splice(0)) socket.destroy();
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    origin.close();
    rmSync(folder, { recursive: true });
  }, 60_000);

  async function ask(path: string, fields = {}): Promise<{ xCache: string | null; body: string }> {
    const answer = await fetch(new URL(path, address), { headers: { connection: "close", ...fields } });
    return { xCache: answer.headers.get("x-cache"), body: await answer.text() };
  }

  const memoryBytes = () =>
    Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${worker}/status`, "utf8"))![1]) * 1024;
  const descriptors = () => readdirSync(`/proc/${worker}/fd`).length;

  /** Opens connections that each ask for a page. `reads`: whether they read the answer. */
  async function gather(count: number, path: string, reads: boolean): Promise<void> {
    const request = `GET ${path} HTTP/1.1\r\nHost: ${address.host}\r\n\r\n`;
    const here = Array.from({ length: count }, async () => {
      const socket = connect(Number(address.port), address.hostname);
      crowd.push(socket);
      if (!reads) socket.pause();
      socket.write(request);
      await once(socket, reads ? "data" : "connect");
    });
    await Promise.all(here);
  }

  /** Other visitors get what they ask for, and the worker's memory stays within its bound meanwhile. */
  async function visitOften(before: number): Promise<void> {
    for (let number = 0; number < VISITS; number++) {
      expect((await ask(`/small?${number}`)).body).toBe(`body of /small?${number}`);
      expect(memoryBytes() - before).toBeLessThan(MAX_GROWTH_BYTES);
    }
  }

  test.each(
    inGate(1, [
      { name: `${READERS} clients that do not read 20 MiB`, count: READERS, path: "/large", reads: false },
      { name: `${IDLE} idle connections`, count: IDLE, path: "/small", reads: true },
    ]),
  )("$name: others are served, at bounded memory, and nothing is left of them", { timeout: 120_000 }, async (each) => {
    await ask("/small");
    const before = { memory: memoryBytes(), descriptors: descriptors() };
    await gather(each.count, each.path, each.reads);
    await visitOften(before.memory);
    expect(descriptors()).toBeGreaterThan(each.count); // all are connected
    expect(crowd.filter((socket) => socket.destroyed)).toEqual([]);
    for (const socket of crowd) socket.destroy();
    await until(async () => {
      await ask("/small");
      return descriptors() <= before.descriptors + 10;
    });
    await visitOften(before.memory);
  });
});
