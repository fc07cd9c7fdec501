import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { FileLock } from "../../../server/log/file-lock.ts";
import type { LogOfSite, ToWorker } from "../../../server/supervisor/process-messages.ts";
import { forkWorker, WORKER_MAIN } from "../../../server/supervisor/worker-ahead.ts";
import { listenLocally } from "../../suite/local-url.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

/** A process for a worker, and what it tells, in order. */
function startProcess({ logs = [], drainMs = 1_000 }: { logs?: readonly LogOfSite[]; drainMs?: number } = {}): {
  child: ChildProcess;
  told: string[];
  until: (kind: string) => Promise<void>;
} {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  const child = forkWorker(WORKER_MAIN, join(import.meta.dirname, "slow-worker.ts"));
  ends.push(() => rmSync(folder, { recursive: true }));
  ends.push(() => child.kill("SIGKILL"));
  const told: string[] = [];
  child.on("message", ({ kind }: { readonly kind: string }) => told.push(kind));
  const start: ToWorker = {
    kind: "start",
    name: "worker-1",
    settings: null,
    logs,
    reader: "worker-1",
    lock: join(folder, "lock"),
    drainMs,
  };
  child.send(start);
  const until = async (kind: string) => {
    while (!told.includes(kind)) await once(child, "message");
  };
  return { child, told, until };
}

/** Sends a worker one handle of a socket, of which it is to have so many. */
async function sendSocket(child: ChildProcess, count: number): Promise<void> {
  const server = createServer();
  const address = await listenLocally(server);
  ends.push(() => server.close());
  child.send({ kind: "socket", address, scheme: "http", count } satisfies ToWorker, server);
}

test("a worker that is told to end while it opens its listener closes it after that, and gives its memory back", async () => {
  const { child, told, until } = startProcess();
  await until("started");
  await sendSocket(child, 1);
  await until("opens");
  child.send({ kind: "drain", withinMs: 1_000 } satisfies ToWorker);
  child.send({ kind: "admitted", site: "" } satisfies ToWorker);
  await once(child, "exit");
  expect(told).toEqual(["started", "opens", "opened", "listening", "drains", "has freed"]);
});

test("one that is told a second time to end has less time for its answers", { tags: ["deep"] }, async () => {
  const { child, told, until } = startProcess();
  await until("started");
  await sendSocket(child, 1);
  await until("opens");
  for (const withinMs of [3_600_000, 1_000]) child.send({ kind: "drain", withinMs } satisfies ToWorker);
  await until("hurries");
  child.send({ kind: "admitted", site: "" } satisfies ToWorker);
  await once(child, "exit");
  expect(told).toContain("drains");
});

test("one that is told to end before it has all handles does not listen", { tags: ["deep"] }, async () => {
  const { child, told, until } = startProcess();
  await until("started");
  await sendSocket(child, 2);
  child.send({ kind: "drain", withinMs: 1_000 } satisfies ToWorker);
  await once(child, "exit");
  expect(told).toEqual(["started", "drains", "has freed"]);
});

test("one that cannot lock the file of a site's log starts, and connects to that log once it holds the lock", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  ends.push(() => rmSync(folder, { recursive: true }));
  const server = createServer();
  server.listen(join(folder, "log.sock"));
  ends.push(() => server.close());
  const isConnected = once(server, "connection") as Promise<[Socket]>;
  const lock = join(folder, "lock");
  const { until } = startProcess({ logs: [{ site: "blog", socket: join(folder, "log.sock"), lock }] });
  await until("started");
  expect(existsSync(lock)).toBe(false); // one that it made would tell the next supervisor nothing
  writeFileSync(lock, "");
  const [socket] = await isConnected;
  ends.push(() => socket.destroy());
  expect(FileLock.take(lock, "exclusive")).toBeNull();
});

test("one whose supervisor dies while the log moves sends the next one the calls that were held back", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  ends.push(() => rmSync(folder, { recursive: true }));
  const server = createServer();
  const socketPath = join(folder, "log.sock");
  server.listen(socketPath);
  ends.push(() => server.close());
  const isConnected = once(server, "connection") as Promise<[Socket]>;
  const lock = join(folder, "lock");
  writeFileSync(lock, "");
  const { child, until } = startProcess({ logs: [{ site: "blog", socket: socketPath, lock }] });
  const [socket] = await isConnected;
  ends.push(() => socket.destroy());
  child.send({ kind: "hold" } satisfies ToWorker);
  await until("held");
  let received = "";
  const isCalled = new Promise<boolean>((resolve) => {
    socket.on("data", (piece) => {
      received += piece;
      if (received.includes("list")) resolve(true);
    });
    socket.on("close", () => resolve(false));
  });
  child.disconnect();
  expect(await isCalled).toBe(true);
});

test("one whose supervisor dies while it opens its listener ends in the time for its answers", async () => {
  const { child, until } = startProcess({ drainMs: 10 });
  await until("started");
  await sendSocket(child, 1);
  await until("opens");
  child.disconnect();
  expect(await once(child, "exit")).toEqual([1, null]);
});

test("one that is told to open its log files anew while it starts does so once it has started", async () => {
  const { child, told, until } = startProcess();
  child.send({ kind: "reopen" } satisfies ToWorker);
  await until("reopened");
  expect(told).toEqual(["started", "reopens", "reopened"]);
});

test("a signal that comes before a worker listens to it opens no debugger in it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  ends.push(() => rmSync(folder, { recursive: true }));
  const main = join(folder, "main.mjs");
  writeFileSync(
    main,
    `import { readFile } from "node:fs/promises";
    import { url } from "node:inspector";
    process.kill(process.pid, "SIGUSR1");
    for (let turn = 0; turn < 500; turn++) await readFile(process.argv[1]);
    process.send(url() ?? "none");`,
  );
  const child = forkWorker(main, "");
  ends.push(() => child.kill("SIGKILL"));
  expect((await once(child, "message"))[0]).toBe("none");
});
