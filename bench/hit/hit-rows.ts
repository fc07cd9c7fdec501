import type { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import { BenchFailure } from "../frame/bench-failure.ts";
import { rawRequest, requestUntilHit } from "../load/raw-request.ts";
import { type BenchWorker, bundleBenchWorker } from "../workers/bundle.ts";
import { assertSameAnswer } from "./same-answer.ts";

/** The page that every row serves. */
const PAGE = "/page";
/** The prefix of the paths of further pages. */
export const FILES = "/files/";
const TOKEN = "bench-token-0123456789-abcdefghij";

/** One worker under load, in a runtime of its own. */
export interface Row {
  readonly name: string;
  /** The page's address on the runtime's own socket. */
  readonly page: URL;
  readonly runtime: EdgeRuntime;
}

/**
 * The names of the rows for comparison: a constant, a hand-written worker, and the same worker with an added field in
 * each answer.
 */
export const CONSTANT = "constant responder";
export const USUAL = "caches.default worker";
export const NAMED = "the same, with X-Cache";

/** The rows to measure, in the order of the table. */
export interface HitRows {
  readonly all: readonly Row[];
  stop(): Promise<void>;
}

/** Starts all rows with the page stored, and checks that each does what its name says. */
export async function startHitRows(origin: ScriptedOrigin, body: string): Promise<HitRows> {
  const reply = {
    fields: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "public, max-age=86400",
      date: new Date().toUTCString(), // the same for all rows
      etag: '"bench"',
      "last-modified": "Thu, 01 Jan 2026 12:00:00 GMT",
      "cache-tag": "page, bench",
    },
    body,
  };
  origin.reply(PAGE, reply);
  origin.setDefaultReply(reply);
  const rows: Row[] = [];
  const start = async (name: string, worker: BenchWorker, variables: Record<string, unknown>): Promise<Row> => {
    const script = await bundleBenchWorker(worker);
    const purgeLog = worker === "edge";
    const options = { port: 0, onLine: (line: string) => console.error(line) };
    const runtime = await startEdgeRuntime({ script, variables, purgeLog }, options);
    const row = { name, page: new URL(PAGE, runtime.url), runtime };
    rows.push(row);
    return row;
  };
  const stop = async () => {
    await Promise.all(rows.map(({ runtime }) => runtime.stop()));
  };
  try {
    const memory = await start("memory hit", "edge", edgeVariables(origin, {}));
    const memoryHit = await requestUntilHit(memory.name, memory.page);
    // The memory tier has no room, so every hit comes from the Cache API.
    const limits = { memoryBytes: 0 };
    const cacheApi = await start("Cache API hit", "edge", edgeVariables(origin, { limits }));
    assertSameAnswer(cacheApi.name, memoryHit, await requestUntilHit(cacheApi.name, cacheApi.page));
    await assertMemoryEntries(memory, 1);
    await assertMemoryEntries(cacheApi, 0);
    const fields = memoryHit.fields.filter(([name]) => name !== "content-length"); // the runtime sets it itself
    const answer = { FIELDS: fields, BODY: body };
    const constant = await start(CONSTANT, "constant", answer);
    const reading = await start("the same, having read the request", "reading", answer);
    assertSameAnswer(constant.name, await rawRequest(memory.page), await rawRequest(constant.page));
    const usual = await start(USUAL, "default-cache", { ORIGIN: origin.url, NAMES_HITS: false });
    const named = await start(NAMED, "default-cache", { ORIGIN: origin.url, NAMES_HITS: true });
    for (const { page } of [usual, named]) await rawRequest(page);
    return { all: [constant, reading, memory, cacheApi, usual, named], stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
}

/** How often the page was requested from the origin. Measuring hits must not increase it. */
export function pagesFetched(origin: ScriptedOrigin): number {
  return origin.seen.filter(({ target }) => target === PAGE || target.startsWith(FILES)).length;
}

function edgeVariables(origin: ScriptedOrigin, site: Partial<SiteInput>): Record<string, unknown> {
  return { SITE: { origin: origin.url, ...site }, TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN };
}

async function assertMemoryEntries({ name, runtime }: Row, expected: number): Promise<void> {
  const fields = { authorization: `Bearer ${TOKEN}` };
  const answer = await rawRequest(new URL("/_tidemark/stats?scope=isolate", runtime.url), { fields });
  const { memory } = JSON.parse(answer.body) as { memory: { entries: number } };
  if (memory.entries !== expected) {
    throw new BenchFailure(`${name}: the memory tier holds ${memory.entries} pages, not ${expected}.`);
  }
}
