import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { MachineNote } from "../../../server/postgres/machine-note.ts";
import { putFile } from "../../../server/put-file.ts";

vi.mock(import("../../../server/put-file.ts"), { spy: true });

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
  const note = new MachineNote(folder, () => "first");
  vi.mocked(putFile).mockClear();
  for (const [logId, seq] of [
    ["a", 1],
    ["b", 1],
    ["b", 2],
  ] as const)
    note.notePosition({ logId, seq, mark: "" });
  const written = vi.mocked(putFile).mock.calls.map(([, text, { isDurable }]) => [JSON.parse(text).left, isDurable]);
  expect(written).toEqual([
    [[], false],
    [["a"], true],
    [["a"], true],
  ]);
});
