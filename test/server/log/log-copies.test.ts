import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { backUpLog, restoreLog } from "../../../server/log/log-copies.ts";
import { LogFile } from "../../../server/log/log-file.ts";
import { LogFolder } from "../../../server/log/log-folder.ts";
import { MachineNote } from "../../../server/postgres/machine-note.ts";
import { purge } from "../../purges/log/a-purge.ts";
import { report } from "../../purges/log/a-report.ts";
import { toldOf } from "../../purges/view/delta.ts";

const NOW = new Date("2026-01-01T12:00:00.000Z");

let root: string;
let folder: string;
let copy: string;
let ids: number;
let files: LogFile[];
let replaced: string[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tidemark-log-"));
  folder = join(root, "log");
  copy = join(root, "copy.sqlite");
  ids = 0;
  files = [];
  replaced = [];
  LogFolder.own(folder, "one").release();
});

afterEach(() => {
  for (const file of files) file.close();
  rmSync(root, { recursive: true });
});

function open(openDatabase = (path: string) => new DatabaseSync(path)): LogFile {
  const file = new LogFile({
    folder,
    open: openDatabase,
    clocks: { now: () => NOW.getTime(), elapsed: () => 0 },
    newId: () => `log-${++ids}`,
    grant: { leaseMs: 1000, longestViewAgeMs: 1000 },
    onReplaced: (why) => replaced.push(why),
  });
  files.push(file);
  return file;
}

function append(file: LogFile, key: string, id: string | null = null) {
  const result = file.use((log) => log.append(purge([key], { id })));
  file.noteHead();
  if (result.kind === "conflict") throw new Error("no conflict here");
  return result;
}

function close(file: LogFile): void {
  file.close();
  files = files.filter((one) => one !== file);
}

describe("a copy of the log", () => {
  test("is made while the log is written, holds everything up to its moment, and is for its owner alone", () => {
    const file = open();
    append(file, "#a");
    append(file, "#b");
    expect(backUpLog(folder, copy)).toMatchObject({ seq: 2 });
    append(file, "#c");
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(readdirSync(root).toSorted()).toEqual(["copy.sqlite", "log"]); // one file, and nothing beside it
    close(file);
    restoreLog(copy, folder, NOW);
    const restored = open();
    const delta = restored.use((log) => log.read(null, 1000));
    expect({ to: delta.to, told: toldOf(delta, ["#a", "#b", "#c"]) }).toEqual({
      to: 2,
      told: [
        ["#b", 2],
        ["#a", 1],
      ],
    });
  });

  test("has the counts, but its totals begin at 0 when it is restored: monitors know that of counters", () => {
    const file = open();
    const count = (into: LogFile, number: number) =>
      into.useWithoutSync((_, ledger) => ledger.take(report({ number })));
    const counted = (within: LogFile, lastMs: number | null) =>
      within.use((_, ledger) => ledger.read(lastMs, null).counts.requests ?? 0);
    count(file, 1);
    count(file, 2);
    backUpLog(folder, copy);
    count(file, 3);
    expect(counted(file, null)).toBe(30);
    close(file);
    restoreLog(copy, folder, NOW);
    const restored = open();
    expect([counted(restored, 3_600_000), counted(restored, null)]).toEqual([20, 0]);
    count(restored, 4);
    expect([counted(restored, 3_600_000), counted(restored, null)]).toEqual([30, 10]);
  });

  test("holds what was there at one moment although purges come, and the write-ahead log begins anew, meanwhile", () => {
    const database = new DatabaseSync(join(folder, "purge-log.sqlite"));
    const file = open(() => database);
    append(file, "#a");
    let copies = 0;
    const purgeMeanwhile: typeof copyFileSync = (from, to) => {
      file.use((log) => log.append(purge(Array.from({ length: 2000 }, (_, index) => `#${copies}-${index}`))));
      copyFileSync(from, to);
      // The first time, the file gets what its copy lacks, and the write-ahead log no longer has it.
      if (copies++ === 0) database.exec("PRAGMA wal_checkpoint");
      append(file, `#last-${copies}`);
    };
    expect(backUpLog(folder, copy, purgeMeanwhile)).toMatchObject({ seq: 5 });
    close(file);
    restoreLog(copy, folder, NOW);
    const delta = open().use((log) => log.read(null, 1000));
    expect(toldOf(delta, ["#0-0", "#last-1", "#1-0", "#last-2"])).toHaveLength(4);
  });

  test("is refused where the write-ahead log begins anew again and again, and nothing is left of it", () => {
    const file = open((path) => {
      const database = new DatabaseSync(path);
      database.exec("PRAGMA wal_autocheckpoint=1"); // with each purge
      return database;
    });
    const purgeMeanwhile: typeof copyFileSync = (from, to) => {
      copyFileSync(from, to);
      append(file, "#a");
    };
    expect(() => backUpLog(folder, copy, purgeMeanwhile)).toThrow("changes too fast to be copied");
    expect(readdirSync(root)).toEqual(["log"]);
  });

  test("is not restored into the folder of a machine that shares its log, which would then fit neither", () => {
    const file = open();
    append(file, "#a");
    backUpLog(folder, copy);
    close(file);
    const machine = join(root, "machine");
    mkdirSync(machine);
    new MachineNote(machine, () => "web-1");
    const before = readdirSync(machine);
    expect(() => restoreLog(copy, machine, NOW)).toThrow(/whose purge log is in PostgreSQL/);
    expect(readdirSync(machine)).toEqual(before);
  });

  test("is a new log once it is restored, with the audit trail and the ids of the old one (R13)", () => {
    const file = open();
    append(file, "#a", "once");
    backUpLog(folder, copy);
    close(file);
    const { setAside } = restoreLog(copy, folder, NOW);
    expect(setAside).toBe(join(folder, "purge-log.sqlite.replaced-2026-01-01T120000.000Z"));
    const restored = open();
    expect(restored.use((log) => log.head)).toEqual({ logId: "log-2", seq: 1 });
    expect(append(restored, "#a", "once")).toMatchObject({ seq: 1, replayed: true });
    expect(restored.use((log) => log.list(null, 10).purges)).toHaveLength(1);
    expect(append(restored, "#b")).toMatchObject({ logId: "log-2", seq: 2 });
    close(restored);
    expect(open().use((log) => log.head)).toEqual({ logId: "log-2", seq: 2 }); // a restart alone keeps it
  });

  test("is a new log each time, also if it is put there by hand and the noted head is lost", () => {
    const file = open();
    append(file, "#a");
    backUpLog(folder, copy);
    close(file);
    for (const logId of ["log-2", "log-3"]) {
      rmSync(folder, { recursive: true });
      LogFolder.own(folder, "one").release();
      copyFileSync(copy, join(folder, "purge-log.sqlite"));
      const restored = open();
      expect(append(restored, "#b")).toMatchObject({ logId, seq: 2 });
      close(restored);
    }
  });

  test("of a log that is not in use, and of a copy that SQLite itself has made", () => {
    const file = open();
    append(file, "#a");
    close(file);
    copyFileSync(join(folder, "purge-log.sqlite"), join(root, "plain.sqlite"));
    expect(backUpLog(folder, copy)).toMatchObject({ seq: 1 });
    restoreLog(join(root, "plain.sqlite"), folder, NOW);
    expect(open().use((log) => log.head)).toEqual({ logId: "log-2", seq: 1 });
  });

  test("is made, and restored, where one that was killed has left its draft, by a process with the same id", () => {
    const file = open();
    append(file, "#a");
    const drafts = [
      join(root, `.copy.sqlite.${process.pid}`),
      join(folder, `.purge-log.sqlite.restored.${process.pid}`),
    ];
    for (const draft of drafts) {
      writeFileSync(draft, "half of a copy");
      writeFileSync(`${draft}-journal`, "and its journal");
    }
    expect(backUpLog(folder, copy)).toMatchObject({ seq: 1 });
    close(file);
    expect(restoreLog(copy, folder, NOW)).toMatchObject({ seq: 1 });
    expect([...readdirSync(root), ...readdirSync(folder)].filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("takes the place of a log that is damaged", () => {
    const file = open();
    append(file, "#a");
    backUpLog(folder, copy);
    close(file);
    writeFileSync(join(folder, "purge-log.sqlite"), "not a database".repeat(1000));
    restoreLog(copy, folder, NOW);
    expect(open().use((log) => log.head)).toEqual({ logId: "log-2", seq: 1 });
  });
});

test("where each of several sites has a log, one of them is named, and nothing is restored beside them", () => {
  const [blog, shop] = ["blog", "shop"].map((site) => join(root, "sites", site)) as [string, string];
  for (const each of [blog, shop]) mkdirSync(join(each, "log"), { recursive: true });
  append(open(), "#a");
  backUpLog(folder, copy);
  restoreLog(copy, join(shop, "log"), NOW);
  const nowhere = join(root, "nowhere");
  const words = `There is no purge log in ${nowhere}. Each site has one: --cache ${shop}.`;
  expect(() => backUpLog(nowhere, join(root, "other"))).toThrow(words);
  expect(() => restoreLog(copy, nowhere, NOW)).toThrow(words);
  expect(readdirSync(root).toSorted()).toEqual(["copy.sqlite", "log", "sites"]);
});

test("where machines share the log, that is the reason why none is restored, also beside logs of several sites", () => {
  append(open(), "#a");
  backUpLog(folder, copy);
  restoreLog(copy, join(root, "sites", "shop", "log"), NOW);
  const shared = join(root, "machine");
  mkdirSync(shared);
  writeFileSync(join(shared, "shared-log.json"), "{}");
  expect(() => restoreLog(copy, shared, NOW)).toThrow("belongs to a machine whose purge log is in PostgreSQL");
});

test("where the logs of several sites cannot be listed, none is named", () => {
  writeFileSync(join(root, "sites"), "");
  expect(() => backUpLog(folder, copy)).toThrow(`There is no purge log in ${folder}. Name the folder that`);
});

describe("a copy is refused, and nothing is changed,", () => {
  test.each([
    ["of a folder without a log", () => backUpLog(join(root, "nowhere"), copy), "There is no purge log in"],
    ["over a file that is there", () => backUpLog(folder, join(root, "log")), "exists already. Name another file."],
    ["into a folder that is not there", () => backUpLog(folder, join(root, "no", "copy")), "cannot be copied to"],
    ["from a file that is not there", () => restoreLog(join(root, "no"), folder, NOW), "There is no"],
    ["from a file of something else", () => restoreLog(join(root, "text"), folder, NOW), "file is not a database"],
    ["from another database", () => restoreLog(join(root, "empty"), folder, NOW), "is not a purge log"],
  ])("%s", (_, work, words) => {
    writeFileSync(join(root, "text"), "a text".repeat(1000));
    writeFileSync(join(root, "empty"), "");
    append(open(), "#a");
    const before = readdirSync(folder).toSorted();
    expect(work).toThrow(words);
    expect(readdirSync(folder).toSorted()).toEqual(before);
    expect(readdirSync(root).toSorted()).toEqual(["empty", "log", "text"]);
  });

  test("while a server runs", () => {
    append(open(), "#a");
    backUpLog(folder, copy);
    const owner = LogFolder.own(folder, "server");
    expect(() => restoreLog(copy, folder, NOW)).toThrow("Another tidemark serve is using");
    owner.release();
  });
});
