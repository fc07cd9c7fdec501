import { once } from "node:events";
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { listenLocally } from "../../../suite/local-url.ts";
import { until } from "../../../suite/until.ts";
import { RawClient } from "../../raw-client.ts";
import { ServerProcess } from "../running-server.ts";

/* Who sends or takes a body slowly holds a connection of the edge, and none of the origin's workers. */

const SLOW_CLIENTS = 30;
const LIMIT = 200_000;
/** More than the buffers of two connections take, and less than `readAheadBytes`. */
const LARGE = Buffer.alloc(15 * 1024 * 1024, "large ");

/** What the origin has seen of a request: its head at once, its body when that has ended. */
interface Seen {
  readonly path: string;
  readonly length: string | undefined;
  readonly message: IncomingMessage;
  body: string | null;
}

let folder: string;
let origin: Server;
let seen: Seen[] = [];
/** Whether the origin has got rid of its large answer. */
let sentWhole = false;
let server: ServerProcess;
let port: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  origin = createServer(async (message, response) => {
    const { url, headers } = message;
    if (url!.startsWith("/large-")) {
      if (url !== "/large-answer") response.setHeader("cache-control", "max-age=60");
      if (url === "/large-chunks") response.flushHeaders();
      response.end(LARGE, () => {
        sentWhole = true;
      });
      return;
    }
    const each: Seen = { path: url!, length: headers["content-length"], message, body: null };
    seen.push(each);
    const pieces: Buffer[] = [];
    try {
      for await (const piece of message) pieces.push(piece as Buffer);
    } catch {
      return; // It was cut off.
    }
    each.body = Buffer.concat(pieces).toString();
    response.end(`got ${each.body.length}`);
  });
  const url = await listenLocally(origin);
  const limits = `limits: { heldBodyBytes: ${LIMIT} }, routes: [{ match: "/stream", body: "stream" }]`;
  writeFileSync(join(folder, "tidemark.config.ts"), `export default { origin: "${url}", ${limits} };\n`);
  server = new ServerProcess(folder, ["--listen", "127.0.0.1:0", "--workers", "1"], { TIDEMARK_HOSTS: "*" });
  port = Number((await server.address()).port);
}, 30_000);
afterAll(async () => {
  await server.stop();
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  seen = [];
});

const clientOf = () => new RawClient({ host: "127.0.0.1", port });
const head = (path: string, ...fields: string[]) =>
  `${["POST", path, "HTTP/1.1"].join(" ")}\r\n${["host: a.example", ...fields].join("\r\n")}\r\n\r\n`;
const receives = async (client: RawClient, text: string) =>
  expect(await client.until((received) => received.includes(text))).toContain(text);
const askedFor = (path: string) => seen.filter((each) => each.path === path);

/** The files below the folder for bodies that the worker has open, though they have been deleted. */
function filesWithoutName() {
  const [, pid] = /worker-1 \(process (\d+)\)/.exec(server.printed)!;
  const open = `/proc/${pid}/fd`;
  const isOne = (name: string) => /\/bodies\/[^/]+ \(deleted\)$/.test(readlinkSync(join(open, name)));
  return readdirSync(open)
    .filter(isOne)
    .map((name) => statSync(join(open, name)));
}

async function post(path: string, body: string): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body })).text();
}

describe("bodies of requests", { timeout: 60_000 }, () => {
  test(`of ${SLOW_CLIENTS} clients that have sent one byte each, none is at the origin, which answers others`, async () => {
    const clients = Array.from({ length: SLOW_CLIENTS }, clientOf);
    await Promise.all(clients.map((client) => client.send(`${head("/slow", "content-length: 5")}h`)));
    expect(await post("/quick", "all of it")).toBe("got 9");
    expect(askedFor("/slow")).toHaveLength(0);
    await Promise.all(clients.map((client) => client.send("ello")));
    await Promise.all(clients.map((client) => receives(client, "got 5")));
    expect(askedFor("/slow").map(({ length, body }) => `${length} ${body}`)).toEqual(clients.map(() => "5 hello"));
    for (const client of clients) client.socket.destroy();
  });

  test("that end early are never sent", async () => {
    const client = clientOf();
    await client.send(`${head("/cut", "content-length: 5")}hel`);
    client.socket.destroy();
    await client.closed;
    expect(await post("/after", "x")).toBe("got 1");
    expect(askedFor("/cut")).toHaveLength(0);
  });

  test("in chunks go on with their length, and without trailers", async () => {
    const client = clientOf();
    await client.send(head("/chunks", "transfer-encoding: chunked", "trailer: x-sum"));
    await client.send("3\r\nabc\r\n2\r\nde\r\n0\r\nx-sum: 5\r\n\r\n");
    await receives(client, "got 5");
    const [{ length, message }] = askedFor("/chunks") as [Seen];
    expect({ length, trailers: message.trailers }).toEqual({ length: "5", trailers: {} });
    client.socket.destroy();
  });

  test("that wait for a 100 get it from the edge, before the origin is asked", async () => {
    const client = clientOf();
    await client.send(head("/expect", "content-length: 2", "expect: 100-continue"));
    await receives(client, "HTTP/1.1 100 Continue");
    expect(askedFor("/expect")).toHaveLength(0);
    await client.send("ok");
    await receives(client, "got 2");
    expect(askedFor("/expect")[0]!.message.headers).not.toHaveProperty("expect");
    client.socket.destroy();
  });

  test("that have no place in memory are in files of which no name is left", async () => {
    const client = clientOf();
    await client.send(`${head("/file", `content-length: ${LIMIT}`)}${"x".repeat(LIMIT - 1)}`);
    expect(await post("/quick", "y")).toBe("got 1");
    expect(askedFor("/file")).toHaveLength(0);
    await expect.poll(() => filesWithoutName().map(({ mode }) => mode & 0o777)).toEqual([0o600]);
    await client.send("x");
    await receives(client, `got ${LIMIT}`);
    client.socket.destroy();
  });

  test.each([
    { which: "above the limit", path: "/large", announced: LIMIT + 1 },
    { which: "of a route that streams", path: "/stream", announced: 5 },
  ])("$which are sent as they come", async ({ path, announced }) => {
    const asked = once(origin, "request");
    const client = clientOf();
    await client.send(`${head(path, `content-length: ${announced}`)}h`);
    await asked;
    expect(askedFor(path)).toMatchObject([{ length: String(announced), body: null }]);
    await client.send("x".repeat(announced - 1));
    await receives(client, `got ${announced}`);
    client.socket.destroy();
  });
});

test.each([
  { which: "is not stored", path: "/large-answer" },
  { which: "turns out to be too large to store", path: "/large-chunks" },
  { which: "is written to disk meanwhile", path: "/large-file" },
])(
  "an answer that $which leaves the origin at once, though its client reads nothing yet",
  {
    timeout: 60_000,
  },
  async ({ path }) => {
    sentWhole = false;
    const socket = connect(port, "127.0.0.1");
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a.example\r\nconnection: close\r\n\r\n`);
    await until(() => sentWhole);
    expect(socket.bytesRead).toBe(0);
    let bytes = 0;
    for await (const piece of socket) bytes += (piece as Buffer).byteLength;
    expect(bytes).toBeGreaterThan(LARGE.byteLength);
  },
);
