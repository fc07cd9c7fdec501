import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { pathsIn } from "../docs/named-paths.ts";

/** A row of the table "Where is … decided?" in CONTRIBUTING.md. */
interface Row {
  readonly question: string;
  readonly file: string;
  readonly names: readonly string[];
}

/** A row begins with each of these topics or names it, so that a reader who looks for it finds the row. */
const SEARCHED_FOR = [
  "freshness",
  "storing",
  "key",
  "variants",
  "tags",
  "purge check",
  "identity",
  "cookies",
  "unkeyed fields",
  "stale use",
  "collapsing",
  "what the origin is sent",
  "what the client sees",
  "tokens",
  "limits",
];

const page = readFileSync("CONTRIBUTING.md", "utf8");

function rowsOf(text: string): Row[] {
  const section = text.split("\n## ").find((part) => part.startsWith("Where is … decided?")) ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("|") && line.includes("`"));
  return rows.map((line) => {
    const [question, file, names] = line.split("|").slice(1, -1);
    return {
      question: question!.trim(),
      file: pathsIn(file!)[0] ?? file!,
      names: quotedIn(names!.replaceAll(/\(.*?\)/g, "")),
    };
  });
}

function quotedIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text!);
}

function missingIn({ file, names }: Row): string[] {
  if (!existsSync(file)) return [`${file} does not exist`];
  const source = readFileSync(file, "utf8");
  const isExported = (name: string) => new RegExp(`^export (?:async )?(?:function|class) ${name}\\b`, "m").test(source);
  return names.filter((name) => !isExported(name)).map((name) => `${file} does not export ${name}`);
}

describe("where is … decided?", () => {
  const rows = rowsOf(page);

  test.each(rows)("$question: in $file", (row) => {
    expect(row.names.length).toBeGreaterThan(0);
    expect(missingIn(row)).toEqual([]);
  });

  test.each(SEARCHED_FOR)("%s is in the table", (question) => {
    expect(rows.map((row) => row.question).join("\n")).toContain(question);
  });

  test("twenty come first, and no two ask the same", () => {
    const [first] = page.split("\n## Where is … decided?\n")[1]!.split("\nWhat those ask");
    expect(rowsOf(`\n## Where is … decided?\n${first}`).length).toBe(20);
    expect(new Set(rows.map(({ question }) => question)).size).toBe(rows.length);
  });

  test("control: a missing file or function is found", () => {
    const file = "worker/rules/freshness/judge.ts";
    expect(missingIn({ question: "", file, names: ["judge", "judged"] })).toEqual([`${file} does not export judged`]);
    expect(missingIn({ question: "", file: "worker/gone.ts", names: ["gone"] })).toEqual([
      "worker/gone.ts does not exist",
    ]);
  });
});
