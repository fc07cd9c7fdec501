import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import { exchange } from "../engine/runtime/runtime-engine.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";
import { listenLocally } from "../suite/local-url.ts";

/** The runtime ends the context of a request whose client has left, and with it all code that nothing holds. */
describe("a client that leaves", () => {
  const agent = new Agent({ keepAlive: false });
  const get = (path: string, fields = {}) => exchange(edge.url, agent, { path, fields });
  let script: string;
  let edge: EdgeRuntime;
  let originUrl: string;
  const origin = createServer(answer);
  /** One for each capacity of the origin. Each test has paths of its own there. */
  const edges = new Map<string, EdgeRuntime>();
  /** The requests that the origin has not answered, by their paths, and who waits for one. */
  let open: Map<string, ServerResponse>;
  let awaited: Map<string, () => void>;
  let version: string;

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url!;
    if (request.method === "GET" && !/^\/(open|events)/.test(path)) {
      response.writeHead(200, { "cache-control": path.startsWith("/page") ? "max-age=600" : "no-store" }).end(version);
      return;
    }
    request.resume();
    open.set(path, response);
    awaited.get(path)?.();
  }

  /** The answer that the origin owes to a request, once that has arrived. */
  async function arrived(path: string): Promise<ServerResponse> {
    if (!open.has(path)) await new Promise<void>((resolve) => awaited.set(path, resolve));
    return open.get(path)!;
  }

  function send(path: string, { method = "GET", fields = "" } = {}): Socket {
    const socket = connect(Number(edge.url.port), edge.url.hostname);
    socket.on("error", () => undefined);
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${HOST}\r\n${fields}\r\n`);
    return socket;
  }

  /** The client closes its connection, and the runtime has seen it: it answers later connections afterwards. */
  async function leave(socket: Socket): Promise<void> {
    socket.resetAndDestroy();
    for (let each = 0; each < 3; each++) await get("/_tidemark/health");
  }

  async function atOrigin(): Promise<{ running: number; waiting: number }> {
    const fields = { authorization: `Bearer ${TOKEN}` };
    return JSON.parse((await get("/_tidemark/stats?scope=isolate", fields)).body).atOrigin;
  }

  async function at(capacity?: object): Promise<void> {
    const name = JSON.stringify(capacity ?? {});
    edge = edges.get(name) ?? (await start(capacity));
    edges.set(name, edge);
  }

  async function start(capacity?: object): Promise<EdgeRuntime> {
    // Whoever waits for a place is turned away by no clock here.
    const queue = { maxMs: 60_000 };
    const site = {
      origin: { url: originUrl, ...(capacity && { ...capacity, queue }) },
      hosts: [HOST],
      limits: { requestBodyBytes: "2000B" },
    };
    return startEdgeRuntime({ script, variables: { SITE: site, TIDEMARK_TOKEN: TOKEN } }, { port: 0 });
  }

  beforeAll(async () => {
    script = await bundleWorker("test/runtime/pushing.worker.ts");
    originUrl = await listenLocally(origin);
  });

  beforeEach(() => {
    open = new Map();
    awaited = new Map();
    version = "v1";
  });

  afterAll(async () => {
    for (const each of edges.values()) await each.stop();
    origin.closeAllConnections();
    origin.close();
  });

  test("before the answer to its change does not keep the old page in the cache", async () => {
    await at();
    expect(await get("/page")).toMatchObject({ body: "v1" });
    expect(await get("/page")).toMatchObject({ body: "v1", fields: { "x-cache": "HIT" } });
    const client = send("/page", { method: "POST", fields: "Content-Length: 0\r\n" });
    const changing = await arrived("/page");
    await leave(client);
    version = "v2";
    changing.end("changed");
    await expect.poll(async () => (await get("/page")).body).toBe("v2");
  });

  test("in the middle of the answer to its change does not keep a page in the cache that was fetched meanwhile", async () => {
    await at();
    const client = send("/page-2", { method: "POST", fields: "Content-Length: 0\r\n" });
    const changing = await arrived("/page-2");
    changing.write("changing");
    await once(client, "data");
    const fields = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const request = { method: "POST", path: "/_tidemark/purge", fields, body: '{"tags":["unrelated"]}' };
    await exchange(edge.url, agent, request); // its receipt also brings the view up to the change
    expect(await get("/page-2")).toMatchObject({ body: "v1", fields: { "x-cache": "MISS" } });
    expect(await get("/page-2")).toMatchObject({ body: "v1", fields: { "x-cache": "HIT" } });
    await leave(client);
    version = "v2";
    changing.end("changed");
    await expect.poll(async () => (await get("/page-2")).body).toBe("v2");
  });

  describe("gives back its place at the origin", () => {
    test("if it leaves before the head, with the answer", async () => {
      await at({ concurrency: 1 });
      const client = send("/open");
      const response = await arrived("/open");
      await leave(client);
      expect(await atOrigin()).toMatchObject({ running: 1 });
      response.writeHead(200, { "content-length": 300_000, "cache-control": "no-store" });
      response.end("x".repeat(300_000));
      expect(await get("/next")).toMatchObject({ status: 200 });
    });

    test.each(["no-store", "max-age=60"])("if it leaves in the middle of a body with %s", async (cacheControl) => {
      const path = `/open/${cacheControl}`;
      await at({ concurrency: 1 });
      const client = send(path);
      const response = await arrived(path);
      response.writeHead(200, { "content-length": 300_000, "cache-control": cacheControl });
      response.write("x".repeat(1000));
      await once(client, "data");
      await leave(client);
      response.end("x".repeat(299_000));
      expect(await get("/next")).toMatchObject({ status: 200 });
    });

    test("if it leaves a stream of events, with the next event", async () => {
      await at({ concurrency: 1, streams: 1 });
      const listen = async (path: string) => {
        const client = send(path, { fields: "Accept: text/event-stream\r\n" });
        const response = await arrived(path);
        response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
        response.write("data: a\n\n");
        expect(String((await once(client, "data"))[0])).toContain("200 OK");
        return { client, response };
      };
      const { client, response } = await listen("/events");
      expect(await get("/events-refused", { accept: "text/event-stream" })).toMatchObject({ status: 503 });
      await leave(client);
      response.write("data: b\n\n");
      await once(response, "close");
      await listen("/events-next");
    });

    test("if it leaves the queue", async () => {
      await at({ concurrency: 1 });
      const first = get("/open/queue");
      const response = await arrived("/open/queue");
      const client = send("/waits");
      await expect.poll(atOrigin).toMatchObject({ waiting: 1 });
      await leave(client);
      response.end("ok");
      await first;
      expect(await get("/next")).toMatchObject({ status: 200 });
    });
  });

  describe("in the middle of a body of unknown length does not let the origin take what has come for the whole", () => {
    const CHUNKED = { method: "POST", fields: "Transfer-Encoding: chunked\r\n" };
    const closeOf = (request: IncomingMessage) =>
      new Promise<void>((resolve) => request.on("error", () => undefined).on("close", resolve));
    const CHUNK = `400\r\n${"x".repeat(1024)}\r\n`;

    test.each([
      ["by a reset", (client: Socket) => void client.resetAndDestroy()],
      ["by ending its side", (client: Socket) => void client.end()],
    ])("%s", async (_, end) => {
      await at();
      const client = send("/upload", CHUNKED);
      client.write(CHUNK);
      const { req } = await arrived("/upload");
      const closed = closeOf(req);
      end(client);
      await closed;
      expect(req.complete).toBe(false);
    });

    test("nor does one that sends more than the site takes, who gets 413", async () => {
      await at();
      const client = send("/upload", CHUNKED);
      client.write(CHUNK);
      const { req } = await arrived("/upload");
      const closed = closeOf(req);
      client.write(`${CHUNK}0\r\n\r\n`);
      expect(String((await once(client, "data"))[0])).toContain("413 Payload Too Large");
      await closed;
      expect(req.complete).toBe(false);
    });
  });
});
