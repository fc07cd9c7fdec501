import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { explore } from "./explore.ts";
import { SEARCHES } from "./searches.ts";

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

test.each(SEARCHES.map((search) => ({ search, file: / run (test\S+)/.exec(search)?.[1] })).filter(({ file }) => file))(
  "a search is of tests that exist: $file",
  ({ file }) => {
    expect(existsSync(file!)).toBe(true);
  },
);
