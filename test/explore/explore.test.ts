import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { explore } from "./explore.ts";
import { ONCE, SEARCHES } from "./searches.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

test("it goes on after a finding, and keeps it with the command that repeats it", async () => {
  const lines: string[] = [];
  const findings = join(folder, "findings");
  const found = await explore({
    searches: ["echo sound {seed}", "echo 'worse at {seed}'; exit 1"],
    seed: 5,
    jobs: 1,
    folder: findings,
    isOver: () => lines.filter((line) => !line.startsWith(" ")).length === 4,
    print: (line) => lines.push(line),
  });
  expect(found).toBe(2);
  expect(readdirSync(findings)).toEqual(["finding-1506.txt", "finding-506.txt"]);
  expect(readFileSync(join(findings, "finding-506.txt"), "utf8")).toBe("echo 'worse at 506'; exit 1\n\nworse at 506\n");
  expect(lines[0]).toBe("nothing: echo sound 6");
});

test("what is to run once runs once, before the others", async () => {
  const lines: string[] = [];
  await explore({
    once: ["echo first"],
    searches: ["echo {seed}", "echo other"],
    seed: 5,
    jobs: 1,
    folder: join(folder, "none"),
    isOver: () => lines.length === 5,
    print: (line) => lines.push(line.replace("nothing: echo ", "")),
  });
  expect(lines).toEqual(["first", "506", "other", "1506", "other"]);
});

const FILES = [...ONCE, ...SEARCHES].flatMap((search) => / (?:run|node) (test\S+)/.exec(` ${search}`)?.[1] ?? []);

test.each(FILES.map((file) => ({ file })))("a search is of tests that exist: $file", ({ file }) => {
  expect(existsSync(file)).toBe(true);
});
