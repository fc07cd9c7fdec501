import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, createServer, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { freePort } from "../../../suite/free-ports.ts";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { breath, until } from "../../../suite/until.ts";
import { ServerProcess } from "../running-server.ts";

const CLIENTS = 4;

/** It opens its sockets itself, as in a unit without a socket unit. */
describe("a server whose sockets nobody else holds", { timeout: 60_000 }, () => {
  const origin = createServer((_request, response) => response.setHeader("cache-control", "max-age=600").end("page"));
  let folder: string;
  let server: ServerProcess;
  let port: number;
  const start = async () => {
    const site = ["--origin", localUrl(origin), "--listen", `127.0.0.1:${port}`, "--workers", "2"];
    // As systemd starts a unit with Type=notify, though nobody is told.
    const environment = { TIDEMARK_HOSTS: "*", NOTIFY_SOCKET: join(folder, "nobody") };
    server = new ServerProcess(folder, site, environment);
    await server.prints(/serves/);
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    await listenLocally(origin);
    port = await freePort();
    await start();
  });
  afterEach(async () => {
    await server.stop();
    origin.close();
    origin.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  /** What becomes of requests on new connections, one after the other. */
  function connectAllTheTime() {
    const seen = { answered: 0, failed: [] as string[] };
    let isOver = false;
    const ask = () =>
      new Promise<void>((resolve) => {
        const sent = get({ host: "127.0.0.1", port, path: "/page", agent: new Agent({ keepAlive: false }) }, (got) => {
          if (got.statusCode === 200) seen.answered++;
          else seen.failed.push(String(got.statusCode));
          got.resume().on("close", resolve);
        });
        sent.on("error", ({ code }: NodeJS.ErrnoException) => {
          seen.failed.push(String(code));
          resolve();
        });
      });
    const client = async () => {
      while (!isOver) {
        await ask();
        await breath();
      }
    };
    const clients = Promise.all(Array.from({ length: CLIENTS }, client));
    const end = async () => {
      isOver = true;
      await clients;
      return seen;
    };
    return { seen, end };
  }

  test("refuses no connection when SIGUSR2 starts it again", async () => {
    const { seen, end } = connectAllTheTime();
    await until(() => seen.answered >= 50);
    const first = server.pid;
    await server.upgrade();
    const before = seen.answered;
    await until(() => seen.answered >= before + 50 || seen.failed.length > 0);
    expect(server.pid).not.toBe(first);
    expect((await end()).failed).toEqual([]);
  });

  test("refuses none by ExecReload of the unit that is for it", { tags: ["deep"] }, async () => {
    const unit = readFileSync("docs/examples/server/without-socket.service", "utf8");
    const [, command] = /^ExecReload=(.*)$/m.exec(unit)!;
    const { seen, end } = connectAllTheTime();
    await until(() => seen.answered >= 50);
    await server.upgrade((pid) => {
      const [program, ...args] = command!.replace("$MAINPID", String(pid)).split(" ");
      expect(spawnSync(program!, args).status).toBe(0);
    });
    expect((await end()).failed).toEqual([]);
  });

  test("control: refuses connections when it is stopped and started", { tags: ["deep"] }, async () => {
    const { seen, end } = connectAllTheTime();
    await until(() => seen.answered >= 50);
    await server.stop();
    await until(() => seen.failed.includes("ECONNREFUSED"));
    await start();
    await end();
  });
});
