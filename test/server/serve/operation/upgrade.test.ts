import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Agent, createServer, type RequestOptions, request, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { byDepth } from "../../../suite/depth.ts";
import { freePort } from "../../../suite/free-ports.ts";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { breath, until } from "../../../suite/until.ts";
import { isAlive } from "../../supervisor/is-alive.ts";
import { OwnPauses } from "../load/own-pauses.ts";
import { ServerProcess } from "../running-server.ts";
import { type Settling, untilOneSettlesAtOnce } from "../settled-purges.ts";

const TOKEN = "a-token-of-this-test-0123456789-0123456789";
const KEPT_CONNECTIONS = byDepth({ test: 2, gate: 2, all: 6 });
const UPGRADES = byDepth({ test: 1, gate: 1, all: 2, explore: 20 });

interface Answer {
  readonly status: number;
  readonly body: string;
}

describe("an upgrade in place", { timeout: 60_000 }, () => {
  let version = 0;
  const origin = createServer(({ url }, response) => {
    if (url === "/held") origin.emit("held", response);
    else response.setHeader("cache-control", "max-age=600").end(`v${version}`);
  });
  let folder: string;
  let server: ServerProcess;
  let port: number;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    await listenLocally(origin);
    port = await freePort();
    const config = `export default { origin: "${localUrl(origin)}" };\n`;
    writeFileSync(join(folder, "tidemark.config.ts"), config);
    const listen = ["--listen", `127.0.0.1:${port}`, "--listen", `unix:${folder}/edge.sock`];
    const files = ["--access-log", join(folder, "access.log"), "--pid-file", pidFile()];
    server = new ServerProcess(folder, [...listen, ...files, "--workers", "2"], {
      TIDEMARK_HOSTS: "*",
      TIDEMARK_TOKEN: TOKEN,
    });
    await server.address();
  });
  afterEach(async () => {
    await server.stop();
    expect([join(folder, "edge.sock"), pidFile()].filter((file) => existsSync(file))).toEqual([]);
    origin.close();
    origin.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  function pidFile(): string {
    return join(folder, "tidemark.pid");
  }

  test("changes the pid file to the process that takes signals from then on", { tags: ["deep"] }, async () => {
    const named = () => Number(readFileSync(pidFile(), "utf8"));
    await until(() => existsSync(pidFile()));
    expect(named()).toBe(server.pid);
    await server.upgrade();
    await until(() => named() === server.pid);
    expect(server.pid).not.toBe(server.child.pid);
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

  async function purge(number: number): Promise<Settling & Record<string, unknown>> {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const what = JSON.stringify({ urls: ["/page"], id: `purge-${number}` });
    const { status, body } = await ask({ method: "POST", path: "/_tidemark/purge", headers, agent: false }, what);
    if (status !== 200) throw new Error(`a purge was answered with ${status}: ${body}`);
    return JSON.parse(body) as Settling & Record<string, unknown>;
  }

  test("fails no request and no purge, and no purged page is served, under load", async () => {
    let isOver = false;
    let purged = 0;
    let answers = 0;
    const pauses = new OwnPauses();
    onTestFinished(() => pauses.stop());
    const visit = async (options: RequestOptions) => {
      while (!isOver) {
        const atLeast = purged;
        const answer = await pauses.orNull(ask(options));
        if (answer === null) continue;
        const { status, body } = answer;
        expect(status).toBe(200);
        expect(Number(body.slice(1))).toBeGreaterThanOrEqual(atLeast);
        answers++;
        await breath();
      }
    };
    const kept = new Agent({ keepAlive: true, maxSockets: 6 });
    const unixKept = new Agent({ keepAlive: true, maxSockets: 2 });
    const socketPath = join(folder, "edge.sock");
    const visitors = [
      ...Array.from({ length: KEPT_CONNECTIONS }, () => visit({ agent: kept })),
      visit({ agent: false }),
      visit({ agent: unixKept, socketPath, headers: { host: "www.example.test" } }),
      visit({ agent: false, socketPath, headers: { host: "www.example.test" } }),
    ];
    const purger = (async () => {
      for (let number = 1; !isOver; number++) {
        version = number;
        const first = await pauses.orNull(purge(number));
        const receipt = first ?? (await purge(number));
        expect(receipt).toMatchObject({ seq: number, ...(first !== null && { replayed: false }) });
        if (receipt.settlesInMs === 0) purged = number;
        await breath();
      }
    })();
    const all = Promise.all([...visitors, purger]);
    const work = (async () => {
      for (let count = 0; count < UPGRADES; count++) {
        const before = { answers, purged };
        await server.upgrade();
        // Each has to see purges settle by confirmations again.
        await until(() => answers >= before.answers + 200 && purged >= before.purged + 5);
      }
      isOver = true;
    })();
    await Promise.all([all, work]);
    kept.destroy();
    unixKept.destroy();
    await until(() => server.child.exitCode !== null); // the first one ends, too
    expect(server.child.exitCode).toBe(0);
  });

  /** Asks a page whose answer the origin holds back: an old worker has to finish it after the upgrade. */
  async function holdAnswer() {
    const answer = ask({ path: "/held", agent: false });
    const [response] = (await once(origin, "held")) as [ServerResponse];
    return { answer, finish: () => response.end("held") };
  }

  test("reopens the log files of old workers that finish their answers, too", { tags: ["deep"] }, async () => {
    const { answer, finish } = await holdAnswer();
    const old = once(server.child, "exit");
    await server.upgrade();
    renameSync(join(folder, "access.log"), join(folder, "access.log.1"));
    server.signal("SIGUSR1");
    await server.prints(/log files were reopened/);
    finish();
    expect(await answer).toEqual({ status: 200, body: "held" });
    await old;
    expect(readFileSync(join(folder, "access.log"), "utf8")).toContain("/held");
    expect(readFileSync(join(folder, "access.log.1"), "utf8")).not.toContain("/held");
  });

  const reloads = async (pid: () => number) => {
    const { answer, finish } = await holdAnswer();
    const old = once(server.child, "exit");
    await server.upgrade();
    renameSync(join(folder, "access.log"), join(folder, "access.log.1"));
    process.kill(pid(), "SIGHUP");
    await server.prints(/new settings are in use/);
    finish();
    expect(await answer).toEqual({ status: 200, body: "held" });
    await old;
    expect(readFileSync(join(folder, "access.log"), "utf8")).toContain("/held");
    expect(readFileSync(join(folder, "access.log.1"), "utf8")).not.toContain("/held");
  };

  test(
    "SIGHUP to the old server loads new settings, and old workers open their log files anew",
    { tags: ["deep"] },
    () => reloads(() => server.child.pid!),
  );

  test("SIGHUP to the new server does so, too", { tags: ["deep"] }, () => reloads(() => server.pid));

  test("lets old workers finish their answers when the new server is stopped, and that one ends after them", {
    tags: ["deep"],
  }, async () => {
    const { answer, finish } = await holdAnswer();
    const old = once(server.child, "exit");
    await server.upgrade();
    server.signal("SIGTERM");
    await server.prints(/tidemark: stopping/);
    await until(async () => (await ask({ agent: false }).catch(() => null)) === null);
    expect(isAlive(server.pid)).toBe(true);
    finish();
    expect(await answer).toEqual({ status: 200, body: "held" });
    expect(await old).toEqual([0, null]);
  });

  test("that cannot start leaves the old server as it was, and says why", { tags: ["deep"] }, async () => {
    await ask({});
    writeFileSync(join(folder, "tidemark.config.ts"), "export default { rutes: [] };\n");
    await server.prints(/the old settings stay in use/);
    server.signal("SIGUSR2");
    await server.prints(/the old server goes on: the new server exited: exit code 2/);
    expect(await ask({})).toMatchObject({ status: 200, body: `v${version}` });
    expect(await purge(1)).toMatchObject({ seq: 1 });
    let number = 1;
    await untilOneSettlesAtOnce(() => purge(++number));
  });
});
