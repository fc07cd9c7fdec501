import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, InvalidArgumentError, Option } from "commander";
import { BenchFailure } from "./bench-failure.ts";
import { thisMachine } from "./machine.ts";
import { isInstalled, type Program, versionOf } from "./programs.ts";

/** One measurement, which `npm run bench -- NAME` runs. */
export interface Case<Options extends object> {
  readonly name: string;
  readonly description: string;
  readonly options: readonly Option[];
  /** The programs that it needs. */
  readonly needs: readonly Program[];
  /** The programs without which it leaves rows out. */
  readonly uses?: readonly Program[];
  /** Prints each table as soon as its rows are measured. */
  measure(options: Options): Promise<Outcome>;
}

export interface Outcome {
  /** The results as JSON. */
  readonly results: object;
  /**
   * Why the figures must not be used, or which bound they exceed: a sentence each. The bench then ends with an error.
   */
  readonly failures: readonly string[];
}

const RESULTS = fileURLToPath(new URL("../results", import.meta.url));

/** The command of a case: it prints the machine, measures, writes the results, and fails if the case did. */
export function commandOf({ name, description, options, needs, uses = [], measure }: Case<object>): Command {
  const command = new Command(name).description(description);
  for (const option of options) command.addOption(option);
  command.option("--json <file>", `where the results go (default: bench/results/${name}-<date>.json)`);
  return command.action(async ({ json, ...settings }: { readonly json?: string }) => {
    const missing = needs.filter((program) => !isInstalled(program));
    if (missing.length > 0) throw new BenchFailure(`${name} needs ${withPackages(missing)}`);
    const machine = thisMachine();
    const { cpu, cores, system, node, workerd, loadBefore } = machine;
    const left = uses.filter((program) => !isInstalled(program));
    const programs = [...new Set([...needs, ...uses])].filter((program) => !left.includes(program));
    const versions = Object.fromEntries(programs.map((each) => [nameOf(each), versionOf(each)]));
    const found = Object.entries({ Node: node, workerd, ...versions }).map((each) => each.join(" "));
    console.log(`${cpu}, ${cores} cores that the load shares, load ${loadBefore} before; ${system}`);
    console.log(`${found.join(", ")}; ${name}: ${JSON.stringify(settings)}`);
    if (left.length > 0) console.log(`Left out are the rows that need ${withPackages(left)}`);
    const { results, failures } = await measure(settings);
    write(name, { machine, versions, settings, failures, ...results }, json);
    if (failures.length > 0) throw new BenchFailure(failures.join("\n"));
  });
}

/** The names of programs, and how to install them. */
function withPackages(programs: readonly Program[]): string {
  const packages = programs.map((each) => each.package).join(" ");
  return `${programs.map(nameOf).join(" and ")}. On Debian: apt-get install ${packages}`;
}

function nameOf(wanted: Program): string {
  return wanted.program ?? wanted.package;
}

function write(name: string, results: object, file: string | undefined): void {
  const at = new Date().toISOString();
  const path = file ?? join(RESULTS, `${name}-${at.slice(0, 19).replaceAll(":", "")}Z.json`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ bench: name, at, ...results }, null, 2)}\n`);
  console.log(`\nwritten to ${relative(process.cwd(), path)}`);
}

/** An option that is a whole number, 1 or more: `count("--rounds", "how many turns each row has", 10)`. */
export function count(flag: string, description: string, usual?: number): Option {
  return new Option(`${flag} <n>`, description).argParser(positive).default(usual);
}

/** An option that chooses among names by words, separated by commas. Without it, all are chosen. */
export function words(flag: string, description: string): Option {
  return new Option(`${flag} <words>`, description);
}

/** Those whose names have one of the words of such an option. Throws if no name has one of the words. */
export function chosenBy<T extends { readonly name: string }>(chosen: string | undefined, all: readonly T[]): T[] {
  const wanted = chosen?.split(",").map((word) => word.trim().toLowerCase()) ?? [""];
  const have = (word: string) => all.filter(({ name }) => name.toLowerCase().includes(word));
  const unknown = wanted.find((word) => have(word).length === 0);
  if (unknown !== undefined) {
    const names = all.map(({ name }) => JSON.stringify(name)).join(", ");
    throw new BenchFailure(`No name has ${JSON.stringify(unknown)}. There are ${names}.`);
  }
  const found = new Set(wanted.flatMap(have));
  return all.filter((each) => found.has(each));
}

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("It must be a whole number, 1 or more.");
  return value;
}
