import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { scenarios } from "../scenarios/index.ts";
import { cases } from "../visitors/index.ts";
import { pathsIn } from "./named-paths.ts";

const security = readFileSync("docs/security.md", "utf8");

describe("docs/security.md", () => {
  const paths = [...new Set(pathsIn(security))];

  test("it names files of the worker, of the server and of the tests", () => {
    const folders = paths.map((path) => path.split("/")[0]);
    expect(folders).toEqual(expect.arrayContaining(["worker", "server", "test", ".github"]));
  });

  test.each(paths)("%s is there", (path) => {
    expect(existsSync(path)).toBe(true);
  });

  test("the quoted cases exist", () => {
    const quoted = [...security.matchAll(/\*([a-z][^*|]+)\*(?!\*)/g)].map(([, name]) => name!.replace(/\s+/g, " "));
    expect(quoted.length).toBeGreaterThan(0);
    expect(quoted.filter((name) => !cases.some((each) => each.name === name))).toEqual([]);
  });

  test("every row of the model names sources that prevent it, and tests, cases or scenarios that show it", () => {
    const rows = security
      .split("## Who can send what")[1]!
      .split("\n## ")[0]!
      .match(/^\| .+$/gm)!
      .slice(2);
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.filter((row) => !isEvident(row))).toEqual([]);
    expect(isEvident("| who | can send | never | prevented somehow | `test/docs/security.test.ts` |")).toBe(false);
    expect(isEvident("| who | can send | never | `worker/site/site.ts` | shown somehow |")).toBe(false);
    expect(isEvident("| who | can send | never | `worker/site/site.ts` | *a case that nobody wrote* |")).toBe(false);
  });
});

/** Whether a row names a file of the worker that prevents it, and in its last cell nothing but evidence that exists. */
function isEvident(row: string): boolean {
  const [, , , , prevents, shows] = row.split("|").map((cell) => cell.trim());
  const [sources, evidence] = [/`worker\/[\w./-]+\.ts`/.test(prevents!), shows!.match(/`[^`]+`|\*[^*]+\*/g) ?? []];
  return sources && evidence.length > 0 && evidence.every((each) => exists(each.slice(1, -1)));
}

function exists(evidence: string): boolean {
  return (
    (evidence.startsWith("test/") && existsSync(evidence)) ||
    cases.some(({ name }) => name === evidence) ||
    scenarios.some(({ id }) => id === evidence)
  );
}
