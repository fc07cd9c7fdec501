import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const pages = ["README.md", ...readdirSync("docs").map((file) => `docs/${file}`)].filter((path) =>
  path.endsWith(".md"),
);

/** The calls of a command that the pages show in blocks for a shell, without the comments behind them. */
const calls = pages.flatMap((page) =>
  [...readFileSync(page, "utf8").matchAll(/^```(?:sh|console)\n([\s\S]*?)^```$/gm)]
    .flatMap(([, code]) => [...code!.matchAll(/\btidemark (purges?|report|replay|audit|crawl|warm) ([^#|\n]*)/g)])
    .map(([call, command, rest]) => ({ page, call, command: command!, flags: rest!.match(/--[\w-]+/g) ?? [] })),
);

test("the flags of commands in the pages exist", () => {
  const help = Object.fromEntries(
    ["purge", "purges", "report", "replay", "audit", "crawl", "warm"].map((command) => {
      const { stdout } = spawnSync(process.execPath, ["cli/main.ts", command, "--help"], { encoding: "utf8" });
      return [command, [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag!)];
    }),
  );
  expect(help.purge).toContain("--refresh");
  expect(help.report).toContain("--html");
  expect(help.crawl).toContain("--chart");
  expect(calls.length).toBeGreaterThan(5);
  expect(calls.filter(({ command, flags }) => flags.some((flag) => !help[command]!.includes(flag)))).toEqual([]);
});
