/**
 * Runs the public suite's own client against a cache: `node suite-client.ts <suite's folder> <base URL> <tests at a time>
 * [test …]`. It is a process of its own because the suite keeps its results in its modules. It prints all tests and the
 * results as JSON.
 */
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import type { SuiteResult, SuiteTest } from "./public-suite.ts";

interface Group {
  readonly tests: readonly SuiteTest[];
}

interface Runner {
  runTests(
    groups: readonly Group[],
    fetch: SuiteFetch,
    isBrowser: boolean,
    base: string,
    atATime: number,
  ): Promise<void>;
  getResults(): Readonly<Record<string, SuiteResult>>;
}

/** What the suite asks of `fetch`. */
type SuiteFetch = (url: string, init?: SuiteRequest) => Promise<SuiteResponse>;

interface SuiteRequest {
  readonly method?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string;
}

interface SuiteResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  text(): Promise<string>;
}

const [suite = "", base = "", atATime = "", ...named] = process.argv.slice(2);
const load = (file: string): Promise<unknown> => import(new URL(file, pathToFileURL(`${suite}/`)).href);
const { runTests, getResults } = (await load("client/runner.mjs")) as Runner;
const all = [
  ...((await load("tests/index.mjs")) as { default: readonly Group[] }).default,
  ((await load("tests/surrogate-control.mjs")) as { default: Group }).default,
];
const groups = all.map(({ tests, ...group }) => ({
  ...group,
  tests: tests.filter(({ id }) => named.length === 0 || named.includes(id)),
}));

await runTests(groups, plainFetch, false, base, Number(atATime));
const tests = all.flatMap((group) => group.tests).map(({ id, kind, depends_on }) => ({ id, kind, depends_on }));
process.stdout.write(JSON.stringify({ tests, results: getResults() }));

/** Sends what the test says and nothing more: `fetch` would add fields, decode bodies and follow redirects. */
async function plainFetch(
  url: string,
  { method = "GET", headers = [], body }: SuiteRequest = {},
): Promise<SuiteResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<SuiteResponse>();
  const fields = new Map<string, string[]>();
  for (const [name, value] of headers) fields.set(name, [...(fields.get(name) ?? []), value]);
  // Node sends the body of a DELETE without its length unless it is told.
  if (body !== undefined) fields.set("Content-Length", [String(Buffer.byteLength(body))]);
  const asked = request(url, { method, agent: false, headers: { Accept: "*/*", ...Object.fromEntries(fields) } });
  asked.on("response", (answer) => {
    const pairs = answer.rawHeaders.flatMap((name, at, raw): [string, string][] =>
      at % 2 === 0 ? [[name, raw[at + 1]!]] : [],
    );
    const body = text(answer);
    body.catch(() => undefined); // it is the reader's to see
    resolve({
      status: answer.statusCode!,
      statusText: answer.statusMessage!,
      headers: new Headers(pairs),
      text: () => body,
    });
  });
  asked.on("error", reject);
  asked.end(body);
  return promise;
}
