import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../packed/installed-package.ts";

/** The suite behind cache-tests.fyi, as the npm registry has it. */
const PACKAGE = "http-cache-tests@0.4.5";
const CACHED = resolve("node_modules/.cache", PACKAGE.replace("@", "-"));
const CLIENT = fileURLToPath(new URL("./suite-client.ts", import.meta.url));

/** `optimal` tests what a cache may do, and `check` only asks how it behaves. */
export type SuiteKind = "required" | "optimal" | "check";

/** A test of the suite, as far as its grade depends on it. */
export interface SuiteTest {
  readonly id: string;
  /** `required` if absent. */
  readonly kind?: SuiteKind;
  readonly depends_on?: readonly string[];
}

/** `true`, or the kind of its failure and the words. */
export type SuiteResult = true | readonly [kind: string, words: string];

/**
 * What the suite says of a test, in the order of its own page: `not set up` means that an answer on the way to the test
 * was not the expected one, and `depends` that another test has to be met first.
 */
export type Grade = "met" | "not met" | "not set up" | "depends" | "for browsers";

/** The folder of the suite, fetched once; `null` if no registry answers. */
export async function fetchSuite(): Promise<string | null> {
  if (existsSync(CACHED)) return CACHED;
  const folder = mkdtempSync(join(tmpdir(), "tidemark-suite-"));
  try {
    // Its dependencies are for its pages, so the package alone is enough.
    const packed = await run("npm", ["pack", PACKAGE, "--json", "--fetch-retries=0"], { cwd: folder });
    if (packed.exit !== 0) return null;
    const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
    const unpacked = await run("tar", ["-xzf", filename], { cwd: folder });
    if (unpacked.exit !== 0) throw new Error(unpacked.stderr);
    rmSync(CACHED, { recursive: true, force: true });
    mkdirSync(resolve(CACHED, ".."), { recursive: true });
    renameSync(join(folder, "package"), CACHED);
    return CACHED;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The suite's own origin: it answers as a test says, and tells what it was asked. */
export class SuiteOrigin implements AsyncDisposable {
  readonly url: string;
  readonly #stop: () => Promise<void>;

  private constructor(url: string, stop: () => Promise<void>) {
    this.url = url;
    this.#stop = stop;
  }

  static async start(suite: string): Promise<SuiteOrigin> {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-suite-"));
    const settings = { protocol: "http", port: "0", pidfile: join(folder, "pid") };
    const child = spawn(process.execPath, [join(suite, "server/server.mjs")], {
      env: Object.fromEntries(Object.entries(settings).map(([name, value]) => [`npm_config_${name}`, value])),
      stdio: ["ignore", "pipe", "ignore"],
    });
    const ended = once(child, "close");
    const stop = async () => {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true });
    };
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    void ended.then(() => reject(new Error("the suite's origin has ended")));
    child.stdout.setEncoding("utf8").on("data", (said: string) => {
      const port = /^Listening on .*:(\d+)\/$/m.exec(said)?.[1];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    });
    try {
      return new SuiteOrigin(await promise, stop);
    } catch (cause) {
      await stop();
      throw cause;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }
}

/** What the suite found of one cache. */
export class SuiteReport {
  readonly tests: readonly SuiteTest[];
  readonly #results: Readonly<Record<string, SuiteResult>>;
  readonly #byId: ReadonlyMap<string, SuiteTest>;

  constructor(tests: readonly SuiteTest[], results: Readonly<Record<string, SuiteResult>>) {
    this.tests = tests;
    this.#results = results;
    this.#byId = new Map(tests.map((test) => [test.id, test]));
  }

  gradeOf(id: string): Grade {
    const result = this.#results[id];
    if (result === undefined) return "for browsers";
    const { depends_on = [] } = this.#byId.get(id)!;
    if (depends_on.some((other) => this.gradeOf(other) !== "met")) return "depends";
    if (result === true) return "met";
    return result[0] === "Assertion" ? "not met" : "not set up";
  }

  /** The grades of all tests of a kind. */
  grades(kind: SuiteKind): ReadonlyMap<string, Grade> {
    const ofKind = this.tests.filter((test) => (test.kind ?? "required") === kind);
    return new Map(ofKind.map(({ id }) => [id, this.gradeOf(id)]));
  }

  /** Why a test is not met, in the suite's words. */
  wordsOn(id: string): string {
    const result = this.#results[id];
    return Array.isArray(result) ? String(result[1]) : "";
  }

  /** A test and all those on which it depends. */
  withDependencies(id: string): readonly string[] {
    return [id, ...(this.#byId.get(id)!.depends_on ?? []).flatMap((other) => this.withDependencies(other))];
  }

  /** The report in which the results of the other one replace those of this one. */
  replacedBy(other: SuiteReport): SuiteReport {
    return new SuiteReport(this.tests, { ...this.#results, ...other.#results });
  }
}

/**
 * Runs the suite against a cache in front of its origin. It is played in real time: a test waits three seconds until a
 * response is stale, and a machine under load may answer too late. So tests that `isExpected` denies are tried again,
 * together with those on which they depend, fewer and fewer at a time.
 */
export async function runSuite(
  suite: string,
  cache: string,
  isExpected: (test: SuiteTest, grade: Grade) => boolean,
): Promise<SuiteReport> {
  let report = await runTests(suite, cache, TESTS_AT_A_TIME[0], []);
  for (const atATime of TESTS_AT_A_TIME.slice(1)) {
    const unexpected = report.tests.filter((test) => !isExpected(test, report.gradeOf(test.id)));
    if (unexpected.length === 0) break;
    const again = unexpected.flatMap(({ id }) => report.withDependencies(id));
    report = report.replacedBy(await runTests(suite, cache, atATime, [...new Set(again)]));
  }
  return report;
}

const TESTS_AT_A_TIME = [120, 20, 5] as const;

async function runTests(suite: string, cache: string, atATime: number, named: readonly string[]): Promise<SuiteReport> {
  const args = [CLIENT, suite, cache, String(atATime), ...named];
  const { exit, stdout, stderr } = await run(process.execPath, args, { cwd: suite });
  if (exit !== 0) throw new Error(`the suite failed: ${stderr}`);
  const { tests, results } = JSON.parse(stdout) as {
    readonly tests: readonly SuiteTest[];
    readonly results: Readonly<Record<string, SuiteResult>>;
  };
  return new SuiteReport(tests, results);
}
