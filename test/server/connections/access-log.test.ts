import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  write,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import {
  AccessLog,
  type AccessLogFormat,
  type AnsweredExchange,
  type WriteCall,
} from "../../../server/connections/access-log.ts";
import { LineReader } from "../../../tools/logs/line-reader.ts";
import { LoggedRequest } from "../../../tools/logs/logged-request.ts";
import type { StreamedBody } from "../../../worker/ports/bodies.ts";
import { type Answering, answer, startTestListener, streamed } from "../http1/running-listener.ts";
import { openFiles } from "../open-files.ts";
import { exchange, RawClient } from "../raw-client.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "access-log-"));
  path = join(folder, "access.log");
});
afterEach(() => rmSync(folder, { recursive: true }));

const site: Answering = ({ request, url }) => {
  if (url.endsWith("/cut")) return answer(streamed(["ab"], 4, true), { "x-cache": "MISS" });
  if (url.endsWith("/stream")) return answer(streamed(["ab", "cd"]), { "x-cache": "MISS" });
  return answer(request.method === "HEAD" ? null : "page", { "x-cache": "HIT" });
};

async function logged(format: AccessLogFormat, usesFastAnswers: boolean, ...requests: string[]): Promise<string[]> {
  const accessLog = new AccessLog(path, format, () => undefined);
  const running = await startTestListener(site, { accessLog, usesFastAnswers });
  for (const request of requests) await exchange(running.where, request);
  await running.stop();
  await accessLog.close();
  return readFileSync(path, "latin1").split("\n").slice(0, -1);
}

const get = (target: string, ...fields: string[]) =>
  [`GET ${target} HTTP/1.1`, "Host: localhost", ...fields, "", ""].join("\r\n");

const TIME = String.raw`\[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\]`;

test.each([true, false])("nginx's combined format, with X-Cache and the time (fast way: %s)", async (fast) => {
  const lines = await logged(
    "combined",
    fast,
    get("/a?b=1", "Referer: http://x/", "User-Agent: agent 1"),
    get("/stream"),
    get("/a").replace("GET", "HEAD"),
  );
  expect(lines).toEqual([
    expect.stringMatching(
      new RegExp(
        String.raw`^127\.0\.0\.1 - - ${TIME} "GET /a\?b=1 HTTP/1\.1" 200 4 "http://x/" "agent 1" HIT \d+\.\d{3}$`,
      ),
    ),
    expect.stringMatching(/"GET \/stream HTTP\/1\.1" 200 4 "-" "-" MISS \d+\.\d{3}$/),
    expect.stringMatching(/"HEAD \/a HTTP\/1\.1" 200 0 "-" "-" HIT \d+\.\d{3}$/),
  ]);
});

test("no request can write a line or end a field in the log", async () => {
  const [line] = await logged("combined", true, get("/a", 'User-Agent: a" 200 \\ caf\xe9\t'));
  expect(line).toContain(String.raw`"a\x22 200 \x5C caf\xE9"`);
});

test.each(["combined", "json"] as const)("`tidemark report` reads the format %s", async (format) => {
  const [line] = await logged(format, true, get("/a?b=1", "User-Agent: agent"));
  const request = new LoggedRequest();
  expect(new LineReader().read(line!, request)).toBe("request");
  expect(Date.now() - request.at).toBeLessThan(60_000);
  const told = { method: "GET", target: "/a?b=1", status: 200, bytes: 4, userAgent: "agent", cacheStatus: "HIT" };
  expect(request).toMatchObject({ ...told, host: format === "json" ? "localhost" : "", client: "127.0.0.1" });
  expect(request.tookMs).toBeGreaterThanOrEqual(0);
});

test.each(["null", "stale", '"unkeyed-field:x-app-version"', '"a \\"quoted\\" word, and; more"'])(
  "JSON has the detail of the edge's Cache-Status: %s",
  async (detail) => {
    const own = detail === "null" ? "tidemark; hit; ttl=5" : `tidemark; fwd=stale; stored; detail=${detail}`;
    const accessLog = new AccessLog(path, "json", () => undefined);
    const running = await startTestListener(() => answer("page", { "cache-status": `Origin; detail=other, ${own}` }), {
      accessLog,
    });
    await exchange(running.where, get("/a"));
    await running.stop();
    await accessLog.close();
    const expected = detail === "null" ? null : detail.replace(/^"|"$/g, "").replaceAll("\\", "");
    expect(JSON.parse(readFileSync(path, "latin1"))).toMatchObject({ detail: expected });
  },
);

test("one object a line in JSON", async () => {
  const lines = await logged("json", true, get("/a", "User-Agent: caf\xe9"), get("/cut"));
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      client: "127.0.0.1",
      method: "GET",
      target: "/a",
      protocol: "HTTP/1.1",
      host: "localhost",
      status: 200,
      bytes: 4,
      referer: null,
      userAgent: "caf\xe9",
      xCache: "HIT",
      detail: null,
      ms: expect.any(Number),
      whole: true,
    },
    expect.objectContaining({ target: "/cut", bytes: 2, whole: false, xCache: "MISS" }),
  ]);
});

describe.each([true, false])("a client that leaves while the origin still works (fast way: %s)", (usesFastAnswers) => {
  /** Asks, leaves in a way, lets the origin answer, and resolves to the line. */
  async function lineOf(request: string, leave: (client: RawClient) => void): Promise<Record<string, unknown>> {
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const accessLog = new AccessLog(path, "json", () => undefined);
    const running = await startTestListener(
      async ({ request: { body }, url }) => {
        if (url.endsWith("/other")) return answer("page");
        asked.resolve();
        if (body !== null) return (await isCutOff(body)) ? answer("cut off", {}, 400) : answer("whole");
        await answered.promise;
        return answer("page", { "x-cache": "MISS" });
      },
      { accessLog, usesFastAnswers },
    );
    const client = new RawClient(running.where);
    await client.send(request);
    await asked.promise;
    leave(client);
    // What has come before these requests has been read when they are answered.
    for (let at = 0; at < 2; at++) await exchange(running.where, get("/other"));
    answered.resolve();
    await client.closed;
    await running.stop();
    await accessLog.close();
    const lines = readFileSync(path, "latin1").trim().split("\n");
    return lines.map((line) => JSON.parse(line)).find(({ target }) => target !== "/other");
  }

  async function isCutOff(body: StreamedBody): Promise<boolean> {
    const reader = nodeBodies.readThrough(body);
    try {
      while ((await reader.next()) !== null);
      return false;
    } catch {
      return true;
    }
  }

  test("with a reset is logged with 499, as in nginx's log", async () => {
    const line = await lineOf(get("/slow"), (client) => client.socket.resetAndDestroy());
    expect(line).toMatchObject({ target: "/slow", status: 499, bytes: 0, whole: false, xCache: "MISS" });
  });

  test("by ending its side is logged with 499, and gets the answer if it still reads", async () => {
    const line = await lineOf(get("/slow"), (client) => client.socket.end());
    expect(line).toMatchObject({ target: "/slow", status: 499, xCache: "MISS" });
  });

  test("in the middle of its body is logged with the 400 that it would have got", async () => {
    const post = `${get("/upload", "Content-Length: 10").replace("GET", "POST")}ab`;
    const line = await lineOf(post, (client) => client.destroy());
    expect(line).toMatchObject({ method: "POST", status: 400 });
  });
});

test("requests that the listener itself refuses are logged too", async () => {
  const lines = await logged("combined", true, "GET /a HTTP/1.1\r\n\r\n");
  expect(lines).toEqual([expect.stringMatching(/"GET \/a HTTP\/1\.1" 400 \d+ "-" "-" - /)]);
});

describe.each([true, false])("what is refused before it is read as a request (fast way: %s)", (fast) => {
  test.each([
    ["a bare LF", "GET /a HTTP/1.1\nHost: localhost\n\n", 400],
    ["a length that is none", get("/a", "Content-Length: 1x"), 400],
    ["a folded line", get("/a", "X-Folded: a", " b"), 400],
    ["a head that is too large", get("/a", `X-Large: ${"a".repeat(70_000)}`), 431],
  ])("is logged with its refusal: %s", async (_, bytes, status) => {
    const [line, ...others] = await logged("combined", fast, bytes);
    expect(line).toMatch(new RegExp(String.raw`^127\.0\.0\.1 - - ${TIME} "-" ${status} [1-9]\d* "-" "-" - 0\.\d{3}$`));
    expect(others).toEqual([]);
    const request = new LoggedRequest();
    expect(new LineReader().read(line!, request)).toBe("request");
    expect(request).toMatchObject({ method: "", target: "", status });
  });

  test("is logged once, behind the request before it", async () => {
    const lines = await logged("json", fast, `${get("/a")}no request\r\n\r\nand no other\r\n\r\n`);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { method: "GET", target: "/a", status: 200 },
      { method: "-", target: "-", protocol: "HTTP/1.1", host: null, status: 400 },
    ]);
  });

  test("is logged as it was read, for a CONNECT", async () => {
    const lines = await logged("combined", fast, "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nUser-Agent: agent\r\n\r\n");
    expect(lines).toEqual([expect.stringMatching(/"CONNECT a:1 HTTP\/1\.1" 501 \d+ "-" "agent" - /)]);
  });
});

test("a head that takes too long is logged, but not a connection on which nothing came", async () => {
  const exchanges: AnsweredExchange[] = [];
  const accessLog = { record: (exchange: AnsweredExchange) => void exchanges.push(exchange) };
  const running = await startTestListener(site, { accessLog });
  const clients = [new RawClient(running.where), new RawClient(running.where)];
  await clients[0]!.send("GET /a HTTP/1.1\r\n");
  while (running.listener.connections < clients.length) await new Promise(setImmediate);
  await exchange(running.where, get("/a")); // what came before it has been read
  for (const laterMs of [0, 60_000]) running.listener.sweep(performance.now() + laterMs);
  for (const client of clients) await client.closed;
  await running.stop();
  expect(exchanges.map(({ method, answer: { status } }) => [method, status])).toEqual([
    ["GET", 200],
    ["-", 408],
  ]);
});

test("a line that comes while the log is being closed is written", async () => {
  const fields = { get: () => null } as never;
  const line = { clientAddress: null, method: "GET", version: "1.1", fields, bodyBytes: 0, tookMs: 0, isWhole: true };
  const record = (target: string) => log.record({ ...line, target, answer: answer(null) });
  let isFirst = true;
  const log = new AccessLog(
    path,
    "combined",
    () => undefined,
    (...call) => {
      if (isFirst) record("/late");
      isFirst = false;
      write(...call);
    },
  );
  record("/first");
  await log.close();
  expect(readFileSync(path, "latin1")).toMatch(/\/first.*\n.*\/late.*\n$/);
  expect(log.dropped).toBe(0);
});

test("a reopened log continues in the new file", async () => {
  const log = new AccessLog(path, "json", () => undefined);
  const running = await startTestListener(site, { accessLog: log });
  await exchange(running.where, get("/before"));
  await log.flush();
  renameSync(path, `${path}.1`);
  expect(await log.reopen()).toBe(true);
  await exchange(running.where, get("/after"));
  await running.stop();
  await log.close();
  expect(readFileSync(`${path}.1`, "latin1")).toContain("/before");
  expect(readFileSync(path, "latin1")).toContain("/after");
});

test.runIf(process.platform === "linux")("a reopened log keeps no room on the disk for the old file", async () => {
  const log = new AccessLog(path, "combined", () => undefined);
  await log.flush();
  renameSync(path, `${path}.1`);
  expect(await log.reopen()).toBe(true);
  const open = openFiles();
  expect(open).toContain(path);
  expect(open).not.toContain(`${path}.1`);
  await log.close();
});

test("if the disk is too slow, lines are lost and counted, and memory stays bounded", () => {
  const log = new AccessLog(path, "json", () => undefined);
  const fields = { get: () => null } as never;
  const line = { clientAddress: null, method: "GET", version: "1.1", fields, bodyBytes: 0, tookMs: 0, isWhole: true };
  // Nothing is written before this test gives way.
  for (let at = 0; at < 20_000; at++) log.record({ ...line, target: `/${"a".repeat(1_000)}`, answer: answer(null) });
  expect(log.dropped).toBeGreaterThan(0);
});

const makePipe = () => expect(spawnSync("mkfifo", [path]).status).toBe(0);
const openReader = () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);

describe("a pipe whose reader is slow", () => {
  const full = Object.assign(new Error("EAGAIN: resource temporarily unavailable, write"), { code: "EAGAIN" });
  const fields = { get: () => null } as never;
  const line = { clientAddress: null, method: "GET", version: "1.1", fields, bodyBytes: 0, tookMs: 0, isWhole: true };
  let room: number;
  let tries: number;
  let written: string;
  /** As the kernel does: all of up to 4096 bytes or nothing, and a part of what is more. */
  const writeWithinRoom: WriteCall = (_file, bytes, from, length, _position, done) => {
    tries++;
    const fits = length <= 4096 && length > room ? 0 : Math.min(room, length);
    room -= fits;
    written += Buffer.from(bytes).toString("latin1", from, from + fits);
    setImmediate(() => (fits === 0 ? done(full, 0) : done(null, fits)));
  };
  const record = async (log: AccessLog, count: number) => {
    for (let at = 0; at < count; at++) {
      log.record({ ...line, target: `/${recorded++}/${"a".repeat(1_000)}`, answer: answer(null) });
      if (at % 10 === 0) await new Promise(setImmediate);
    }
  };
  const pass = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  };
  let recorded = 0;
  let reader: number;

  beforeEach(() => {
    makePipe();
    reader = openReader();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    room = 0;
    tries = 0;
    written = "";
    recorded = 0;
  });
  afterEach(() => {
    vi.useRealTimers();
    closeSync(reader);
  });

  test("is not tried again for each line, and gets all lines in order", { tags: ["deep"] }, async () => {
    const said: string[] = [];
    const log = new AccessLog(path, "combined", (text) => said.push(text), writeWithinRoom);
    await record(log, 1_000);
    expect(tries).toBe(1);
    room = 100_000;
    await pass(2);
    expect(written.length).toBeGreaterThan(95_000);
    expect(written).toMatch(/\n$/);
    const triesUntilFull = tries;
    await record(log, 1_000);
    await pass(1);
    expect(tries).toBe(triesUntilFull);
    room = Number.POSITIVE_INFINITY;
    await pass(1);
    expect(tries).toBeGreaterThan(triesUntilFull);
    await log.close();
    expect(written.match(/(?<=GET \/)\d+/g)).toEqual(Array.from({ length: 2_000 }, (_, at) => String(at)));
    expect(said).toEqual([]);
  });

  /** Closes the log, while the reader makes room every 2 ms. */
  const close = async (log: AccessLog, roomEachTime: number) => {
    let isClosed = false;
    const closed = log.close().then(() => (isClosed = true));
    while (!isClosed) {
      room += roomEachTime;
      await pass(2);
    }
    await closed;
  };

  test("gets all lines at the end if it still reads", async () => {
    const log = new AccessLog(path, "combined", () => undefined, writeWithinRoom);
    await record(log, 200);
    await close(log, 10_000);
    expect(written.match(/(?<=GET \/)\d+/g)).toEqual(Array.from({ length: 200 }, (_, at) => String(at)));
    expect(log.dropped).toBe(0);
  });

  test("gets the rest of a line that is too long for one write before other lines", async () => {
    const log = new AccessLog(path, "combined", () => undefined, writeWithinRoom);
    const targets = ["/first", `/${"a".repeat(20_000)}`, "/last"];
    for (const target of targets) log.record({ ...line, target, answer: answer(null) });
    await close(log, 3_000);
    expect(written.match(/(?<=GET )\S+/g)).toEqual(targets);
  });

  test("and no longer reads has the lines that are lost at the end counted", async () => {
    const log = new AccessLog(path, "combined", () => undefined, writeWithinRoom);
    await record(log, 200);
    await close(log, 0);
    expect(log.dropped).toBe(200);
  });
});

describe("a named pipe", () => {
  const fields = { get: () => null } as never;
  const line = { clientAddress: null, method: "GET", version: "1.1", fields, bodyBytes: 0, tookMs: 0, isWhole: true };
  const record = (log: AccessLog, target: string) => log.record({ ...line, target, answer: answer(null) });
  const readFrom = (reader: number, atMost = 1024 * 1024) => {
    const room = Buffer.alloc(atMost);
    return room.toString("latin1", 0, readSync(reader, room));
  };
  const targetsIn = (text: string) => text.match(/(?<=^unix: - - \[[^\]]+\] "GET )\S+(?= .* 0\.000\n)/gm);

  test("without a reader holds nobody up: lines wait in memory until there is one", async () => {
    const said: string[] = [];
    makePipe();
    const log = new AccessLog(path, "combined", (text) => said.push(text));
    record(log, "/a");
    await log.flush();
    expect(await log.reopen()).toBe(false);
    const first = openReader();
    record(log, "/b");
    await log.flush();
    expect(targetsIn(readFrom(first))).toEqual(["/a", "/b"]);
    closeSync(first);
    expect(await log.reopen()).toBe(false);
    record(log, "/c");
    await log.flush();
    rmSync(path);
    makePipe();
    record(log, "/d");
    await log.flush();
    const second = openReader();
    await log.close();
    expect(targetsIn(readFrom(second))).toEqual(["/c", "/d"]);
    closeSync(second);
    const cannot = (code: string) =>
      expect.stringMatching(`^The access log ${path} cannot be written: ${code}: .* Its lines wait in memory`);
    const again = `The access log ${path} can be written again.`;
    const stays = expect.stringContaining("cannot be reopened, so the server still writes the old file: ENXIO");
    expect(said).toEqual([cannot("ENXIO"), again, stays, cannot("EPIPE"), again]);
  });

  test("whose reader is slow gets all lines in order, and is not written while it is full", async () => {
    let tries = 0;
    const counted: WriteCall = (...args) => {
      tries++;
      write(...args);
    };
    makePipe();
    const reader = openReader();
    const said: string[] = [];
    const log = new AccessLog(path, "combined", (text) => said.push(text), counted);
    const targets = Array.from({ length: 300 }, (_, at) => `/${at}/${"a".repeat(1_000)}`);
    for (const target of targets) record(log, target);
    let text = "";
    let flushes = 0;
    while (text.split("\n").length <= targets.length) {
      await log.flush();
      flushes++;
      text += readFrom(reader);
    }
    expect(targetsIn(text)).toEqual(targets);
    expect(flushes).toBeGreaterThan(1);
    expect(tries).toBeLessThan(targets.length / 2);
    await log.close();
    closeSync(reader);
    expect(said).toEqual([]);
  });

  test("whose reader is slow gets whole lines of two processes", async () => {
    makePipe();
    const reader = openReader();
    const processes = ["one", "other"].map((name) => {
      const log = new AccessLog(path, "combined", () => undefined);
      const targets = Array.from({ length: 200 }, (_, at) => `/${name}/${at}/${"a".repeat(10 * at)}`);
      for (const target of targets) record(log, target);
      return { name, log, targets };
    });
    let text = "";
    while (text.split("\n").length <= 400) {
      // Who found it full comes first when it has room again.
      for (const { log } of processes.reverse()) await log.flush();
      text += readFrom(reader, 10_000);
    }
    for (const { name, log, targets } of processes) {
      expect(targetsIn(text)!.filter((target) => target.startsWith(`/${name}/`))).toEqual(targets);
      await log.close();
    }
    expect(targetsIn(text)).toHaveLength(400);
    closeSync(reader);
  });
});

test("a pipe that is standard output holds nobody up when it is full, and ends with a whole line", () => {
  makePipe();
  const reader = openReader();
  const output = openSync(path, constants.O_WRONLY);
  const program = `
    import { AccessLog } from "./server/connections/access-log.ts";
    const log = new AccessLog("/dev/stdout", "combined", console.error);
    const line = { clientAddress: null, method: "GET", version: "1.1", fields: new Headers(), bodyBytes: 0, tookMs: 0 };
    const target = "/" + "a".repeat(1000);
    for (let at = 0; at < 100; at++) log.record({ ...line, target, answer: { status: 200, fields: line.fields } });
    await log.flush();
    process.exit();`;
  const options = ["--input-type=module", "--eval", program];
  const { status, stderr } = spawnSync(process.execPath, options, {
    stdio: ["ignore", output, "pipe"],
    timeout: 10_000,
  });
  expect([status, stderr.toString()]).toEqual([0, ""]);
  const text = Buffer.alloc(100_000);
  expect(text.toString("latin1", 0, readSync(reader, text))).toMatch(/^(unix: .* 0\.000\n){45,62}$/);
  closeSync(output);
  closeSync(reader);
});

describe("on a disk that is full", () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  let room: number;
  let said: string[];
  /** Writes as long as there is room, and a part of what is too much, as a disk does. */
  const writeWithinRoom: WriteCall = (file, bytes, from, length, position, done) => {
    const fits = Math.min(room, length);
    room -= fits;
    if (fits === 0) done(full, 0);
    else write(file, bytes, from, fits, position, done);
  };
  const open = () => new AccessLog(path, "combined", (line) => said.push(line), writeWithinRoom);
  const line = { clientAddress: null, method: "GET", version: "1.1", bodyBytes: 0, tookMs: 0, isWhole: true } as const;
  const fields = { get: () => null } as never;
  const record = (log: AccessLog, target: string) => log.record({ ...line, fields, target, answer: answer(null) });
  const targets = () =>
    readFileSync(path, "latin1").match(/(?<=^unix: - - \[[^\]]+\] "GET )\S+(?= .* 0\.000$)/gm) ?? [];

  beforeEach(() => {
    room = Number.POSITIVE_INFINITY;
    said = [];
  });

  test("lines wait in memory and are written later, each once and whole, and the log says so once", async () => {
    const log = open();
    record(log, "/a");
    await log.flush();
    room = 120; // a line and a part of the next one
    for (const target of ["/b", "/c", "/d"]) record(log, target);
    for (let again = 0; again < 5; again++) await log.flush();
    record(log, "/e");
    room = Number.POSITIVE_INFINITY;
    await log.flush();
    await log.close();
    expect(targets()).toEqual(["/a", "/b", "/c", "/d", "/e"]);
    // The beginning of "/c" stays, as a line of its own.
    expect(readFileSync(path, "latin1").match(/\n/g)).toHaveLength(6);
    expect(said).toEqual([
      `The access log ${path} cannot be written: ENOSPC: no space left on device, write. Its lines wait in memory.`,
      `The access log ${path} can be written again.`,
    ]);
  });

  test("a process does not continue in a line that another could not finish", async () => {
    const log = open();
    appendFileSync(path, 'unix: - - [01/Jan/2026:00:00:00 +0000] "GET /torn');
    record(log, "/whole");
    await log.close();
    expect(targets()).toEqual(["/whole"]);
  });

  test("a line that another process is writing does not count as torn", async () => {
    const log = open();
    appendFileSync(path, 'unix: - - [01/Jan/2026:00:00:00 +0000] "GET /anothers');
    record(log, "/own");
    const flushed = log.flush();
    appendFileSync(path, ' HTTP/1.1" 200 4\n');
    await flushed;
    await log.close();
    const lines = readFileSync(path, "latin1").split("\n");
    expect(lines).toEqual([expect.stringMatching(/anothers .* 4$/), expect.stringContaining("/own"), ""]);
  });

  test("lines beyond the bound, or unwritten at the end of the process, are counted and reported", async () => {
    const log = open();
    room = 0;
    record(log, "/first");
    await log.flush();
    for (let at = 0; at < 10_000; at++) record(log, `/${"a".repeat(1_000)}`);
    expect(log.dropped).toBeGreaterThan(1_000);
    await log.close();
    expect(log.dropped).toBe(10_001);
    const lost = said.slice(-2).map((text) => /^The access log \S+ lost (\d+) lines, because (.*)\.$/.exec(text)!);
    expect(lost.map(([, , why]) => why)).toEqual([
      "the memory for waiting lines was full",
      "the server stopped before they could be written",
    ]);
    expect(lost.reduce((sum, [, lines]) => sum + Number(lines), 0)).toBe(10_001);
  });
});

test("a log whose file cannot be opened yet keeps its lines until it can", async () => {
  const said: string[] = [];
  rmSync(folder, { recursive: true });
  const log = new AccessLog(path, "json", (line) => said.push(line));
  const fields = { get: () => null } as never;
  const line = { clientAddress: null, method: "GET", version: "1.1", fields, bodyBytes: 0, tookMs: 0, isWhole: true };
  log.record({ ...line, target: "/before", answer: answer(null) });
  await log.flush();
  mkdirSync(folder);
  log.record({ ...line, target: "/after", answer: answer(null) });
  await log.close();
  expect(readFileSync(path, "latin1")).toMatch(/^.*\/before.*\n.*\/after.*\n$/);
  expect(said).toEqual([
    expect.stringMatching(/^The access log \S+ cannot be written: ENOENT.* Its lines wait in memory\.$/),
    `The access log ${path} can be written again.`,
  ]);
});

test("a log whose folder is gone continues in the old file, and says so", async () => {
  const said: string[] = [];
  const log = new AccessLog(path, "json", (line) => said.push(line));
  const running = await startTestListener(site, { accessLog: log });
  renameSync(folder, `${folder}.old`);
  expect(await log.reopen()).toBe(false);
  await exchange(running.where, get("/after"));
  await running.stop();
  await log.close();
  renameSync(`${folder}.old`, folder);
  expect(readFileSync(path, "latin1")).toContain("/after");
  expect(said).toEqual([expect.stringMatching(/cannot be reopened, so the server still writes the old file: ENOENT/)]);
});

test.each([
  [true, "known"],
  [false, "other"],
] as const)(
  "a request that waited for the origin is logged with its class of client and whether it got a turn: %s",
  async (turn, client) => {
    const accessLog = new AccessLog(path, "json", () => undefined);
    const running = await startTestListener(
      async ({ request }) => {
        request.noteTurn?.({ client, waitedMs: 412, hasCome: turn });
        return answer("page", {}, turn ? 200 : 503);
      },
      { accessLog },
    );
    await exchange(running.where, get("/a"));
    await running.stop();
    await accessLog.close();
    expect(JSON.parse(readFileSync(path, "latin1"))).toMatchObject({ queue: { client, ms: 412, turn } });
  },
);
