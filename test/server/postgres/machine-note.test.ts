import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { MachineNote } from "../../../server/postgres/machine-note.ts";
import type { putFile } from "../../../server/put-file.ts";

test.each([
  ["", "another"],
  ["\0\0", "another"],
  ['{"machine":"first","position":null,"left":["log"],"color":7}', "first"],
])("a note that a loss of power has emptied names nobody, and one with more fields is read: %j", (text, machine) => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "shared-log.json"), text);
  const note = new MachineNote(folder, () => "another");
  expect([note.machine, note.position, note.hasLeft("log")]).toEqual([machine, null, machine === "first"]);
});

test("a machine that has left a log keeps that through a loss of power after any later purge", () => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const put = vi.fn<typeof putFile>();
  const note = new MachineNote(folder, () => "first", put);
  put.mockClear();
  for (const [logId, seq] of [
    ["a", 1],
    ["b", 1],
    ["b", 2],
  ] as const)
    note.notePosition({ logId, seq, mark: "" });
  const written = put.mock.calls.map(([, text, { isDurable }]) => [JSON.parse(text).left, isDurable]);
  expect(written).toEqual([
    [[], false],
    [["a"], true],
    [["a"], true],
  ]);
});

describe("a note", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const at = (logId: string, seq: number, mark = "a") => ({ logId, seq, mark });

  test("of the name, the newest purge that was read and the logs that were left outlives the process", () => {
    const note = new MachineNote(folder, () => "first");
    expect(["one", "other"].map((log) => note.notePosition(at(log, 7)))).toEqual([false, true]);
    for (const seq of [8, 6]) note.notePosition(at("other", seq));
    note.notePosition(at("other", 8, "of another history"));
    note.renameMachine("second");
    const next = new MachineNote(folder, () => "third");
    expect([next.machine, next.position, next.hasLeft("one"), next.hasLeft("other")]).toEqual([
      ...["second", at("other", 8)],
      ...[true, false],
    ]);
  });

  test("in a copy of the folder names another machine, which has read as far", () => {
    new MachineNote(folder, () => "first").notePosition(at("log", 7));
    const copy = join(folder, "copy");
    mkdirSync(copy);
    copyFileSync(join(folder, "shared-log.json"), join(copy, "shared-log.json"));
    const copied = new MachineNote(copy, () => "second");
    expect([copied.machine, copied.position]).toEqual(["second", at("log", 7)]);
  });

  test("is kept in memory while the disk takes none", () => {
    const note = new MachineNote(folder, () => "first");
    rmSync(folder, { recursive: true });
    note.notePosition(at("log", 7));
    expect([note.machine, note.position]).toEqual(["first", at("log", 7)]);
  });

  test("does not grow with every log that was left", () => {
    const note = new MachineNote(null, () => "first");
    for (let log = 0; log <= 101; log++) note.notePosition(at(String(log), 1));
    expect(["0", "1", "100"].map((log) => note.hasLeft(log))).toEqual([false, true, true]);
  });
});
