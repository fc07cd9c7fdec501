import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectionLimit, partOfEach } from "../../../../server/startup/connection-limit.ts";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { exchange } from "../../raw-client.ts";
import { ServerProcess } from "../running-server.ts";

test.each([
  [null, 16, 20_000, null],
  [1_048_576, 0, 20_000, 514_288],
  [26_667, 0, 20_000, 3_333],
  [26_666, 0, 19_999, 3_333],
  [26_683, 16, 20_000, 3_333],
  [5_334, 0, 4_000, 667],
  [5_332, 0, 3_999, 666],
  [1024, 16, 756, 126],
  [300, 16, 213, 35],
  [10, 16, 0, 0],
])(
  "of %j files that a process may open, %i of them handles of sockets, %i are for clients, and %j for origins",
  (openFiles, handles, connections, toOrigins) => {
    expect(connectionLimit(openFiles, handles)).toMatchObject({ connections, toOrigins });
    expect(connectionLimit(openFiles, handles).warning !== null).toBe(connections < 4_000);
  },
);

test.each([
  [37, 1, 37],
  [37, 2, 18],
  [37, 38, 1],
])("of %i connections, to %i origins, each has %i", (toOrigins, origins, each) => {
  expect(partOfEach(toOrigins, origins)).toBe(each);
});

describe.skipIf(platform() !== "linux")("tidemark serve that may open 300 files (which /proc tells)", () => {
  const CONNECTIONS = 213;
  const TO_ORIGIN = 35;
  const origin = createServer((request, response) => {
    if (request.url!.startsWith("/held") && held.push(response) < TO_ORIGIN) return;
    if (request.url!.startsWith("/held")) {
      for (const each of held) if (!each.writableEnded) each.end("held");
      return;
    }
    const cacheControl = request.url!.startsWith("/unstored") ? "no-store" : "max-age=600";
    response.writeHead(200, { "cache-control": cacheControl }).end(`body of ${request.url}`);
  });
  /** Requests that the origin answers once it has as many as connections may be open to it. */
  const held: ServerResponse[] = [];
  let open = 0;
  let mostOpen = 0;
  origin.on("connection", (socket) => {
    mostOpen = Math.max(mostOpen, ++open);
    socket.on("close", () => open--);
  });
  const crowd: Socket[] = [];
  let folder: string;
  let server: ServerProcess;
  let address: URL;

  beforeAll(async () => {
    await listenLocally(origin);
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    const args = ["--origin", localUrl(origin), "--listen", "127.0.0.1:0", "--workers", "1"];
    server = new ServerProcess(folder, args, { TIDEMARK_HOSTS: "*" }, undefined, 300);
    address = await server.address();
  }, 60_000);
  afterAll(async () => {
    for (const socket of crowd) socket.destroy();
    expect(await server.stop()).toBe(0);
    origin.close();
    origin.closeAllConnections();
    rmSync(folder, { recursive: true });
  }, 60_000);

  /** Opens a connection that stays, and asks there. Resolves to the status, and what came with it. */
  async function visit(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const socket = connect(Number(address.port), address.hostname).setEncoding("latin1");
    crowd.push(socket);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${address.host}\r\n\r\n`);
    let text = "";
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.on("close", resolve).on("error", resolve);
    socket.on("data", (piece) => {
      text += piece;
      if (text.includes("body of")) resolve(); // a refused one is closed
    });
    await promise;
    return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text };
  }

  test("says how many connections it takes, and how to have more", async () => {
    await server.prints(
      /each worker accepts at most 213 connections, because a process may open only 300 files here: raise that/,
    );
  });

  test("has no more connections to the origin than leave files for the disk, however many requests wait", {
    tags: ["deep"],
    timeout: 60_000,
  }, async () => {
    const get = (at: number) => `GET /held/${at} HTTP/1.1\r\nHost: ${address.host}\r\n\r\n`;
    const where = { host: address.hostname, port: Number(address.port) };
    const clients = Array.from({ length: 12 }, (_, client) =>
      exchange(where, Array.from({ length: 32 }, (_, at) => get(client * 32 + at)).join("")),
    );
    const received = (await Promise.all(clients)).map((client) => client.received).join("");
    expect(received.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(12 * 32);
    expect(mostOpen).toBe(TO_ORIGIN);
  });

  test("fetches and stores pages while as many clients are connected, and tells the next one why it is not served", async () => {
    expect((await visit("/page")).status).toBe(200);
    while (crowd.length < CONNECTIONS) {
      const path = `/${crowd.length % 2 === 0 ? "unstored" : "page"}/${crowd.length}`;
      expect(await visit(path)).toMatchObject({ status: 200, text: expect.stringContaining(`body of ${path}`) });
    }
    const refused = await visit("/page");
    expect(refused).toMatchObject({ status: 503, text: expect.stringContaining("too many connections") });
    expect(server.printed).not.toContain("cannot be used");
    crowd.shift()!.destroy();
    let again = await visit("/page");
    while (again.status === 503) again = await visit("/page"); // until the server has seen that one has left
    expect(again.status).toBe(200);
  }, 60_000);
});
