import { globSync, readFileSync } from "node:fs";
import { mutants } from "../../mutants/index.ts";
import { rulesIn } from "../../mutants/rules.ts";
import { scenarios } from "../../scenarios/index.ts";

/** The page that says of each rule of docs/protocol.md where it is and what proves it. */
export const RULES_PAGE = "docs/reference/rules.md";

/** A rule of docs/protocol.md, and what proves it. */
export interface ProvenRule {
  readonly number: number;
  readonly title: string;
  /** The sources that name the rule in a comment. */
  readonly files: readonly string[];
  readonly scenarios: readonly { readonly id: string; readonly name: string }[];
  /** What breaks where the rule is missing, and what must notice it. */
  readonly mutants: readonly { readonly breaks: string; readonly foundBy: readonly string[] }[];
}

/** A short course of events in which a promise would break without a rule. */
export interface Story {
  readonly number: number;
  readonly id: string;
  readonly text: string;
  readonly rules: readonly string[];
}

export function provenRules(): readonly ProvenRule[] {
  const headings = [...readFileSync("docs/protocol.md", "utf8").matchAll(/^### R(\d+) (.+)$/gm)];
  const sources = globSync(["worker/**/*.ts", "server/**/*.ts"])
    .sort()
    .map((path) => ({ path, text: readFileSync(path, "utf8") }));
  return headings.map(([, number, title]) => {
    const rule = `R${number}`;
    const named = new RegExp(`\\b${rule}\\b`);
    return {
      number: Number(number),
      title: title!,
      files: sources.filter(({ text }) => named.test(text)).map(({ path }) => path),
      scenarios: scenarios.filter(({ source }) => rulesIn(source).includes(rule)),
      mutants: mutants.filter((mutant) => mutant.rule === rule),
    };
  });
}

export function stories(): readonly Story[] {
  return scenarios
    .flatMap(({ id, name, source }) => {
      const [, number, text] = /^story (\d+): (.*)$/.exec(name) ?? [];
      const rules = rulesIn(source).filter((rule) => /^R\d+$/.test(rule));
      return number === undefined ? [] : [{ number: Number(number), id, text: text!, rules }];
    })
    .sort((a, b) => a.number - b.number);
}

export function rulesPage(): string {
  const told = stories().map(
    ({ number, id, text, rules }) => `| ${number} | ${rules.join(", ")} | ${text} | \`${id}\` |`,
  );
  return `${[
    INTRODUCTION,
    ...provenRules().map(section),
    STORIES,
    ["| | rules | what holds | scenario |", "| --- | --- | --- | --- |", ...told].join("\n"),
  ].join("\n\n")}\n`;
}

function section({ number, title, files, scenarios, mutants }: ProvenRule): string {
  const shown = scenarios.map(({ id, name }) => `| \`${id}\` | ${name.replace(/^story \d+: /, "")} |`);
  const wrong = mutants.map(({ breaks, foundBy }) => `- ${breaks}: ${foundBy.map(finder).join(", ")}`);
  const parts = [
    `## R${number} ${title}`,
    `Code that names it: ${files.map((path) => `\`${path}\``).join(", ")}.`,
    ...(shown.length > 0 ? [["| scenario | what it shows |", "| --- | --- |", ...shown].join("\n")] : []),
    `Mutants, and what must notice each:\n\n${wrong.join("\n")}`,
  ];
  return parts.join("\n\n");
}

function finder(name: string): string {
  return name === "simulation" ? "the random worlds" : `\`${name}\``;
}

const INTRODUCTION = `# Reference: the rules and their proof

For each rule of [the purge protocol](../protocol.md): the code that names it, the scenarios that show it, and its mutants.
A mutant is the wrong rule, in a sentence; the test behind it must fail under it. \`npm run docs\` makes this page from the sources,
\`test/scenarios\` and the files \`mutants.ts\`.`;

const STORIES = `## The stories

The courses of events from which the rules were found. In each a promise would break without its rules.`;
