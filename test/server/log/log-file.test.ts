import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FileLock } from "../../../server/log/file-lock.ts";
import { LogFile, type LogFileOptions } from "../../../server/log/log-file.ts";
import { LogFolder } from "../../../server/log/log-folder.ts";
import { LONGEST_USE_MS } from "../../../worker/purges/log/log-contract.ts";
import { purge } from "../../purges/log/a-purge.ts";
import { report } from "../../purges/log/a-report.ts";
import { toldOf } from "../../purges/view/delta.ts";
import { overQuota } from "../../suite/over-quota.ts";
import { SmallDisk } from "../../suite/small-disk.ts";

const HOUR_MS = 3_600_000;
const FILE = "purge-log.sqlite";

const ioError = Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR", errcode: 10 });
const malformed = Object.assign(new Error("malformed"), { code: "ERR_SQLITE_ERROR", errcode: 11 });

let folder: string;
let now: number;
let elapsed: number;
let replaced: string[];
let ids: number;
let databases: DatabaseSync[];
let files: LogFile[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-log-"));
  now = 1_000_000_000;
  elapsed = 0;
  replaced = [];
  ids = 0;
  databases = [];
  files = [];
});

afterEach(() => {
  for (const file of files) file.close();
  rmSync(folder, { recursive: true });
});

function open(change: Partial<LogFileOptions> = {}): LogFile {
  const file = new LogFile({
    folder,
    clocks: { now: () => now, elapsed: () => elapsed },
    newId: () => `log-${++ids}`,
    grant: { leaseMs: 1000, longestViewAgeMs: 1000 },
    onReplaced: (why) => replaced.push(why),
    open: (path) => {
      const database = new DatabaseSync(path, { timeout: 0 });
      databases.push(database);
      return database;
    },
    ...change,
  });
  files.push(file);
  return file;
}

function append(file: LogFile, key: string, rest: Parameters<typeof purge>[1] = {}) {
  const result = file.use((log) => log.append(purge([key], rest)));
  file.noteHead();
  if (result.kind === "conflict") throw new Error("no conflict here");
  return result;
}

/** Closes the file as the next process finds it. */
function closed(file: LogFile): void {
  file.close();
  files = files.filter((one) => one !== file);
}

describe("a log in a file", () => {
  test("is synchronised with the disk at each commit", () => {
    open();
    expect(databases[0]!.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
    expect(databases[0]!.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  });

  test("is synchronised again after a write that need not be", () => {
    const file = open();
    const synchronous = () => databases[0]!.prepare("PRAGMA synchronous").get()!.synchronous;
    expect(file.useWithoutSync(synchronous)).toBe(1);
    expect(synchronous()).toBe(2);
    const failing = () =>
      file.useWithoutSync(() => {
        throw new Error("failed");
      });
    expect(failing).toThrow("failed");
    expect(synchronous()).toBe(2);
  });

  test("has no file mapped into memory, where a full disk that copies on write would kill the server", () => {
    append(open(), "#a");
    expect(readdirSync(folder).toSorted()).toEqual(["purge-log.head", FILE, `${FILE}-wal`]);
  });

  test("is for its owner alone", () => {
    append(open(), "#a");
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077, name).toBe(0);
  });

  describe("on a disk that fails", () => {
    test("a purge is refused with a clear error where the disk is full, reads go on, and nothing is left of it", () => {
      const file = open();
      append(file, "#a");
      databases[0]!.exec("PRAGMA max_page_count=1");
      const large = () => append(file, "#b", { content: "x".repeat(1_000_000), id: "x" });
      expect(large).toThrow(`The purge log in ${folder}: the disk is full (database or disk is full).`);
      const delta = file.use((log) => log.read(null, 1000));
      expect({ to: delta.to, told: toldOf(delta, ["#a", "#b"]) }).toEqual({ to: 1, told: [["#a", 1]] });
      databases[0]!.exec("PRAGMA max_page_count=1000000");
      expect(append(file, "#b", { id: "x" })).toMatchObject({ seq: 2, replayed: false });
    });

    test("a purge is refused with a clear error where nothing can be written, and reads go on for a day", () => {
      const file = open();
      append(file, "#a");
      databases[0]!.exec("PRAGMA query_only=ON");
      expect(() => append(file, "#b")).toThrow(`The purge log in ${folder}: it cannot be written`);
      now += 2 * HOUR_MS; // the time of the last grant should now be written
      elapsed += 2 * HOUR_MS;
      expect(file.use((log) => log.read(null, 1000))).toMatchObject({ to: 1, leaseMs: 1000 });
      databases[0]!.exec("PRAGMA query_only=OFF");
      expect(append(file, "#b")).toMatchObject({ seq: 2 });
    });

    test("a purge is refused with the disk's own reason where SQLite only says that a write failed", (context) => {
      const disk = new SmallDisk(join(folder, "disk"), "4m");
      try {
        if (!disk.isMounted) context.skip("small disks cannot be mounted here");
        const file = open({ folder: disk.path });
        const call = () =>
          file.use(() => {
            throw ioError; // as for a quota that is used up
          });
        expect(call).toThrow(`The purge log in ${disk.path}: it cannot be used (disk I/O error).`);
        disk.fill();
        expect(call).toThrow(`The purge log in ${disk.path}: the disk is full (ENOSPC: `);
        disk.free();
        expect(append(file, "#a")).toMatchObject({ logId: "log-1" });
        file.close();
      } finally {
        disk.unmount();
      }
    });

    test("a full disk at the start lets the same log open, with its counts", (context) => {
      const disk = new SmallDisk(join(folder, "disk"), "4m");
      try {
        if (!disk.isMounted) context.skip("small disks cannot be mounted here");
        const first = open({ folder: disk.path });
        append(first, "#a");
        first.useWithoutSync((_, ledger) => ledger.take(report()));
        const { logId } = first.use((log) => log.head);
        closed(first);
        disk.fill();
        const file = open({ folder: disk.path });
        expect(file.use((log) => log.head)).toEqual({ logId, seq: 1 });
        expect(file.use((_, ledger) => ledger.read(HOUR_MS, null)).counts.requests).toBe(10);
      } finally {
        disk.unmount();
      }
    });

    test("a purge is refused with the quota as the reason where it is used up", () => {
      const file = open();
      const call = () =>
        file.use(() => {
          throw overQuota("write");
        });
      expect(call).toThrow(`The purge log in ${folder}: the disk quota is used up (`);
    });

    test("a file that this user may not write is found before it is opened", () => {
      append(open(), "tag:a");
      const expectUsable = () => {
        LogFolder.expectUsable(folder);
        LogFile.expectUsable(folder);
      };
      expect(expectUsable).not.toThrow();
      chmodSync(join(folder, FILE), 0o400);
      chmodSync(folder, 0o755);
      if (process.getuid!() === 0) process.seteuid!(65_534); // root may write everywhere
      try {
        expect(expectUsable).toThrow(`The purge log in ${folder}: it cannot be written (EACCES`);
      } finally {
        if (process.getuid!() === 0) process.seteuid!(0);
      }
    });

    test("a folder that cannot be made is refused", () => {
      writeFileSync(join(folder, "file"), "");
      const inFile = join(folder, "file", "log");
      expect(() => LogFolder.own(inFile, "one")).toThrow(`The purge log in ${inFile}: it cannot be used (ENOTDIR`);
    });
  });

  describe("that is damaged", () => {
    test("at the start: it is set aside, and another log begins, so that everything stored is invalid (R13)", () => {
      const file = open();
      append(file, "#a");
      closed(file);
      writeFileSync(join(folder, FILE), "not a database".repeat(1000));
      const next = open();
      const setAside = `${FILE}.damaged-1970-01-12T134640.000Z`;
      expect(replaced).toEqual([
        `${folder}: it was damaged (file is not a database), and its file was renamed to ${setAside}`,
      ]);
      expect(readdirSync(folder)).toContain(setAside);
      expect(append(next, "#b")).toMatchObject({ seq: 1, settlesInMs: LONGEST_USE_MS + 250 });
      expect(next.use((log) => log.head.logId)).not.toBe("log-1");
    });

    test.each([
      ["state", 'longest_lease = \'{"granted":{"1000":1}}\''],
      ["state", 'longest_lease = \'{"until":7,"namelessAt":1}\''],
      ["state", 'longest_lease = \'{"until":{"1000":"1"},"namelessAt":1}\''],
      ["state", "longest_lease = '{\"until\":{}}'"],
      ["state", "longest_lease = substr(longest_lease, 1, 9)"],
      ["state", "longest_lease = 'null'"],
      ["state", "longest_lease = NULL"],
      ["state", "id = NULL"],
      ["state", "head = 'seven'"],
      ["state", "floor = 1e300"],
      ["state", "invalidate = -1"],
      ["repeats", "purge = substr(purge, 1, 9)"],
      ["repeats", "purge = '[]'"],
      ["repeats", "purge = json_remove(purge, '$.mode')"],
      ["repeats", "purge = json_set(purge, '$.reason', 7)"],
      ["repeats", "hashes = 'none'"],
      ["repeats", "due_at = 'soon'"],
    ])("by another version, whole for SQLite, in %s: %s", (table, change) => {
      const file = open();
      append(file, "#a", { repeatAfterMs: HOUR_MS });
      closed(file);
      const database = new DatabaseSync(join(folder, FILE));
      database.exec(`UPDATE ${table} SET ${change}`);
      database.close();
      now += 2 * HOUR_MS;
      const next = open();
      expect(replaced).toEqual([
        expect.stringContaining(
          `: it was damaged (${table} has values that no log of this version has), and its file was`,
        ),
      ]);
      expect(() => next.use((log) => log.runDue())).not.toThrow();
      expect(append(next, "#b")).toMatchObject({ seq: 1, settlesInMs: LONGEST_USE_MS + 250 });
      expect(next.use((log) => log.head.logId)).not.toBe("log-1");
    });

    test("in the keys of purges: this is noticed at the start, too, though only readers would meet it", () => {
      const file = open();
      file.use((log) => log.append(purge(Array.from({ length: 500 }, (_, index) => `#${index}`))));
      closed(file);
      damageTable("purged_keys");
      const next = open();
      expect(replaced).toHaveLength(1);
      expect(next.use((log) => log.head)).toEqual({ logId: expect.not.stringMatching(/^log-1$/), seq: 0 });
    });

    test("while it is in use: the call fails, and the next one finds another log", () => {
      const file = open();
      append(file, "#a");
      damageTable("audit", databases[0]);
      expect(() => file.use((log) => log.list(null, 10))).toThrow(`The purge log in ${folder}: it is damaged (`);
      expect(file.use((log) => log.head)).toEqual({ logId: expect.not.stringMatching(/^log-1$/), seq: 0 });
      expect(replaced).toEqual([expect.stringContaining("it was damaged (")]);
      expect(() => file.expectFile()).not.toThrow();
    });

    test("while it is in use, and no new one can be opened yet: it says so once one can", () => {
      let isFailing = false;
      const file = open({
        open: (path) => {
          if (isFailing && statSync(path).size === 0) throw ioError;
          databases.push(new DatabaseSync(path, { timeout: 0 }));
          return databases.at(-1)!;
        },
      });
      append(file, "#a");
      damageTable("audit", databases[0]);
      isFailing = true;
      expect(() => file.use((log) => log.list(null, 10))).toThrow("it cannot be used (disk I/O error)");
      expect(() => file.use((log) => log.head)).toThrow("it cannot be used (disk I/O error)");
      isFailing = false;
      expect(() => file.expectFile()).not.toThrow();
      expect(append(file, "#b")).toMatchObject({ seq: 1, logId: expect.not.stringMatching(/^log-1$/) });
      expect(replaced).toEqual([expect.stringContaining("it was damaged (")]);
    });

    test("while it is in use, in a transaction that cannot be ended then: the damage is known all the same", () => {
      const file = open();
      const call = () =>
        file.useWithoutSync(() => {
          databases.at(-1)!.exec("SAVEPOINT work");
          throw malformed;
        });
      expect(call).toThrow(`The purge log in ${folder}: it is damaged (malformed).`);
      append(file, "#a");
      expect(databases.at(-1)!.isTransaction).toBe(false);
      expect(databases.at(-1)!.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
    });

    test("control: a whole one that SQLite takes for damaged, because a disk failed for a moment, stays the log", () => {
      const file = open();
      append(file, "#a");
      const before = file.use((log) => log.head);
      const call = () =>
        file.use(() => {
          throw malformed;
        });
      expect(call).toThrow(`The purge log in ${folder}: it is damaged (malformed).`);
      expect(file.use((log) => log.head)).toEqual(before);
      closed(file);
      let opened = 0;
      const next = open({
        open: (path) => {
          if (opened++ === 0) throw malformed;
          return new DatabaseSync(path, { timeout: 0 });
        },
      });
      expect(next.use((log) => log.head)).toEqual(before);
      expect(replaced).toEqual([]);
    });

    test("control: one that cannot be read is not known to be damaged", () => {
      const unreadable = join(folder, `${FILE}-shm`);
      let opened = 0;
      const file = open({
        open: (path) => {
          if (opened++ !== 1) return new DatabaseSync(path, { timeout: 0 });
          mkdirSync(unreadable);
          throw malformed;
        },
      });
      append(file, "#a");
      const before = file.use((log) => log.head);
      closed(file);
      expect(() => file.use((log) => log.head)).toThrow("it cannot be used (EISDIR");
      rmSync(unreadable, { recursive: true });
      expect(file.use((log) => log.head)).toEqual(before);
      expect(replaced).toEqual([]);
      file.close();
    });
  });

  describe("that lacks purges which another log has", () => {
    test("begins another log where it is open, and keeps its numbers", () => {
      const file = open();
      append(file, "tag:a");
      const before = file.use((log) => log.head);
      file.replace("somebody had its host");
      expect(file.use((log) => log.head)).toEqual({ ...before, logId: "log-2" });
      expect(replaced).toEqual([`${folder}: somebody had its host`]);
      closed(file);
      expect(open().use((log) => log.head)).toMatchObject({ logId: "log-2" });
      expect(replaced).toHaveLength(1);
    });

    test("is the same log on a full disk, and can be read", () => {
      const file = open();
      const before = file.use((log) => log.head);
      const { page_count } = databases[0]!.prepare("PRAGMA page_count").get() as { page_count: number };
      databases[0]!.exec(`PRAGMA max_page_count = ${page_count}; CREATE TRIGGER full BEFORE UPDATE OF id ON state
        BEGIN INSERT INTO repeats (due_at, repeat_of, hashes, purge, skew_ms) VALUES (0, 0, hex(zeroblob(500000)), '', 0); END`);
      expect(() => file.replace("somebody had its host")).toThrow("the disk is full");
      expect(file.use((log) => log.head)).toEqual(before);
      expect(replaced).toEqual([]);
    });

    test("begins another log once its disk takes writes", (context) => {
      const disk = new SmallDisk(join(folder, "disk"), "4m");
      try {
        if (!disk.isMounted) context.skip("small disks cannot be mounted here");
        const first = open({ folder: disk.path });
        append(first, "tag:a");
        closed(first);
        disk.remount("ro");
        const file = open({ folder: disk.path });
        file.replace("somebody had its host");
        expect(file.comeBack()).toBe(false);
        disk.remount("rw");
        const holder = new DatabaseSync(join(disk.path, FILE));
        holder.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE");
        expect(() => file.replace("another one had its host")).toThrow("has locked its .sqlite file");
        expect(file.isToBeReplaced).toBe(true); // for the first reason
        holder.close();
        expect(file.comeBack()).toBe(true);
        expect(file.use((log) => log.head)).toEqual({ logId: `log-${ids}`, seq: 1 });
        expect(replaced).toEqual([`${disk.path}: somebody had its host`]);
        file.close();
      } finally {
        disk.unmount();
      }
    });
  });

  describe("that was replaced by an older copy", () => {
    test("begins another log at the start, though no reader has outlived the restart (R13)", () => {
      const file = open();
      append(file, "#a");
      closed(file);
      copyFileSync(join(folder, FILE), join(folder, "backup"));
      const later = open();
      append(later, "#b");
      closed(later);
      copyFileSync(join(folder, "backup"), join(folder, FILE));
      const restored = open();
      const settlesInMs = LONGEST_USE_MS + 250; // nobody knows what leases the lost part granted
      expect(append(restored, "#c")).toMatchObject({ logId: "log-2", seq: 2, settlesInMs });
      expect(replaced).toEqual([
        `${folder}: it lost purges: it ends with number 1, and purge-log.head beside it says 2`,
      ]);
    });

    test("while it is in use: purges are refused, and another log begins at the next start (R13)", () => {
      const file = open();
      append(file, "#a");
      const copy = mkdtempSync(join(tmpdir(), "tidemark-log-"));
      cpSync(folder, copy, { recursive: true });
      append(file, "#b");
      rmSync(folder, { recursive: true });
      renameSync(copy, folder);
      expect(() => file.expectFile()).toThrow("another file was put in its place while the server ran; restart");
      closed(file);
      expect(append(open(), "#c")).toMatchObject({ logId: expect.not.stringMatching(/^log-1$/) });
      expect(replaced).toEqual([`${folder}: purge-log.head beside it is damaged`]);
    });

    test("while it is in use, by a snapshot of its disk, where the copy has its number (R13)", (context) => {
      const disk = new SmallDisk(join(folder, "disk"), "4m");
      let snapshot: SmallDisk | null = null;
      try {
        if (!disk.isMounted) context.skip("small disks cannot be mounted here");
        const file = open({ folder: disk.path });
        const { ino } = statSync(join(disk.path, FILE));
        copyFileSync(join(disk.path, FILE), join(folder, "copy"));
        append(file, "#a");
        snapshot = new SmallDisk(disk.path, "4m");
        copyFileSync(join(folder, "copy"), join(disk.path, FILE));
        expect(statSync(join(disk.path, FILE)).ino).toBe(ino);
        expect(() => file.expectFile()).toThrow("another file was put in its place while the server ran; restart");
        closed(file);
        const next = open({ folder: disk.path });
        expect(append(next, "#b")).toMatchObject({ logId: expect.not.stringMatching(/^log-1$/) });
        closed(next);
      } finally {
        snapshot?.unmount();
        disk.unmount();
      }
    });

    test("while it is in use, by one that shows no start: another log begins all the same (R13)", () => {
      const file = open();
      append(file, "#a");
      file.use(() => databases.at(-1)!.exec(`VACUUM INTO '${join(folder, "copy")}'`));
      append(file, "#b");
      const copy = new DatabaseSync(join(folder, "copy"));
      copy.exec("PRAGMA user_version = 0"); // as in a copy by `.dump`
      copy.close();
      rmSync(join(folder, `${FILE}-wal`));
      renameSync(join(folder, "copy"), join(folder, FILE));
      expect(() => file.expectFile()).toThrow("another file was put in its place");
      closed(file);
      expect(append(open(), "#c")).toMatchObject({ logId: expect.not.stringMatching(/^log-1$/) });
      expect(replaced).toEqual([`${folder}: purge-log.head beside it is damaged`]);
    });

    test("control: a restart alone keeps the log, and so does a head that was noted before a loss of power", () => {
      const file = open();
      append(file, "#a");
      closed(file);
      copyFileSync(join(folder, "purge-log.head"), join(folder, "older-head"));
      const next = open();
      expect(append(next, "#b")).toMatchObject({ logId: "log-1", seq: 2 });
      closed(next);
      copyFileSync(join(folder, "older-head"), join(folder, "purge-log.head"));
      const last = open();
      expect(append(last, "#c")).toMatchObject({ logId: "log-1", seq: 3 });
      expect(replaced).toEqual([]);
    });

    test("control: so does a server that was killed as it began the log, before it noted a head", () => {
      closed(open());
      const database = new DatabaseSync(join(folder, FILE));
      database.exec("PRAGMA user_version = 0; DROP INDEX state_copy; DROP INDEX repeats_copy");
      database.close();
      rmSync(join(folder, "purge-log.head"));
      expect(append(open(), "#a")).toMatchObject({ logId: "log-1", seq: 1 });
      expect(replaced).toEqual([]);
    });
  });

  describe("whose noted head cannot be trusted begins another log, because its file may have lost purges, too:", () => {
    test.each([
      ["purge-log.head beside it is missing", () => rmSync(join(folder, "purge-log.head"))],
      ["purge-log.head beside it is damaged", () => writeFileSync(join(folder, "purge-log.head"), "{ torn")],
      [
        "purge-log.head beside it is damaged",
        () => writeFileSync(join(folder, "purge-log.head"), '{"logId":"log-1","seq":0,"sum":1}'),
      ],
      [
        "purge-log.head beside it is damaged",
        () => writeFileSync(join(folder, "purge-log.head"), '{"logId":"log-1","seq":0}'),
      ],
      [
        "purge-log.head beside it belongs to another log",
        () =>
          writeFileSync(
            join(folder, "purge-log.head"),
            JSON.stringify({ logId: "log-0", seq: 1, sum: crc32("log-0 1") }),
          ),
      ],
      ["its file was missing", () => rmSync(join(folder, FILE))],
    ])("%s", (why, harm) => {
      const file = open();
      append(file, "#a");
      closed(file);
      harm();
      const next = open();
      const { logId } = next.use((log) => log.head);
      expect(logId).not.toBe("log-1");
      expect(replaced).toEqual([`${folder}: ${why}`]);
      expect(append(next, "#b")).toMatchObject({ settlesInMs: LONGEST_USE_MS + 250 });
      closed(next);
      expect(open().use((log) => log.head.logId)).toBe(logId);
      expect(replaced).toHaveLength(1);
    });
  });

  describe.each([
    ["forth", HOUR_MS],
    ["back", -HOUR_MS],
    ["forth by more than a lease is remembered", 30 * HOUR_MS],
  ])("whose clock steps %s", (_, byMs) => {
    test("carries out repetitions when they are due, and settles no earlier and no later", () => {
      const file = open();
      file.use((log) => log.read(null, 1000, 60_000));
      append(file, "#a", { repeatAfterMs: 5000 });
      now += byMs;
      const dueAfterMs = file.use((log) => log.nextDueInMs());
      expect(dueAfterMs).toBe(5000);
      now += 4999;
      elapsed += 4999;
      file.use((log) => log.runDue());
      expect(file.use((log) => log.head.seq)).toBe(1);
      now += 1;
      elapsed += 1;
      file.use((log) => log.runDue());
      expect(file.use((log) => log.head.seq)).toBe(2);
      expect(append(file, "#b")).toMatchObject({ settlesInMs: 60_250 }); // the longer lease is not forgotten
      const settles = () => file.use((log) => log.find(1)!.settled);
      now += 60_250 - 5000 - 1;
      elapsed += 60_250 - 5000 - 1;
      expect(settles()).toBe(false);
      now += 1;
      elapsed += 1;
      expect(settles()).toBe(true);
    });

    test("has settled what had settled before, and nothing else", () => {
      const file = open();
      append(file, "#a");
      now += 60_000;
      elapsed += 60_000;
      const { settlesInMs } = append(file, "#b");
      now += byMs;
      const found = (seq: number) => file.use((log) => log.find(seq)!);
      expect(found(1).settled).toBe(true);
      expect(found(2)).toMatchObject({ settled: false, settlesInMs });
    });
  });

  describe("that is opened while the clock is a day behind", () => {
    const reopened = (file: LogFile) => {
      closed(file);
      return open();
    };
    const dueInMs = (file: LogFile) => file.use((log) => log.nextDueInMs());

    test("repeats a purge no later than after its whole time, before and after the clock is put right", () => {
      const file = open();
      append(file, "#a", { repeatAfterMs: 5000 });
      now += 2000 - 24 * HOUR_MS;
      const next = reopened(file);
      expect(dueInMs(next)).toBe(5000);
      now += 24 * HOUR_MS + 1000;
      elapsed += 1000;
      expect(dueInMs(next)).toBe(4000);
      expect(dueInMs(reopened(next))).toBe(4000);
    });

    test("repeats a purge no sooner if the step came before", () => {
      const file = open();
      append(file, "#a", { repeatAfterMs: 5000 });
      now -= 24 * HOUR_MS;
      expect(dueInMs(file)).toBe(5000);
      expect(dueInMs(reopened(file))).toBe(5000);
    });
  });

  test("follows a step of the clock later if it could not be written at once", () => {
    const file = open();
    append(file, "#a", { repeatAfterMs: 5000 });
    databases[0]!.exec("CREATE TRIGGER full BEFORE UPDATE ON repeats BEGIN SELECT raise(FAIL, 'full'); END");
    now += HOUR_MS;
    expect(file.use((log) => log.nextDueInMs())).toBeLessThan(5000);
    databases[0]!.exec("DROP TRIGGER full");
    expect(file.use((log) => log.nextDueInMs())).toBe(5000);
  });

  test("does not settle a purge that came between such a step back and its record", () => {
    const file = open();
    append(file, "#a", { repeatAfterMs: 5000 });
    databases[0]!.exec("CREATE TRIGGER full BEFORE UPDATE ON repeats BEGIN SELECT raise(FAIL, 'full'); END");
    now -= HOUR_MS;
    const { seq, settlesInMs } = append(file, "#b");
    databases[0]!.exec("DROP TRIGGER full");
    expect(file.use((log) => log.find(seq))).toMatchObject({ settled: false, settlesInMs });
  });

  test("does not take small adjustments of the clock for a step", () => {
    const file = open();
    append(file, "#a", { repeatAfterMs: 5000 });
    now += 1000;
    expect(file.use((log) => log.nextDueInMs())).toBe(4000);
    now += 1; // together they are more than a second
    expect(file.use((log) => log.nextDueInMs())).toBe(5000);
  });
});

describe("a folder", () => {
  test("belongs to one supervisor", () => {
    const owner = LogFolder.own(folder, "one");
    expect(() => LogFolder.own(folder, "two")).toThrow(
      `Another tidemark serve is using ${folder}. Stop it first, or give this server another folder.`,
    );
    owner.release();
    LogFolder.own(folder, "three").release();
    expect(readdirSync(folder)).toEqual(["supervisor.lock"]);
  });

  describe("whose disk took no writes when its server started", () => {
    let disk: SmallDisk;
    let path: string;
    let first: LogFolder;
    let worker: FileLock;

    beforeEach((context) => {
      disk = new SmallDisk(join(folder, "disk"), "1m");
      if (!disk.isMounted) context.skip("small disks cannot be mounted here");
      path = join(disk.path, "log");
      LogFolder.own(path, "before").release();
      disk.remount("ro");
      first = LogFolder.own(path, "one");
      disk.remount("rw");
      first.claim();
      worker = FileLock.take(first.workersLock, "shared")!;
    });
    afterEach(() => disk.unmount());

    async function expectReached(next: LogFolder): Promise<void> {
      const server = createServer().listen(next.socketPath);
      await once(server, "listening");
      const client = connect(first.socketPath);
      await once(client, "connect");
      client.destroy();
      server.close();
      await once(server, "close");
    }

    test("lets its workers reach the next server, which leaves nothing of it behind", async () => {
      first.release();
      const next = LogFolder.own(path, "two", first.workersLock);
      await expectReached(next);
      expect(next.hasOrphans()).toBe(false);
      next.forget(first.workersLock);
      expect(next.hasOrphans()).toBe(true);
      worker.release();
      expect(next.hasOrphans()).toBe(false);
      next.release();
      expect(readdirSync(path)).toEqual(["supervisor.lock"]);
      expect(existsSync(dirname(first.socketPath))).toBe(false);
    });

    test("lets its workers reach it again if the next server fails, and leaves nothing behind, either", async () => {
      first.release();
      LogFolder.own(path, "two", first.workersLock).release();
      const again = LogFolder.own(path, "one");
      await expectReached(again);
      expect(again.hasOrphans()).toBe(false);
      worker.release();
      again.release();
      expect(readdirSync(path)).toEqual(["supervisor.lock"]);
      expect(existsSync(dirname(first.socketPath))).toBe(false);
    });
  });

  test("that another server uses does not lead the workers of one of several sites to that server's log", () => {
    const other = LogFolder.own(folder, "other");
    const mine = LogFolder.own(folder, "mine", null, true);
    const worker = FileLock.take(mine.workersLock, "shared")!;
    mine.release();
    expect(lstatSync(mine.socketPath, { throwIfNoEntry: false })).toBeUndefined();
    worker.release();
    mine.release();
    expect(existsSync(dirname(mine.socketPath))).toBe(false);
    other.release();
  });

  test("that could not be made whole is nobody's", () => {
    mkdirSync(join(folder, "workers-one.lock"));
    expect(() => LogFolder.own(folder, "one")).toThrow("EISDIR");
    LogFolder.own(folder, "two").release();
  });

  test("is made for its owner alone", () => {
    const inner = join(folder, "cache", "log");
    LogFolder.own(inner, "one").release();
    expect(statSync(inner).mode & 0o777).toBe(0o700);
  });

  test("whose path is too long for a socket is refused", () => {
    const long = join(folder, "x".repeat(100));
    mkdirSync(long);
    expect(() => LogFolder.own(long, "one")).toThrow("is too long for a Unix socket, which can have at most 94 bytes.");
  });
});

/** Overwrites the first page of a table. `inUse`: the log's own connection, which lets no other one open the file. */
function damageTable(name: string, inUse?: DatabaseSync): void {
  const database = inUse ?? new DatabaseSync(join(folder, FILE));
  const { rootpage } = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(name)!;
  const { page_size } = database.prepare("PRAGMA page_size").get()!;
  database.exec("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA shrink_memory"); // so that the next read is one of the disk
  if (inUse === undefined) database.close();
  overwrite(join(folder, FILE), (Number(rootpage) - 1) * Number(page_size), Buffer.alloc(Number(page_size), 0xff));
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.byteLength, at);
}
