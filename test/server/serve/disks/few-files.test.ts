import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectionLimit, mostConnections, partOfEach } from "../../../../server/startup/connection-limit.ts";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { until } from "../../../suite/until.ts";
import { ServerProcess } from "../running-server.ts";

test.each([
  [null, 16, 1, 20_000, null, null, null],
  [1_048_576, 0, 1, 20_000, 513_265, 256_632, 128_316],
  [29_382, 0, 1, 20_000, 3_668, 1_834, 917],
  [29_381, 0, 1, 19_999, 3_668, 1_834, 917],
  [29_398, 16, 1, 20_000, 3_668, 1_834, 917],
  [5_916, 0, 1, 4_000, 735, 367, 183],
  [5_914, 0, 1, 3_999, 735, 367, 183],
  [1024, 16, 1, 654, 121, 60, 30],
  [1024, 16, 50, 554, 103, 51, 25],
  [300, 16, 1, 160, 31, 15, 7],
  [10, 16, 1, 10, 1, 0, 0],
])(
  "of %j files that a process may open, %i of them handles of sockets, with %i sites, %i are for clients, %j for origins, %j for bodies and %j for pages",
  (openFiles, handles, sites, connections, toOrigins, bodyFiles, pages) => {
    const limit = connectionLimit(openFiles, handles, sites);
    expect(limit).toMatchObject({ connections, toOrigins, bodyFiles, pages });
    expect(limit.warning !== null).toBe(connections < 4_000);
  },
);

test.each([64, 256, 300, 1024, 4096, 65_536])(
  "of %i files, clients leave a quarter, also those that are told that they are too many",
  (openFiles) => {
    const { connections } = connectionLimit(openFiles, 16, 1);
    expect(mostConnections(connections)).toBeLessThanOrEqual(Math.max(openFiles * (3 / 4), 21));
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
  const CONNECTIONS = 160;
  const TO_ORIGIN = 31;
  const origin = createServer((request, response) => {
    if (request.url!.startsWith("/held") && held.push(response) < TO_ORIGIN) return;
    if (request.url!.startsWith("/held")) {
      for (const each of held) if (!each.writableEnded) each.end("held");
      return;
    }
    const cacheControl = request.url!.startsWith("/unstored") ? "no-store" : "max-age=600";
    response.writeHead(200, { "cache-control": cacheControl }).end(`body of ${request.url}`);
  });
  const ASKERS = 12;
  const TOO_MANY = 400;
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
      /each worker accepts at most 160 connections, because a process may open only 300 files here: raise that/,
    );
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

  test("asks the origin on as many connections as there are files for, however many clients come and requests wait", {
    tags: ["deep"],
    timeout: 60_000,
  }, async () => {
    for (const socket of crowd.splice(0)) socket.destroy();
    while (crowd.filter((socket) => !socket.destroyed).length < ASKERS) await visit("/page");
    const askers = crowd.filter((socket) => !socket.destroyed);
    let dropped = 0;
    for (let at = 0; at < TOO_MANY; at++) {
      const socket = connect(Number(address.port), address.hostname);
      crowd.push(socket);
      socket.on("error", () => undefined).on("close", () => dropped++);
    }
    await until(() => dropped >= TOO_MANY + ASKERS - mostConnections(CONNECTIONS));
    let received = "";
    for (const [asker, socket] of askers.entries()) {
      socket.on("data", (piece) => {
        received += piece;
      });
      const get = (at: number) => `GET /held/${asker * 32 + at} HTTP/1.1\r\nHost: ${address.host}\r\n\r\n`;
      socket.write(Array.from({ length: 32 }, (_, at) => get(at)).join(""));
    }
    const answers = () => received.match(/HTTP\/1\.1 \d+/g) ?? [];
    const isRight = (answer: string) => answer.endsWith("200");
    await until(() => answers().length === ASKERS * 32 || !answers().every(isRight));
    expect(answers().filter((answer) => !isRight(answer))).toEqual([]);
    expect(mostOpen).toBe(TO_ORIGIN);
  });
});
