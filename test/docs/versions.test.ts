import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pathsIn } from "./named-paths.ts";

/** The rows of the formats in docs/versions.md: their cells. */
const rows = readFileSync("docs/versions.md", "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && line.includes(".test.ts`"))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|")));

test("docs/versions.md has the formats that outlive a process", () => {
  expect(rows.map(([, format]) => format)).toEqual(
    expect.arrayContaining([
      "settings of a site",
      "calls of the control plane",
      "purge log, SQLite",
      "files of pages",
      "access log",
    ]),
  );
});

test.each(rows.map(([, format, , where, then]) => ({ format, where: where!, words: then! })))(
  "$format has the version that the page says, and the test that it names",
  ({ where, words }) => {
    const [source] = pathsIn(where);
    const [, constant] = /, `(.+)`$/.exec(where)!;
    expect(readFileSync(source!, "utf8")).toContain(constant!);
    const [shown] = pathsIn(words);
    const [, title] = /, "(.+)"$/.exec(words)!;
    expect(existsSync(shown!)).toBe(true);
    expect(readFileSync(shown!, "utf8")).toContain(title!);
  },
);
