import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { until } from "../../../suite/until.ts";
import { isAlive } from "../../supervisor/is-alive.ts";
import { MAIN, ServerProcess } from "../running-server.ts";

/** Nobody answers there, which a worker says once it is asked for a page. */
const SITE = ["--origin", "http://127.0.0.1:9", "--listen", "127.0.0.1:0", "--workers", "1", "--disk", "0"];
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /;

describe("tidemark serve, for its operator", { timeout: 60_000 }, () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** What it writes to a file, from its start to its end, with a line of a worker. Its processes have names meanwhile. */
  async function linesInFile(journalStream: (file: string) => string): Promise<string[]> {
    const path = join(folder, "log");
    const file = openSync(path, "a");
    const { dev, ino } = fstatSync(file);
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, NODE_COMPILE_CACHE, NO_COLOR: "1", TIDEMARK_HOSTS: "*" };
    const child = spawn(process.execPath, [MAIN, "serve", ...SITE], {
      cwd: folder,
      env: { ...env, JOURNAL_STREAM: journalStream(`${dev}:${ino}`) },
      stdio: ["ignore", "ignore", file],
    });
    closeSync(file);
    const ended = once(child, "close");
    const text = () => readFileSync(path, "utf8");
    await until(() => /listening on/.test(text()));
    const [, address] = /listening on ([\d.:]+)/.exec(text())!;
    await fetch(`http://${address}/page`);
    await until(() => /worker-1: The origin/.test(text()));
    const [, worker] = /worker-1 \(process (\d+)\) accepts/.exec(text())!;
    const shown = (pid: number) => spawnSync("ps", ["-o", "args=", "-p", `${pid}`], { encoding: "utf8" }).stdout.trim();
    expect([shown(child.pid!), shown(Number(worker))]).toEqual(["tidemark supervisor", "tidemark worker-1"]);
    child.kill();
    await ended;
    return text().trimEnd().split("\n");
  }

  test("ends though nobody reads its lines", { tags: ["deep"] }, async () => {
    const fill = "for bytes in 4096 1; do dd if=/dev/zero bs=$bytes count=4096 oflag=nonblock >&2 2>/dev/null; done";
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const child = spawn("sh", ["-c", `${fill}; exec "$@"`, "sh", process.execPath, MAIN, "serve", ...SITE], {
      cwd: folder,
      env: { PATH, NODE_COMPILE_CACHE, NO_COLOR: "1", TIDEMARK_HOSTS: "*" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const exited = once(child, "exit");
    let said = "";
    child.stdout.on("data", (text) => {
      said += text;
    });
    await until(() => /serves/.test(said));
    child.kill();
    expect(await exited).toEqual([0, null]);
    child.stderr.destroy();
  });

  test("names its processes, and writes the time before each line", async () => {
    const from = Date.now();
    const lines = await linesInFile(() => "8:12");
    expect(lines.filter((line) => !TIME.test(line))).toEqual([]);
    const times = lines.map((line) => Date.parse(line.slice(0, line.indexOf(" "))));
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(times[0]).toBeGreaterThanOrEqual(from);
    expect(times.at(-1)).toBeLessThanOrEqual(Date.now());
    expect(lines.map((line) => line.replace(TIME, "").split(":")[0])).toEqual(
      expect.arrayContaining(["tidemark", "worker-1"]),
    );
  });

  test("writes none into the journal of systemd, which has its own", { tags: ["deep"] }, async () => {
    const lines = await linesInFile((file) => file);
    expect(lines.filter((line) => !/^(tidemark|worker-1): /.test(line))).toEqual([]);
  });

  test("goes on with its worker when the reader of its lines has gone, and stops when it is told to", async () => {
    const origin = createServer((request, response) => {
      if (request.url === "/fails") request.socket.destroy();
      else response.end();
    });
    await listenLocally(origin);
    const server = new ServerProcess(folder, [...SITE, "--origin", localUrl(origin)], { TIDEMARK_HOSTS: "*" });
    onTestFinished(async () => {
      await server.stop();
      origin.close();
    });
    const address = await server.address();
    const [, worker] = await server.prints(/worker-1 \(process (\d+)\) accepts/);
    server.child.stdout!.destroy();
    server.child.stderr!.destroy();
    const visit = async (path: string) => (await fetch(new URL(path, address))).status;
    // The worker writes a line at the first, and one at the second; console.error itself bears the first.
    expect([await visit("/fails"), await visit("/works"), await visit("/works")]).toEqual([502, 200, 200]);
    expect(isAlive(Number(worker))).toBe(true);
    expect(await server.stop()).toBe(0);
  });
});
