import { once } from "node:events";
import { Agent } from "node:http";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import { exchange } from "../engine/runtime/runtime-engine.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";
import { SocketOrigin } from "./socket-origin.ts";

/** Origins that do what no server should. The edge answers with a clear error, stores nothing, and keeps running. */
const script = bundleWorker("local/runtime/virtual-time.worker.ts");
const agent = new Agent({ keepAlive: false });
let edge: EdgeRuntime;
let origin: SocketOrigin;

async function start(
  answer: ConstructorParameters<typeof SocketOrigin>[0],
  site: Partial<SiteInput> = {},
): Promise<void> {
  origin = new SocketOrigin((request, socket) => {
    if (/^GET \/fine[ ?]/.test(request)) socket.write(PAGE);
    else answer(request, socket);
  });
  const variables = { SITE: { origin: await origin.start(), ...site }, TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN };
  edge = await startEdgeRuntime({ script: await script, variables }, { port: 0 });
}

async function stop(): Promise<void> {
  await edge.stop();
  await origin.stop();
}

const PAGE = "HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\ncontent-length: 2\r\n\r\nok";
const get = (path: string, fields = {}) => exchange(edge.url, agent, { path, fields });

describe("an invalid answer is a clear error, and the next page arrives", () => {
  let bytes = "";
  beforeAll(() => start((_, socket) => socket.end(bytes, "latin1")));
  afterAll(stop);

  test.each([
    ["no status", "HTTP/1.1 OK\r\ncontent-length: 2\r\n\r\nok"],
    ["a status of four digits", "HTTP/1.1 2000 OK\r\ncontent-length: 2\r\n\r\nok"],
    ["a status below 100", "HTTP/1.1 099 OK\r\ncontent-length: 2\r\n\r\nok"],
    ["a status above 599", "HTTP/1.1 999 OK\r\ncontent-length: 2\r\n\r\nok"],
    ["a NUL in a field", "HTTP/1.1 200 OK\r\nx-a: b\u0000c\r\ncontent-length: 2\r\n\r\nok"],
    ["a control character in a field", "HTTP/1.1 200 OK\r\nx-a: b\u0001c\r\ncontent-length: 2\r\n\r\nok"],
    ["a length that is no number", "HTTP/1.1 200 OK\r\ncontent-length: two\r\n\r\nok"],
    [
      "300 fields",
      `HTTP/1.1 200 OK\r\n${[...Array(300).keys()].map((n) => `x-${n}: 1\r\n`).join("")}content-length: 2\r\n\r\nok`,
    ],
    ["70 KB of fields", `HTTP/1.1 200 OK\r\nx-a: ${"x".repeat(70_000)}\r\ncontent-length: 2\r\n\r\nok`],
    ["chunks that are none", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnot chunks"],
  ])("%s", async (name, written) => {
    bytes = written;
    const query = `?of=${encodeURIComponent(name)}`;
    const answer = await get(`/a${query}`).catch(() => null);
    if (answer && answer.status !== 200) {
      expect({ status: answer.status, detail: answer.fields["cache-status"] }).toEqual({
        status: 502,
        detail: expect.stringMatching(/^tidemark; detail=origin-(bad-response|unreachable)$/),
      });
    } else expect(answer?.body ?? "").toBe(""); // the head was fine, and the body breaks off
    expect(await get(`/fine${query}`)).toMatchObject({ status: 200, body: "ok", fields: { "x-cache": "MISS" } });
  });
});

describe("bodies", () => {
  afterEach(stop);

  test("a compressed bomb is passed through as it is, and stored as it is", { tags: ["deep"] }, async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    let asked = 0;
    await start((_, socket) => {
      asked++;
      const fields = ["cache-control: max-age=60", "content-encoding: gzip", `content-length: ${bomb.length}`];
      socket.write(Buffer.concat([Buffer.from(["HTTP/1.1 200 OK", ...fields, "", ""].join("\r\n")), bomb]));
    });
    const fields = { "accept-encoding": "gzip" };
    for (const xCache of ["MISS", "HIT"]) {
      const answer = await get("/bomb", fields);
      expect(answer.fields).toMatchObject({ "x-cache": xCache, "content-length": String(bomb.length) });
    }
    expect(asked).toBe(1);
    const stats = JSON.parse((await get("/_tidemark/stats?scope=isolate", { authorization: `Bearer ${TOKEN}` })).body);
    expect(stats.memory.bytes).toBeLessThan(2 * bomb.length);
  });

  test("an endless slow body delays nobody else, and an endless body does not fill the memory", {
    tags: ["deep"],
  }, async () => {
    let sent = 0;
    await start(
      (request, socket) => {
        if (request.startsWith("GET /drip ")) return void socket.write(`${PAGE.replace("length: 2", "length: 9")}`);
        socket.write("HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\ntransfer-encoding: chunked\r\n\r\n");
        const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
        const go = () => {
          while (sent < 64 * 1024 * 1024 && !socket.destroyed) {
            sent += 0x10000;
            if (!socket.write(chunk)) return void socket.once("drain", go);
          }
        };
        go();
      },
      { limits: { storeBytes: "1MiB", fillBytes: "2MiB" } },
    );
    const slow = connect(Number(edge.url.port), edge.url.hostname);
    slow.write(`GET /drip HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    await once(slow, "data");
    const endless = connect(Number(edge.url.port), edge.url.hostname);
    endless.write(`GET /endless HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    await once(endless, "data");
    expect(await get("/fine")).toMatchObject({ status: 200, body: "ok" });
    const stats = JSON.parse((await get("/_tidemark/stats?scope=isolate", { authorization: `Bearer ${TOKEN}` })).body);
    expect(stats.fills.bytes).toBeLessThanOrEqual(2 * 1024 * 1024);
    expect(stats.memory.entries).toBe(1);
    slow.destroy();
    endless.destroy();
    expect(await get("/fine")).toMatchObject({ fields: { "x-cache": "HIT" } });
  });

  test("a download that is aborted leaves no lock and no part behind", { tags: ["deep"] }, async () => {
    let asked = 0;
    await start(
      (_, socket) => {
        asked++;
        if (asked === 1) socket.write(`${PAGE.replace("length: 2", "length: 9")}`);
        else socket.write(PAGE);
      },
      { limits: { followTimeout: "1s" } },
    );
    const gone = connect(Number(edge.url.port), edge.url.hostname);
    gone.write(`GET /a HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    await once(gone, "data");
    gone.destroy();
    expect(await get("/a")).toMatchObject({ status: 200, body: "ok", fields: { "x-cache": "MISS" } });
    expect(await get("/a")).toMatchObject({ body: "ok", fields: { "x-cache": "HIT" } });
  });
});

describe("a visitor who logs in to a connection", () => {
  const loggedIn = new Set<Socket>();
  beforeAll(() =>
    start((request, socket) => {
      const value = /^authorization: (.*)\r$/im.exec(request)?.[1] ?? "nothing";
      if (/^(?:ntlm|negotiate)/i.test(value)) loggedIn.add(socket);
      const page = `${loggedIn.has(socket) ? "one" : "nobody"}, by ${value}`;
      socket.write(`HTTP/1.1 200 OK\r\ncache-control: private\r\ncontent-length: ${page.length}\r\n\r\n${page}`);
    }),
  );
  afterAll(stop);

  test.each(["NTLM TlRMTVNTUAAD", "negotiate YIIB"])(
    "with %s is nobody there, and so is the next one",
    async (value) => {
      expect(await get("/a", { authorization: value })).toMatchObject({ body: "nobody, by nothing" });
      expect(await get("/a")).toMatchObject({ body: "nobody, by nothing" });
    },
  );

  test("does not keep others from sending their credentials", async () => {
    expect(await get("/a", { authorization: "Basic YTpi" })).toMatchObject({ body: "nobody, by Basic YTpi" });
  });
});
