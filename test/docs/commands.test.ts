import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createProgram } from "../../cli/program.ts";
import { tidemark } from "../cli/run-command.ts";

const names = createProgram().commands.map((command) => command.name());

const inDocs = readdirSync("docs", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".md"));

/** A call that goes on in the next line is one line. */
const pages = ["README.md", "CONTRIBUTING.md", ...inDocs.map((file) => `docs/${file}`)].map((page) => ({
  page,
  text: readFileSync(page, "utf8").replaceAll("\\\n", " "),
}));

/** The calls of a command that the pages show, in blocks and in sentences, without the comments behind them. */
const calls = pages.flatMap(({ page, text }) =>
  [...text.matchAll(/\btidemark ([a-z]+)\b([^#|&`\n]*)/g)]
    .filter(([, command]) => names.includes(command!))
    .map(([call, command, rest]) => ({ page, call, command: command!, flags: rest!.match(/--[\w-]+/g) ?? [] })),
);

test("the commands that the pages call exist", () => {
  const called = pages.flatMap(({ page, text }) =>
    [...text.matchAll(/\bnpx (?:--no )?tidemark ([a-z]+)/g)].map(([, command]) => ({ page, command: command! })),
  );
  expect(called.length).toBeGreaterThan(20);
  expect(called.filter(({ command }) => !names.includes(command))).toEqual([]);
});

test("the flags of commands in the pages exist", async () => {
  const withFlags = calls.filter(({ flags }) => flags.length > 0);
  const withHelp = [...new Set(withFlags.map(({ command }) => command))];
  const help = new Map(await Promise.all(withHelp.map(async (command) => [command, await flagsOf(command)] as const)));
  expect([...help.keys()]).toEqual(expect.arrayContaining(["serve", "stats", "purge", "crawl"]));
  expect(help.get("purge")).toContain("--refresh");
  expect(help.get("serve")).toContain("--listen-tls");
  const unknown = withFlags.filter(({ command, flags }) => flags.some((flag) => !help.get(command)!.includes(flag)));
  expect(unknown).toEqual([]);
});

/** As its help lists them. */
async function flagsOf(command: string): Promise<readonly string[]> {
  const { stdout } = await tidemark({ args: [command, "--help"] });
  return [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag!);
}
