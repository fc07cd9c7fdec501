import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../../suite/until.ts";
import { isAlive } from "../../supervisor/is-alive.ts";
import { MAIN } from "../running-server.ts";

let folder: string;
let terminal: ChildProcess;
let server: number | null;
let printed = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  printed = "";
  server = null;
});
afterEach(() => {
  terminal.kill("SIGKILL");
  if (server !== null && isAlive(server)) process.kill(server, "SIGKILL");
  rmSync(folder, { recursive: true });
});

/** Runs `tidemark serve` on a terminal of its own. `redirection`: as in a shell. */
async function serveOnTerminal(redirection = ""): Promise<number> {
  const site = "--origin http://127.0.0.1:1 --listen 127.0.0.1:0 --workers 1 --pid-file pid";
  const command = `exec '${process.execPath}' '${MAIN}' serve ${site} ${redirection}`;
  const { PATH } = process.env;
  const env = { PATH, NO_COLOR: "1", TIDEMARK_HOSTS: "*" };
  terminal = spawn("script", ["-qfc", command, "/dev/null"], { cwd: folder, env, stdio: ["pipe", "pipe", "inherit"] });
  terminal.stdout!.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  await until(() => existsSync(join(folder, "pid")));
  server = Number(readFileSync(join(folder, "pid"), "utf8"));
  return server;
}

/** It makes the terminal. */
const hasScript = platform() === "linux" && spawnSync("script", ["--version"]).status === 0;

test.runIf(hasScript)("a server ends with its terminal, and reloads at any other SIGHUP", async () => {
  const pid = await serveOnTerminal();
  process.kill(pid, "SIGHUP");
  await until(() => printed.includes("the new settings are in use"));
  terminal.kill("SIGKILL");
  await until(() => !isAlive(pid));
});

test.runIf(hasScript)(
  "a server that does not write to its terminal outlives it, and reloads",
  { tags: ["deep"] },
  async () => {
    const pid = await serveOnTerminal("> log 2>&1");
    terminal.kill("SIGKILL");
    await until(() => readFileSync(join(folder, "log"), "utf8").includes("the new settings are in use"));
    expect(isAlive(pid)).toBe(true);
  },
);
