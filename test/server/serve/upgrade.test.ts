import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, createServer, type RequestOptions, request } from "node:http";
import { type AddressInfo, createServer as createSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ServerProcess } from "./running-server.ts";

const TOKEN = "a-token-of-this-test-0123456789-0123456789";
const UPGRADES = 3;

interface Answer {
  readonly status: number;
  readonly body: string;
}

describe("an upgrade in place", { timeout: 60_000 }, () => {
  let version = 0;
  const origin = createServer((_request, response) => {
    response.setHeader("cache-control", "max-age=600").end(`v${version}`);
  });
  let folder: string;
  let server: ServerProcess;
  let port: number;
  /** The supervisor that has the log. */
  let pid: number;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    origin.listen(0, "127.0.0.1");
    await once(origin, "listening");
    const free = createSocket().listen(0, "127.0.0.1");
    await once(free, "listening");
    port = (free.address() as AddressInfo).port;
    free.close();
    await once(free, "close");
    const config = `export default { origin: "http://127.0.0.1:${(origin.address() as AddressInfo).port}" };\n`;
    writeFileSync(join(folder, "tidemark.config.ts"), config);
    const listen = ["--listen", `127.0.0.1:${port}`, "--listen", `unix:${folder}/edge.sock`];
    server = new ServerProcess(folder, [...listen, "--workers", "2"], { TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN });
    pid = server.child.pid!;
    await server.address();
  });
  afterEach(async () => {
    process.kill(pid, "SIGTERM");
    await once(server.child, "close");
    expect(existsSync(join(folder, "edge.sock"))).toBe(false);
    origin.close();
    origin.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  function ask(options: RequestOptions, body = ""): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const where = options.socketPath === undefined ? { host: "127.0.0.1", port } : {};
    const sent = request({ ...where, path: "/page", ...options }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode!, body: text }));
    });
    sent.on("error", reject);
    sent.end(body);
    return promise;
  }

  async function purge(number: number): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const what = JSON.stringify({ urls: ["/page"], id: `purge-${number}` });
    const { status, body } = await ask({ method: "POST", path: "/_tidemark/purge", headers, agent: false }, what);
    if (status !== 200) throw new Error(`a purge was answered with ${status}: ${body}`);
    return JSON.parse(body) as Record<string, unknown>;
  }

  async function upgrade(count: number): Promise<void> {
    process.kill(pid, "SIGUSR2");
    const taken = await server.prints(new RegExp(`(process (\\d+) has taken over[^]*?){${count}}`));
    pid = Number(taken[2]);
    expect(server.printed).not.toContain("the old server goes on");
  }

  test("fails no request and no purge, and no purged page is served, under load", async () => {
    let isOver = false;
    let purged = 0;
    let answers = 0;
    const visit = async (options: RequestOptions) => {
      while (!isOver) {
        const atLeast = purged;
        const { status, body } = await ask(options);
        expect(status).toBe(200);
        expect(Number(body.slice(1))).toBeGreaterThanOrEqual(atLeast);
        answers++;
      }
    };
    const kept = new Agent({ keepAlive: true, maxSockets: 6 });
    const unixKept = new Agent({ keepAlive: true, maxSockets: 2 });
    const socketPath = join(folder, "edge.sock");
    const visitors = [
      ...Array.from({ length: 6 }, () => visit({ agent: kept })),
      ...Array.from({ length: 2 }, () => visit({ agent: false })),
      visit({ agent: unixKept, socketPath, headers: { host: "www.example.test" } }),
      visit({ agent: false, socketPath, headers: { host: "www.example.test" } }),
    ];
    const purger = (async () => {
      for (let number = 1; !isOver; number++) {
        version = number;
        const receipt = await purge(number);
        expect(receipt).toMatchObject({ seq: number, replayed: false });
        if (receipt.settlesInMs === 0) purged = number;
      }
    })();
    const all = Promise.all([...visitors, purger]);
    const work = (async () => {
      for (let count = 1; count <= UPGRADES; count++) {
        const before = { answers, purged };
        await upgrade(count);
        // Each has to see purges settle by confirmations again.
        while (answers < before.answers + 200 || purged < before.purged + 5) {
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
      isOver = true;
    })();
    await Promise.all([all, work]);
    kept.destroy();
    unixKept.destroy();
    expect(server.child.exitCode).toBe(0); // the first one has ended
  });

  test("that cannot start leaves the old server as it was, and says why", async () => {
    await ask({});
    writeFileSync(join(folder, "tidemark.config.ts"), "export default { rutes: [] };\n");
    await server.prints(/the old settings stay in use/);
    process.kill(pid, "SIGUSR2");
    await server.prints(/the old server goes on: the new server ended: exit code 2/);
    expect(await ask({})).toMatchObject({ status: 200, body: `v${version}` });
    expect(await purge(1)).toMatchObject({ seq: 1, settlesInMs: 0 });
  });
});
