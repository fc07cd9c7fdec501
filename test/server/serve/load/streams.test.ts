import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { onTestFinished, test } from "vitest";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { until } from "../../../suite/until.ts";
import { ServerProcess } from "../running-server.ts";

const SWITCHED = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n";

test("two upgraded connections at a time, from all workers together, and pages beside them", {
  timeout: 60_000,
  tags: ["gate"],
}, async ({ expect }) => {
  /** The origin's own record. */
  let most = 0;
  const open = new Set<Duplex>();
  const origin = createServer((_, response) => response.end("page"));
  origin.on("upgrade", (_, socket) => {
    open.add(socket);
    most = Math.max(most, open.size);
    socket.on("close", () => open.delete(socket)).on("error", () => undefined);
    socket.on("end", () => socket.end());
    socket.write(SWITCHED);
    socket.resume();
  });
  await listenLocally(origin);
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  const capacity = `{ url: "${localUrl(origin)}", concurrency: 1, streams: 2 }`;
  writeFileSync(join(folder, "tidemark.config.ts"), `export default { origin: ${capacity} };\n`);
  const server = new ServerProcess(folder, ["--listen", "127.0.0.1:0", "--workers", "2"], { TIDEMARK_HOSTS: "*" });
  onTestFinished(async () => {
    await server.stop();
    origin.close();
    rmSync(folder, { recursive: true });
    for (const socket of open) socket.destroy();
  });
  const edge = await server.address();

  const clients: Duplex[] = [];
  const upgrade = () =>
    new Promise<number>((resolve, reject) => {
      const request = get(new URL("/socket", edge), { headers: { connection: "Upgrade", upgrade: "websocket" } });
      request.on("upgrade", ({ statusCode }, socket) => {
        clients.push(socket);
        resolve(statusCode!);
      });
      request.on("response", (response) => resolve(response.resume().statusCode!));
      request.on("error", reject);
    });
  expect(await upgrade()).toBe(101);
  expect(await upgrade()).toBe(101);
  expect(await upgrade()).toBe(503);
  expect((await fetch(new URL("/page", edge))).status).toBe(200);
  clients[0]!.end();
  await until(() => open.size === 1);
  expect(await upgrade()).toBe(101);
  expect(most).toBe(2);
  for (const socket of clients) socket.destroy();
});
