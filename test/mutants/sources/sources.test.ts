import { describe, expect, test } from "vitest";
import type { Change } from "../mutant.ts";
import { Sources } from "./sources.ts";

const VIEW = `
import { isYoung } from "./age.ts";

/** The longest age: LONGEST = 9. */
const LONGEST = 1;

export function judge(age: number, names: readonly string[]): boolean {
  // if (age < LONGEST) return true;
  if (age < LONGEST) return true;
  if (names.includes("a")) return false;
  return isYoung(age);
}

export class View {
  #seen = new Map([["a", 1]]);

  check(age: number): boolean {
    return judge(age, []) && this.#has("a");
  }

  #has(name: string): boolean {
    return this.#seen.has(name);
  }

  async wait(ms: number): Promise<number> {
    return ms;
  }
}
`;
const AGE = "export function isYoung(age: number) {\n  return age < 2;\n}\nconst parse = 1;\n";

function sources(files: Readonly<Record<string, string>> = {}): Sources {
  return new Sources(new Map(Object.entries({ "worker/view.ts": VIEW, "worker/age.ts": AGE, ...files })));
}

/** The lines that a change takes away and those that it brings. */
function linesChanged(change: Change, text = VIEW): { readonly gone: string[]; readonly come: string[] } {
  const [before, after] = [text, sources({ "worker/view.ts": text }).mutate(change).text].map((each) =>
    each.split("\n"),
  );
  const without = (one: readonly string[], other: readonly string[]) =>
    one.filter((line) => !other.includes(line)).map((line) => line.trim());
  return { gone: without(before!, after!), come: without(after!, before!) };
}

describe("a change is made", () => {
  test.each<[string, Change, come: string]>([
    [
      "in a function",
      { in: "judge", replace: "age < LONGEST", by: "age <= LONGEST" },
      "if (age <= LONGEST) return true;",
    ],
    ["in a variable", { in: "LONGEST", replace: "= 1", by: "= 2" }, "const LONGEST = 2;"],
    ["in a private field", { in: "View.#seen", replace: '["a", 1]', by: "" }, "#seen = new Map([]);"],
    ["in a private method", { in: "View.#has", replace: "name)", by: '"b")' }, 'return this.#seen.has("b");'],
    ["in a class", { in: "View", replace: "judge(age, [])", by: "true" }, 'return true && this.#has("a");'],
    ["within a string", { in: "View.check", replace: 'a")', by: 'b")' }, 'return judge(age, []) && this.#has("b");'],
  ])("%s", (_, change, come) => {
    expect(linesChanged(change).come).toEqual([come]);
  });

  test("by dropping a statement that is named by its beginning", () => {
    expect(linesChanged({ in: "judge", drop: "if (names" })).toEqual({
      gone: ['if (names.includes("a")) return false;'],
      come: [";"],
    });
  });

  test("by wrapping a function, whose calls then go through another", async () => {
    const { text } = sources().mutate({ in: "isYoung", wrap: "(age) => original(age + 1)" });
    const { isYoung } = await import(`data:text/javascript,${encodeURIComponent(withoutTypes(text))}`);
    expect([isYoung(0), isYoung(1)]).toEqual([true, false]);
  });

  test("by wrapping a method, where this stays the object", () => {
    const { come } = linesChanged({ in: "View.check", wrap: "() => this.#seen.size > 0" });
    expect(come.join(" ")).toContain("check(...given: any[]): any { const original = (age: number): boolean => {");
  });

  test("by wrapping an asynchronous method", () => {
    const { come } = linesChanged({ in: "View.wait", wrap: "() => 1" });
    expect(come.join(" ")).toContain("const original = async (ms: number): Promise<number> => {");
  });
});

function withoutTypes(text: string): string {
  return text.replaceAll(/: (?:number|any(?:\[\])?)/g, "");
}

describe("a change does not notice", () => {
  const change: Change = { in: "judge", replace: 'names.includes("a")) return false;', by: "false) return false;" };
  test.each([
    ["line breaks and spaces", VIEW.replace('names.includes("a")', 'names . includes(\n  "a"\n )')],
    ["trailing commas", VIEW.replace('names.includes("a")', 'names.includes(\n "a",\n )')],
    ["the kind of quotes", VIEW.replace('names.includes("a")', "names.includes('a')")],
    ["comments", VIEW.replace("names.includes", "names /* of all */.includes")],
    ["other declarations", VIEW.replace("export class", 'const other = ["names.includes(1)"];\nexport class')],
  ])("%s", (_, text) => {
    expect(linesChanged(change, text).come.join(" ")).toContain("if (false) return false;");
  });

  test("that a list on one line has no comma at its end", () => {
    const last: Change = { in: "LIST", replace: '"b",', by: "" };
    for (const list of ['["a", "b"]', '[\n  "a",\n  "b",\n]']) {
      const { text } = sources({ "worker/view.ts": `const LIST = ${list};` }).mutate(last);
      expect(text.replaceAll(/\s/g, "")).toBe('constLIST=["a",];');
    }
  });

  test("that its file has moved", () => {
    const moved = new Sources(new Map([["server/other/file.ts", VIEW]]));
    expect(moved.mutate(change).path).toBe("server/other/file.ts");
  });
});

describe("a change that cannot be made says why", () => {
  test.each<[string, Change, message: string]>([
    [
      "its declaration is gone",
      { in: "View.chekc", replace: "a", by: "" },
      "nothing is declared as View.chekc. The nearest names are View.check (worker/view.ts), View",
    ],
    [
      "its piece is elsewhere",
      { in: "judge", replace: "return age < 2", by: "" },
      'judge (worker/view.ts) does not have the piece "return age < 2". It stands in isYoung (worker/age.ts)',
    ],
    [
      "its piece is nowhere",
      { in: "judge", replace: "age > LONGEST", by: "" },
      'judge (worker/view.ts) does not have the piece "age > LONGEST". No declaration has it',
    ],
    [
      "its piece is only a part of a word",
      { in: "judge", replace: "ge < LONGEST", by: "" },
      'judge (worker/view.ts) does not have the piece "ge < LONGEST". No declaration has it',
    ],
    [
      "its piece stands there twice",
      { in: "judge", replace: "return", by: "" },
      'judge has the piece "return" 3 times: worker/view.ts, lines 9, 10, 11',
    ],
    [
      "two statements begin so",
      { in: "judge", drop: "if (" },
      'judge has the statement that begins with "if (" 2 times: worker/view.ts, lines 9, 10',
    ],
    [
      "no statement begins so",
      { in: "judge", drop: "age < LONGEST" },
      'judge (worker/view.ts) does not have the statement that begins with "age < LONGEST". It stands in judge',
    ],
    [
      "nothing can be wrapped around a variable",
      { in: "LONGEST", wrap: "() => 1" },
      "LONGEST is no function, so nothing can be wrapped around it",
    ],
  ])("%s", (_, change, message) => {
    expect(() => sources().mutate(change)).toThrow(message);
  });

  test("two files declare its name", () => {
    const twice = { "wire/age.ts": "const parse = 2;", "wire/size.ts": "const parse = 3;" };
    const change: Change = { in: "parse", replace: "parse", by: "other" };
    expect(() => sources(twice).mutate(change)).toThrow(
      "parse is declared 3 times. Write one of these: worker/age:parse, wire/age:parse, size:parse",
    );
    expect(sources(twice).mutate({ ...change, in: "size:parse" }).path).toBe("wire/size.ts");
    expect(sources(twice).mutate({ ...change, in: "wire/age:parse" }).path).toBe("wire/age.ts");
  });
});
