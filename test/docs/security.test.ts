import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { cases } from "../visitors/index.ts";

const security = readFileSync("docs/security.md", "utf8");

describe("docs/security.md", () => {
  const paths = [...security.matchAll(/`((?:worker|test|\.github)\/[\w./-]+)`/g)].map(([, path]) => path!);

  test.each([...new Set(paths)])("%s is there", (path) => {
    expect(existsSync(path)).toBe(true);
  });

  test("the cases that it quotes are those that there are", () => {
    const quoted = [...security.matchAll(/\*([a-z][^*|]+)\*(?!\*)/g)].map(([, name]) => name!.replace(/\s+/g, " "));
    expect(quoted.length).toBeGreaterThan(0);
    expect(quoted.filter((name) => !cases.some((each) => each.name === name))).toEqual([]);
  });

  test("every row of the model names what prevents it and what shows it", () => {
    const rows = security
      .split("## Who can send what")[1]!
      .split("\n## ")[0]!
      .match(/^\| .+$/gm)!
      .slice(2);
    expect(rows.length).toBeGreaterThan(10);
    for (const row of rows) {
      const [, , , , prevents, shows] = row.split("|").map((cell) => cell.trim());
      expect([row, prevents !== "" && shows !== ""]).toEqual([row, true]);
    }
  });
});
