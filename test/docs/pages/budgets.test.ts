import { describe, expect, test } from "vitest";
import { BUDGETS, GENERATED, OF_A_DECISION, OF_ALL } from "./budgets.ts";
import { handWritten, pages, wordsIn } from "./pages.ts";

/** What a page may have and has, in words. Without a budget it may have none. */
interface Count {
  readonly path: string;
  readonly most: number;
  readonly words: number;
}

function count(path: string, text: string): Count {
  const isDecision = path.startsWith("docs/decisions/");
  return { path, most: isDecision ? OF_A_DECISION : (BUDGETS[path] ?? 0), words: wordsIn(handWritten(text)) };
}

const counts = pages
  .filter(({ path }) => !GENERATED.test(path))
  // A table of the RFCs' requirements follows, which the scenarios' areas fill.
  .map(({ path, text }) => count(path, path === "docs/conformance.md" ? text.split("\n## ")[0]! : text));

const isTooLong = ({ most, words }: Count) => words > most;

describe("the words of the pages", () => {
  test("no page has more than its budget, and none is without one", () => {
    expect(counts.length).toBeGreaterThan(60);
    expect(counts.filter(isTooLong)).toEqual([]);
  });

  test("every budget belongs to a page", () => {
    expect(Object.keys(BUDGETS).filter((path) => !counts.some((each) => each.path === path))).toEqual([]);
  });

  test("all hand-written pages together keep within the budget of all", () => {
    expect(counts.reduce((sum, { words }) => sum + words, 0)).toBeLessThanOrEqual(OF_ALL);
  });

  test("control: a page that is too long, and one without a budget, would be found", () => {
    expect(isTooLong(count("docs/decisions/0999-more.md", "word ".repeat(OF_A_DECISION)))).toBe(false);
    expect(isTooLong(count("docs/decisions/0999-more.md", "word ".repeat(OF_A_DECISION + 1)))).toBe(true);
    expect(isTooLong(count("docs/unknown.md", "# Unknown"))).toBe(true);
  });

  test("blocks of code, generated parts and the lines of tables do not count", () => {
    const generated = "<!-- generated: settings -->\nsix words that a command writes\n<!-- end -->\n";
    const ofSomebody = "<!-- run: sqlite -->\n\n```ts\ncode();\n```\n\nThree words here\n";
    const table = "| a | 1 |\n| --- | --- |\n";
    expect(wordsIn(handWritten(`# Two words\n${ofSomebody}${generated}${table}`))).toBe(7);
  });
});

describe("a decision", () => {
  const decisions = pages.filter(({ path }) => path.startsWith("docs/decisions/"));
  const headings = (text: string) => [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);

  test.each(decisions)("$path has a context, a choice, a price, and when to revisit it", ({ path, text }) => {
    expect(text).toMatch(new RegExp(`^# ${/\d{4}/.exec(path)![0]} \\S`));
    expect(headings(text).slice(0, 4)).toEqual(["Context", "Choice", "Price", "Revisit when"]);
  });
});
