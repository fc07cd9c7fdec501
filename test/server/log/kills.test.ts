import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LogFile } from "../../../server/log/log-file.ts";
import { chances } from "../../engine/chances.ts";
import { purge } from "../../purges/log/a-purge.ts";
import { byDepth, inGate } from "../../suite/depth.ts";
import { seed } from "../../suite/seed.ts";

const KILLS = byDepth({ test: 3, gate: 3, all: 60, explore: 200 });
const PROGRAM = fileURLToPath(new URL("killed-log.ts", import.meta.url));

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-log-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const OPTIONS = {
  clocks: { now: Date.now, elapsed: () => performance.now() },
  grant: { leaseMs: 1000, longestViewAgeMs: 1000 },
  newId: () => crypto.randomUUID(),
};

/** Runs the program, and kills it when it has printed this many lines. Returns the last number that it has printed. */
async function killedAfter(lines: number): Promise<number> {
  const child = spawn(process.execPath, [PROGRAM, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  let last = 0;
  let printed = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line) || last;
    printed++;
    if (printed === lines) child.kill("SIGKILL");
  }
  const [, signal] = (await exited) as [number | null, string | null];
  expect(signal).toBe("SIGKILL"); // otherwise it has ended by an error, such as a log that was replaced
  return last;
}

test(`${KILLS} kills of the process that writes the log lose no purge, and purge nothing (TEST_SEED=${seed})`, {
  timeout: 60_000 + KILLS * 5_000,
}, async () => {
  const random = chances(seed);
  const replaced: string[] = [];
  let logId: string | null = null;
  let seq = 0;
  for (let kills = 0; kills < KILLS; kills++) {
    const last = await killedAfter(1 + Math.floor(random() * 40));
    const file = new LogFile({
      ...OPTIONS,
      folder,
      onReplaced: (why) => replaced.push(why),
    });
    const head = file.use((log) => log.head);
    file.close();
    logId ??= head.logId;
    expect(head.logId).toBe(logId);
    expect(head.seq).toBeGreaterThanOrEqual(Math.max(seq, last));
    seq = head.seq;
  }
  expect(replaced).toEqual([]);
});

/** Opens the log in a folder, and copies the folder before and after each statement, as a kill at that moment would leave it. */
function copiesWhileOpening(from: string): string[] {
  const copies: string[] = [];
  const copy = () => {
    const to = `${from}-${copies.length}`;
    cpSync(from, to, { recursive: true });
    copies.push(to);
  };
  const open = (path: string) => {
    const database = new DatabaseSync(path);
    for (const method of ["exec", "prepare"] as const) {
      const call = database[method].bind(database) as (text: string) => never;
      database[method] = (text: string) => {
        copy();
        try {
          return call(text);
        } finally {
          copy();
        }
      };
    }
    return database;
  };
  const file = new LogFile({ ...OPTIONS, folder: from, open, onReplaced: (why) => expect.fail(why) });
  copy();
  file.close();
  return copies;
}

test.each(
  inGate(1, [
    ["the first time", () => undefined],
    [
      "for the first time by this version",
      (path: string) => {
        const file = new LogFile({ ...OPTIONS, folder: path, onReplaced: (why) => expect.fail(why) });
        file.use((log) => log.append(purge(["#a"])));
        file.close();
        const database = new DatabaseSync(join(path, "purge-log.sqlite"));
        database.exec("PRAGMA user_version = 0; DROP INDEX state_copy; DROP INDEX repeats_copy");
        database.close();
        rmSync(join(path, "purge-log.head")); // which a crash may have left out
      },
    ],
  ]),
)("a kill while a log is opened %s is no damage", (name, prepare) => {
  const path = join(folder, name.replaceAll(" ", "-"));
  mkdirSync(path);
  prepare(path);
  const copies = copiesWhileOpening(path);
  expect(copies.length).toBeGreaterThan(20);
  for (const copy of copies) {
    const file = new LogFile({ ...OPTIONS, folder: copy, onReplaced: (why) => expect.fail(`${copy}: ${why}`) });
    const { seq } = file.use((log) => log.append(purge(["#b"]))) as { readonly seq: number };
    expect(seq).toBe(name === "the first time" ? 1 : 2);
    file.close();
  }
});
