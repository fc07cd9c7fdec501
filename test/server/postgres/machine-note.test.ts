import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { MachineNote } from "../../../server/postgres/machine-note.ts";

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
