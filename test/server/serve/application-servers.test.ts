import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { blockWith } from "../../snippets/blocks.ts";
import { freePort } from "../../suite/free-ports.ts";
import { until } from "../../suite/until.ts";
import { MAIN } from "./running-server.ts";

/* What docs/getting-started.md shows of application servers. */
const PAGE = "docs/getting-started.md";

const script = blockWith(PAGE, "gunicorn --daemon");
const [gunicornLine, gunicornCommand, pumaCommand] = /^(gunicorn --daemon .*\S) +# or: (puma .*)$/m.exec(script)!;

const PID_FILE = "gunicorn.pid";
const END = "(the end of the block)";

/**
 * `npx` runs our command, and gunicorn says in a file which process has gone to the background. One worker
 * serves: another one would have to wait for the disk to have the page, and after a second it would ask for it itself.
 */
const NPX = `#!/bin/sh
shift
[ "$1" = serve ] && set -- "$@" --workers 1
exec "${process.execPath}" "${MAIN}" "$@"
`;
const GUNICORN = `#!/bin/sh\nexec "${pathOf("gunicorn")}" --pid ${PID_FILE} "$@"\n`;

const has = (tool: string, flag = "--version") => spawnSync(tool, [flag], { stdio: "ignore" }).status === 0;
const servers = [
  { name: "gunicorn", command: gunicornCommand!, file: "app.py", code: blockWith(PAGE, "def app(") },
  { name: "puma", command: pumaCommand!, file: "config.ru", code: blockWith(PAGE, "run lambda") },
];

let folder: string;
/** Each leads a group of processes. */
let children: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  children = [];
});
afterEach(async () => {
  for (const child of children) {
    const closed = once(child, "close");
    process.kill(-child.pid!, "SIGTERM");
    await closed;
  }
  await endGunicorn(join(folder, PID_FILE));
  rmSync(folder, { recursive: true });
});

function pathOf(tool: string): string {
  return spawnSync("which", [tool], { encoding: "utf8" }).stdout.trim();
}

/** Ends the process in the background, if there is one, and waits until it has deleted its file. */
async function endGunicorn(file: string): Promise<void> {
  if (existsSync(file)) process.kill(Number(readFileSync(file, "utf8")), "SIGTERM");
  await until(() => !existsSync(file));
}

/** What a script prints, whose shell then waits for the processes that it has left behind. */
async function run(text: string): Promise<string> {
  writeFileSync(join(folder, "npx"), NPX, { mode: 0o755 });
  writeFileSync(join(folder, "gunicorn"), GUNICORN, { mode: 0o755 });
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH: `${folder}${delimiter}${PATH}`, NODE_COMPILE_CACHE };
  // `wait` ends at the signal, so that the second one sees the others end.
  const waiting = `${text}\necho "${END}"\ntrap : TERM; wait; wait`;
  const child = spawn("bash", ["-c", waiting], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  children.push(child);
  let printed = "";
  for await (const chunk of child.stdout!.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    printed += chunk;
    if (printed.includes(END)) break;
  }
  return printed.slice(0, printed.indexOf(END));
}

describe("docs/getting-started.md, from the application to the first purge", { timeout: 60_000 }, () => {
  for (const { name, command, file, code } of servers) {
    const isHere = has(name);
    const words = isHere ? `in front of ${name}` : `${name} is SKIPPED, because this machine does not have it`;
    if (!isHere) process.stdout.write(`${words}\n`);
    test.skipIf(!isHere)(words, { tags: name === "puma" ? ["deep"] : [] }, async () => {
      writeFileSync(join(folder, file), code);
      const port = await freePort();
      const printed = await run(script.replace(gunicornLine!, command).replaceAll("8080", String(port)));
      // Until the application listens, too, there may have been other answers.
      expect(printed.match(/^x-cache: .*/gm)?.slice(-2)).toEqual(["x-cache: MISS", "x-cache: HIT"]);
      expect(printed.trimEnd().split("\n").at(-1)).toBe("good evening");
    });
  }
});
