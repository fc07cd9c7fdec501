import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { connect, createServer, Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FrameReader, MAX_FRAME_BYTES, writeFrame } from "../../../server/log/frames.ts";
import { SupervisedLog } from "../../../server/log/log-client.ts";
import { LogFile } from "../../../server/log/log-file.ts";
import { LogKeeper } from "../../../server/log/log-keeper.ts";
import { LogServer } from "../../../server/log/log-server.ts";
import { systemClock } from "../../../server/system-clock.ts";
import type { Clock } from "../../../worker/ports/clock.ts";
import type { ViewDelta } from "../../../worker/purges/log/log-contract.ts";
import { Scheduler } from "../../engine/scheduler.ts";
import { purge } from "../../purges/log/a-purge.ts";
import { deltaOf, toldOf } from "../../purges/view/delta.ts";

let folder: string;
let socketPath: string;
let file: LogFile;
let keeper: LogKeeper;
let server: LogServer;
let broken: string[];
let told: string[];
let clients: SupervisedLog[];
let hasStrangers: boolean;
/** The time in which a purge settles in the logs of other sites. */
let elsewhereMs: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-log-"));
  socketPath = join(folder, "log.sock");
  broken = [];
  told = [];
  clients = [];
  hasStrangers = false;
  elsewhereMs = 0;
  file = openFile();
  await serve();
});

afterEach(async () => {
  for (const client of clients) await client.close();
  await server.close();
  keeper.close();
  rmSync(folder, { recursive: true });
});

function openFile(): LogFile {
  return new LogFile({
    folder,
    clocks: systemClock,
    newId: () => "log",
    grant: { leaseMs: 1000, longestViewAgeMs: 1000 },
    onReplaced: (why) => expect.fail(why),
  });
}

/** `confirmWithinMs`: default, for as long as a slow machine may take. `clock`: on which that passes. */
async function serve(confirmWithinMs = 60_000, clock: Clock = systemClock): Promise<void> {
  const onFailure = (cause: unknown) => expect.fail(String(cause));
  const disk = { onUnwritable: onFailure, onWritable: () => onFailure("it was writable all the time") };
  const waits = { clock, hasStrangers: () => hasStrangers, confirmWithinMs };
  keeper = new LogKeeper({ file, ...waits, onFailure, ...disk });
  server = new LogServer(keeper, keeper.readers, {
    brokenPeer: (cause) => broken.push((cause as Error).message),
    purgesRefused: (cause) => told.push((cause as Error).message),
    purgesTaken: () => told.push("taken"),
    purged: async () => elsewhereMs,
  });
  keeper.readers.expect("one");
  await server.listen(socketPath);
}

/** A worker's side of the log. `confirm`: whether its view reaches what is pushed. */
function client(
  name = "one",
  learned: (delta: ViewDelta) => boolean = () => true,
  clock: Clock = systemClock,
): SupervisedLog {
  const log = new SupervisedLog({ socketPath, name, clock });
  log.learnBy(async (delta) => learned(delta));
  clients.push(log);
  return log;
}

describe("a worker's log", () => {
  test("reads, appends, lists and finds over the socket", async () => {
    const log = client();
    const result = await log.append(purge(["#a", "/ü"], { id: "x", reason: "typo ü" }));
    expect(result).toMatchObject({ kind: "appended", seq: 1, replayed: false });
    const delta = await log.read(null, 1000);
    expect(delta.items).toBeInstanceOf(Uint32Array);
    expect(toldOf(delta, ["#a", "/ü"])).toHaveLength(2);
    expect(await log.append(purge(["#b"], { id: "x" }))).toEqual({ kind: "conflict" });
    expect(await log.find(1)).toMatchObject({ reason: "typo ü", purgeKeys: ["#a", "/ü"] });
    expect(await log.find(2)).toBeNull();
    expect(await log.list(null, 10)).toMatchObject({ purges: [{ seq: 1 }], next: null });
  });

  test("carries the largest purge and the largest reply", async () => {
    const log = client();
    const keys = (batch: number) =>
      Array.from({ length: 10_000 }, (_, index) => `#${batch}:${index}${"x".repeat(200)}`);
    for (const batch of [1, 2]) await log.append(purge(keys(batch)));
    expect((await log.read(null, 1000)).items).toHaveLength(3 * 20_000);
  });

  test("is for the owner's processes alone", () => {
    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  });

  test("answers although connections of others could not be accepted", async () => {
    const { _getActiveHandles } = process as unknown as { _getActiveHandles(): readonly unknown[] };
    const listening = _getActiveHandles
      .call(process)
      .find((each) => each instanceof Server && each.address() === socketPath);
    // As Node tells of it. The system cannot be made to refuse just these.
    for (const code of ["EMFILE", "ENFILE"]) (listening as Server).emit("error", new Error(`accept ${code}`));
    expect((await client().append(purge(["#a"]))).kind).toBe("appended");
  });

  test("takes in pushes, and confirms what its view has reached", async () => {
    const seen: number[] = [];
    const log = client("one", ({ to }) => {
      seen.push(to);
      return true;
    });
    await keeper.readers.admit("one");
    expect(await log.append(purge(["#a"]))).toMatchObject({ settlesInMs: 0 });
    expect(seen).toEqual([0, 1]);
    expect(await log.find(1)).toMatchObject({ settled: true });
  });

  test("does not confirm a purge that its view could not take in, so that it settles by the lease", async () => {
    await server.close();
    const clock = new Scheduler(1, Date.now());
    await serve(250, clock);
    keeper.readers.adopt("one");
    const pushed = Promise.withResolvers<void>();
    const log = client("one", ({ to }) => {
      if (to === 1) pushed.resolve();
      return to === 0;
    });
    await log.list(null, 1); // so it is connected
    const receipt = keeper.append(purge(["#a"]));
    await pushed.promise;
    for (let calls = 0; calls < 3; calls++) await log.list(null, 1); // behind which a confirmation would be
    await clock.advance(250);
    expect(await receipt).toMatchObject({ seq: 1, settlesInMs: 1250, maySettleSooner: true });
    expect(await log.find(1)).toMatchObject({ settled: false });
  });

  test("gives a purge that concerns other sites as well the time in which it settles everywhere", async () => {
    const log = client();
    await keeper.readers.admit("one");
    elsewhereMs = 1250;
    expect(await log.append(purge(["#a"]))).toMatchObject({ seq: 1, settlesInMs: 1250 });
  });

  test("answers a worker of an earlier supervisor, pushes it nothing, and waits for no word of it", async () => {
    const known = client();
    await keeper.readers.admit("one");
    hasStrangers = true;
    const pushed: number[] = [];
    const orphan = client("an orphan", ({ to }) => pushed.push(to) > 0);
    expect(await orphan.append(purge(["#a"]))).toMatchObject({ seq: 1, settlesInMs: 1250, maySettleSooner: false });
    expect(await orphan.read(null, 1000)).toMatchObject({ to: 1 });
    expect(pushed).toEqual([]);
    hasStrangers = false; // it has ended
    expect(await known.append(purge(["#b"]))).toMatchObject({ seq: 2, settlesInMs: 0 });
    expect(broken).toEqual([]);
  });

  test("rejects a call that the log refuses, and goes on", async () => {
    const log = client();
    await expect(log.append(purge(["#a"], { id: "x", content: null as never }))).rejects.toThrow("NOT NULL");
    expect(await log.append(purge(["#a"]))).toMatchObject({ seq: 1 });
  });

  test("that takes no purges says so once, and once when it takes them again, however often it is read", async () => {
    const log = client();
    const other = client();
    for (const each of [log, other, log]) {
      await expect(each.append(purge(["#a"], { id: "x", content: null as never }))).rejects.toThrow("NOT NULL");
      await each.read(null, 1000);
    }
    expect(told).toEqual([expect.stringContaining("NOT NULL")]);
    await log.append(purge(["#a"]));
    await other.append(purge(["#a"]));
    expect(told.slice(1)).toEqual(["taken"]);
  });

  test("rejects while the supervisor cannot be reached, and reconnects by itself", async () => {
    const pushed: (() => void)[] = [];
    const log = client("one", () => {
      pushed.shift()?.();
      return true;
    });
    await log.append(purge(["#a"]));
    await server.close();
    await expect(log.read(null, 1000)).rejects.toThrow("the purge log cannot be reached");
    const again = new Promise<void>((resolve) => pushed.push(resolve));
    await serve();
    await keeper.append(purge(["#b"]));
    await again; // without any call of its own
    expect(await log.read(null, 1000)).toMatchObject({ to: 2 });
  });

  test("tries to reach a supervisor that is gone at once, and then less and less often", async () => {
    const clock = new Scheduler(1, 0);
    let tries = 0;
    const enter = () => {
      if (++tries <= 20) throw new Error("the folder was removed"); // more would go on and on
    };
    const log = new SupervisedLog({ socketPath, name: "one", clock, enter });
    clients.push(log);
    log.learnBy(async () => true);
    await clock.advance(0);
    expect(tries).toBe(2);
    await clock.advance(1_550); // 50, 100, 200, 400, 800
    expect(tries).toBe(7);
    await clock.advance(10_000);
    expect(tries).toBe(17);
  });

  test("rejects the calls under way when the connection is lost", async () => {
    await server.close();
    const silent = createServer((socket) => socket.once("data", () => socket.destroy())).listen(socketPath);
    await once(silent, "listening");
    await expect(client().read(null, 1000)).rejects.toThrow("the purge log cannot be reached");
    silent.close();
  });

  test("rejects a call that is not answered within ten seconds", async () => {
    await server.close();
    const silent = createServer().listen(socketPath);
    await once(silent, "listening");
    const called = new Promise<void>((resolve) =>
      silent.once("connection", (socket: Socket) => {
        const frames = new FrameReader((message) => "call" in message && resolve());
        socket.on("data", (piece: Buffer) => frames.read(piece));
      }),
    );
    const clock = new Scheduler(1, 0);
    let end = "none yet";
    const ended = client("one", () => true, clock)
      .read(null, 1000)
      .catch((cause: Error) => {
        end = cause.message;
      });
    await called;
    await clock.advance(9_999);
    expect(end).toBe("none yet");
    await clock.advance(1);
    await ended;
    expect(end).toBe("the purge log does not answer");
    silent.close();
  });

  test("ends after a reply that is not a frame", async () => {
    await server.close();
    const babbler = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.write(Buffer.alloc(64, 0xff));
    }).listen(socketPath);
    await once(babbler, "listening");
    await expect(client().read(null, 1000)).rejects.toThrow("the purge log cannot be reached");
    babbler.close();
  });

  test("does not keep the log for an answer that is held, and asks the next process for it", async () => {
    await server.close();
    await serve(1); // nobody confirms
    keeper.readers.adopt("one");
    const log = client("one", () => false);
    await log.append(purge(["#a"]));
    const found = log.find(1, 25_000);
    await log.list(null, 1); // so the call before is under way
    await log.hold();
    await server.close();
    keeper.close();
    file = openFile();
    await serve();
    log.resume();
    expect(await found).toMatchObject({ seq: 1 });
  });

  test("rejects calls that are held back when it is closed", async () => {
    const log = client();
    await log.hold();
    const rejected = expect(log.read(null, 1000)).rejects.toThrow("this worker left the purge log");
    await log.close();
    await rejected;
  });

  test("rejects every call once it is closed", async () => {
    const log = client();
    await log.close();
    await expect(log.read(null, 1000)).rejects.toThrow("this worker left the purge log");
  });
});

describe("a broken peer", () => {
  const hello = writeFrame({ hello: "one", position: null });

  async function sent(...pieces: readonly (Buffer | string)[]): Promise<void> {
    const socket: Socket = connect(socketPath);
    socket.on("error", () => undefined);
    for (const piece of pieces) socket.write(piece);
    socket.resume();
    await once(socket, "close");
  }

  test.each<[string, (Buffer | string)[], string]>([
    ["that speaks HTTP", ["GET / HTTP/1.1\r\nhost: a\r\n\r\n"], "a frame of"],
    [
      "that announces more than a frame may have",
      [lead(MAX_FRAME_BYTES, 0)],
      `a frame of ${MAX_FRAME_BYTES + 8} bytes`,
    ],
    ["that announces more than there is", [lead(0xffffffff, 0xffffffff)], "a frame of 8589934598 bytes"],
    ["that sends no JSON", [lead(1, 0), "{"], "JSON"],
    ["that sends JSON that is no message", [lead(4, 0), "null"], "no message"],
    ["that sends half a word", [lead(2, 3), "{}abc"], "a frame with a part of a word"],
    ["without a name", [writeFrame({ number: 1, call: "read", parameters: [] })], "a message before the worker's name"],
    ["with the name of no worker", [writeFrame({ hello: "two", position: null })], "a connection of no worker"],
    ["with two names", [hello, hello], "a connection of no worker"],
    [
      "with a call that there is not",
      [hello, writeFrame({ number: 1, call: "close", parameters: [] })],
      "does not know",
    ],
    ["without parameters", [hello, writeFrame({ number: 1, call: "read" })], "does not know"],
  ])("%s loses its connection, and the others keep theirs", async (_, pieces, because) => {
    await sent(...pieces);
    expect(broken).toEqual([expect.stringContaining(because)]);
    expect(await client().read(null, 1000)).toMatchObject({ to: 0 });
  });

  test("that reads nothing loses its connection", async () => {
    vi.spyOn(keeper, "list").mockResolvedValue({ purges: "x".repeat(MAX_FRAME_BYTES / 2) } as never);
    const gone = new Promise((resolve) => vi.spyOn(keeper.readers, "disconnect").mockImplementation(resolve));
    const socket = connect(socketPath).pause();
    socket.on("error", () => undefined);
    socket.write(hello);
    for (let number = 0; number < 6; number++)
      socket.write(writeFrame({ number, call: "list", parameters: [null, 1] }));
    await gone;
    socket.destroy();
  });

  test("whose parameters make no sense gets an error, and nothing is written", async () => {
    const socket = connect(socketPath);
    const answered = new Promise<unknown>((resolve) => {
      const frames = new FrameReader((message) => "number" in message && resolve(message));
      socket.on("data", (piece) => frames.read(piece as Buffer));
    });
    socket.write(hello);
    socket.write(writeFrame({ number: 7, call: "append", parameters: [{ purgeKeys: 1 }] }));
    expect(await answered).toMatchObject({ number: 7, error: expect.any(String) });
    socket.destroy();
    expect(file.use((log) => log.head.seq)).toBe(0);
  });
});

function lead(textBytes: number, wordBytes: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(textBytes, 0);
  bytes.writeUInt32LE(wordBytes, 4);
  return bytes;
}

describe("a frame", () => {
  const messages = [
    { push: deltaOf(0, 2, [["#a", 2]]) },
    { number: 1, result: { delta: deltaOf(0, 0), kind: "appended" } },
    { hello: "ü", position: null },
  ];

  test.each([1, 3, 7, 1000])("arrives whole in pieces of %i bytes", (size) => {
    const seen: unknown[] = [];
    const frames = new FrameReader((message) => seen.push(message));
    const bytes = Buffer.concat(messages.map(writeFrame));
    for (let at = 0; at < bytes.byteLength; at += size) frames.read(bytes.subarray(at, at + size));
    expect(seen).toEqual(messages);
  });
});
