import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PidFile } from "../../../../server/startup/pid-file.ts";

let folder: string;
let path: string;
let warned: string[];
const write = (pidFile: PidFile) => pidFile.write((line) => warned.push(line));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  path = join(folder, "tidemark.pid");
  warned = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a pid file names this process, in the place of one that was left behind, and is removed at the end", () => {
  writeFileSync(path, "99999999\n");
  const pidFile = new PidFile(path);
  write(pidFile);
  expect([readFileSync(path, "utf8"), readdirSync(folder), warned]).toEqual([`${process.pid}\n`, ["tidemark.pid"], []]);
  pidFile.remove();
  expect(existsSync(path)).toBe(false);
  pidFile.remove(); // somebody else has removed it
});

test("a pid file that names the successor by now stays", () => {
  const pidFile = new PidFile(path);
  write(pidFile);
  writeFileSync(path, "99999999\n");
  pidFile.remove();
  expect(readFileSync(path, "utf8")).toBe("99999999\n");
});

test("a pid file that cannot be written is told, keeps nothing from being served, and leaves no other file", () => {
  mkdirSync(path);
  write(new PidFile(path));
  expect(warned).toEqual([expect.stringMatching(/^the pid file cannot be written: .*tidemark\.pid/)]);
  expect(readdirSync(folder)).toEqual(["tidemark.pid"]);
});
