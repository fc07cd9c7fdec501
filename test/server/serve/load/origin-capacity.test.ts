import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { SiteStats } from "../../../../wire/stats.ts";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { breath, until } from "../../../suite/until.ts";
import { RawClient } from "../../raw-client.ts";
import { ServerProcess } from "../running-server.ts";

const AT_MOST = 4;
const WORKERS = 2;
/** In the queue of each worker. */
const PLACES = 200;
const TOKEN = "a-token-for-a-test-of-a-busy-origin";

describe("an origin that takes four requests at a time", { timeout: 60_000 }, () => {
  /** The origin's own record. */
  let atOrigin = new Set<ServerResponse>();
  let mostAtOnce = 0;
  let asked = 0;
  const origin = createServer((_, response) => {
    asked++;
    atOrigin.add(response);
    mostAtOnce = Math.max(mostAtOnce, atOrigin.size);
    response.on("close", () => atOrigin.delete(response));
  });
  let folder: string;
  let server: ServerProcess;
  let edge: URL;

  beforeEach(() => {
    [atOrigin, mostAtOnce, asked] = [new Set(), 0, 0];
  });
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    await listenLocally(origin);
    const queue = `{ maxMs: 60_000, maxWaiting: ${WORKERS * PLACES} }`;
    const capacity = `{ url: "${localUrl(origin)}", concurrency: ${AT_MOST}, queue: ${queue} }`;
    writeFileSync(join(folder, "tidemark.config.ts"), `export default { origin: ${capacity} };\n`);
    server = new ServerProcess(folder, ["--listen", "127.0.0.1:0", "--workers", String(WORKERS)], {
      TIDEMARK_HOSTS: "*",
      TIDEMARK_TOKEN: TOKEN,
    });
    edge = await server.address();
  });
  afterAll(async () => {
    await server.stop();
    origin.close();
    origin.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  /** The statuses of requests for as many pages, all sent at once; 0 for those whose connection broke. */
  function ask(pages: number, name: string): Promise<number[]> {
    const get = async (page: number) => {
      try {
        const answer = await fetch(new URL(`/${name}-${page}`, edge));
        await answer.arrayBuffer();
        return answer.status;
      } catch {
        return 0;
      }
    };
    return Promise.all(Array.from({ length: pages }, (_, page) => get(page)));
  }

  /** Lets the origin answer what it has, each a moment after it came. */
  async function answerUntil(done: Promise<unknown>): Promise<void> {
    let isDone = false;
    const end = done.then(() => {
      isDone = true;
    });
    while (!isDone) {
      await breath(); // in which one request too many would come
      for (const response of atOrigin) response.end("page");
    }
    await end;
  }

  /** The queue of all workers, for people, programs and monitors. */
  async function expectQueueInStats(waiting: number): Promise<void> {
    const read = (path: string) =>
      fetch(new URL(`/_tidemark/${path}`, edge), { headers: { authorization: `Bearer ${TOKEN}` } });
    const machine = async () => ((await (await read("stats?last=15m")).json()) as SiteStats).machine!;
    let seen = await machine();
    await until(async () => {
      seen = await machine();
      return seen.processes.length === 1 + WORKERS && seen.origin?.waiting === waiting; // a busy worker may be late for a survey
    });
    const { origin: queue, processes, inWords } = seen;
    expect(queue).toMatchObject({ running: AT_MOST, concurrency: AT_MOST, waiting, maxWaiting: WORKERS * PLACES });
    expect(queue!.longestWaitMs).toBeGreaterThan(0);
    expect(inWords.join()).toContain(`${AT_MOST} of ${AT_MOST} requests are at the origin; ${waiting} of `);
    expect(processes.map(({ worker }) => worker?.origin?.maxWaiting)).toEqual([undefined, PLACES, PLACES]);
    const text = await (await read("metrics")).text();
    const sum = (name: string) => {
      const samples = [...text.matchAll(new RegExp(`^tidemark_${name}{process="worker-\\d"} (\\S+)$`, "gm"))];
      expect({ name, samples: samples.length }).toEqual({ name, samples: WORKERS });
      return samples.reduce((all, [, value]) => all + Number(value), 0);
    };
    expect(sum("process_origin_running")).toBe(AT_MOST);
    expect(sum("process_origin_waiting")).toBe(waiting);
    expect(sum("process_origin_waiting_limit")).toBe(WORKERS * PLACES);
    expect(sum("process_origin_longest_wait_seconds")).toBeGreaterThan(0);
    expect(text).toContain(`tidemark_origin_concurrency ${AT_MOST}\n`);
  }

  test("never has more, from all workers together, and has that many while others wait", async () => {
    const answers = ask(40, "page");
    await until(() => atOrigin.size === AT_MOST);
    await expectQueueInStats(40 - AT_MOST);
    await answerUntil(answers);
    expect(await answers).toEqual(Array(40).fill(200));
    expect({ mostAtOnce, asked }).toEqual({ mostAtOnce: AT_MOST, asked: 40 });
  });

  test("is never asked for those whose clients leave the queue, unless others may have the answer", async () => {
    const running = ask(AT_MOST, "running");
    await until(() => atOrigin.size === AT_MOST);
    const send = (line: string, field = "Content-Length: 0") => {
      const client = new RawClient({ host: edge.hostname, port: Number(edge.port) });
      void client.send(`${line} HTTP/1.1\r\nHost: localhost\r\n${field}\r\n\r\n`);
      return client;
    };
    const [reset, closed] = [send("POST /1"), send("POST /2")];
    const halfClosed = [send("POST /3"), send("GET /past-the-cache", 'If-Match: "a"')];
    const reader = send("GET /page-that-may-be-stored", "Accept: */*");
    await expectQueueInStats(5);
    reset.socket.resetAndDestroy();
    closed.destroy();
    for (const { socket } of halfClosed) socket.end();
    reader.destroy();
    await expectQueueInStats(1);
    for (const client of halfClosed)
      expect(await client.until((received) => received.includes("busy"))).toMatch(/^HTTP\/1.1 503 /);
    await answerUntil(running);
    await answerUntil(ask(1, "last"));
    // The page whose reader left may wait in another worker, which gets its permit later.
    await answerUntil(until(() => asked >= AT_MOST + 2));
    expect(asked).toBe(AT_MOST + 2);
  });

  test("gets the next requests when a worker dies that had some there", { tags: ["deep"] }, async () => {
    const lost = ask(8, "lost");
    await until(() => atOrigin.size === AT_MOST);
    const died = [...server.printed.matchAll(/process (\d+)\) accepts/g)].map(([, pid]) => Number(pid));
    const from = server.printed.length;
    for (const pid of died) process.kill(pid, "SIGKILL");
    await server.prints(/process \d+\) accepts/, from);
    await answerUntil(lost); // the next workers have those that no worker had accepted
    expect(await lost).toContain(0);
    const answers = ask(12, "next");
    await until(() => atOrigin.size === AT_MOST);
    await answerUntil(answers);
    expect(await answers).toEqual(Array(12).fill(200));
    expect(mostAtOnce).toBe(AT_MOST);
  });

  test("has no more while a new server takes over from an old one that has requests there", {
    tags: ["deep"],
  }, async () => {
    const old = ask(6, "old");
    await until(() => atOrigin.size === AT_MOST);
    const first = [...atOrigin].slice(0, 2);
    await server.upgrade();
    const next = ask(6, "next");
    for (const response of first) response.end("page");
    await until(() => atOrigin.size === AT_MOST && asked === AT_MOST + 2);
    await answerUntil(Promise.all([old, next]));
    expect([...(await old), ...(await next)]).toEqual(Array(12).fill(200));
    expect({ mostAtOnce, asked }).toEqual({ mostAtOnce: AT_MOST, asked: 12 });
  });
});

test("an origin that is idle is asked by each worker, although nobody may wait for it", {
  timeout: 60_000,
}, async () => {
  const origin = createServer((_, response) => response.end("page"));
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  await listenLocally(origin);
  const capacity = `{ url: "${localUrl(origin)}", concurrency: 1, queue: { maxMs: 0, maxWaiting: 0 } }`;
  writeFileSync(join(folder, "tidemark.config.ts"), `export default { origin: ${capacity} };\n`);
  const server = new ServerProcess(folder, ["--listen", "127.0.0.1:0", "--workers", "2"], {
    TIDEMARK_HOSTS: "*",
    TIDEMARK_TOKEN: TOKEN,
  });
  const edge = await server.address();
  const statuses: number[] = [];
  for (let page = 0; page < 12; page++) {
    const answer = await fetch(new URL(`/page-${page}`, edge), { headers: { connection: "close" } });
    await answer.arrayBuffer();
    statuses.push(answer.status);
  }
  expect(statuses).toEqual(Array(12).fill(200));
  await server.stop();
  origin.close();
  origin.closeAllConnections();
  rmSync(folder, { recursive: true });
});
