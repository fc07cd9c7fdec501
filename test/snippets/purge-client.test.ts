import { execFile, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accepts, type FakeEdge, refuses, startFakeEdge } from "../sdk/fake-edge.ts";
import { BlockFolder, clientBlocks } from "./client-blocks.ts";

const blocks = clientBlocks();
const folder = new BlockFolder();

/** What the reader's own application gives the blocks. */
const APP = `
const held = [{ id: 1, title: "Lanterns" }, { id: 2, title: "Harbour" }];
export const log: string[] = [];
export const database = {
  async transaction<T>(work: (tx: object) => Promise<T>): Promise<T> {
    const value = await work({});
    log.push("committed");
    return value;
  },
};
export const songs = {
  all: () => held,
  async save(_tx: object, row: { id: number; title: string }) {
    log.push(\`saved \${row.id}\`);
    if (row.title === "") throw new Error("a song has a title");
  },
};
export const page = { tags: "song:1,songs" };
export const pageOfSongs = async () =>
  new Response("<li>Lanterns", { headers: page.tags === "" ? {} : { "Cache-Tag": page.tags } });
`;

let app: string;
let edge: FakeEdge;

beforeAll(async () => {
  app = folder.write("app.ts", APP);
  edge = await startFakeEdge(accepts);
  process.env.TIDEMARK_ENDPOINT = edge.endpoint;
  process.env.TIDEMARK_TOKEN = "a-token";
});

afterAll(async () => {
  delete process.env.TIDEMARK_ENDPOINT;
  delete process.env.TIDEMARK_TOKEN;
  await edge[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Runs a block of the page, which has this text in it and in no other block. */
async function load(name: string, mark: string, change = (code: string) => code): Promise<Record<string, never>> {
  const [block, ...others] = blocks.filter(
    ({ name, code }) => name.startsWith("docs/purging.md") && code.includes(mark),
  );
  expect(others).toEqual([]);
  return (await import(folder.write(name, change(block!.code)))) as Record<string, never>;
}

test("the example of a batch purges after the commit, and not at all after an error", async () => {
  const { importSongs } = (await load("batch.ts", "importSongs")) as unknown as {
    importSongs(rows: object[]): Promise<{ seq: number } | null>;
  };
  const { log } = (await import(app)) as { log: string[] };
  const sentBefore = edge.requests.length;

  await expect(
    importSongs([
      { id: 1, title: "a" },
      { id: 2, title: "" },
    ]),
  ).rejects.toThrow("a song has a title");
  expect(edge.requests).toHaveLength(sentBefore);
  await expect(
    importSongs([
      { id: 1, title: "a" },
      { id: 2, title: "b" },
    ]),
  ).resolves.toMatchObject({ seq: 7 });

  expect(log).toEqual(["saved 1", "saved 2", "saved 1", "saved 2", "committed"]);
  expect(edge.requests.slice(sentBefore).map(({ body }) => body)).toEqual([
    { id: expect.any(String), tags: ["song:1", "songs", "song:2"], urls: ["/songs/1", "/songs/2"], reason: "import" },
  ]);
});

test("the example of a vocabulary tags a page and purges it", async () => {
  const { pageOfSong, songChanged } = (await load("tags.ts", "defineTags")) as unknown as {
    pageOfSong(id: number, html: string): Response;
    songChanged(id: number): Promise<void>;
  };

  await songChanged(42);

  expect(pageOfSong(42, "").headers.get("cache-tag")).toBe("song:42,songs");
  expect(edge.requests.at(-1)?.body).toMatchObject({ tags: ["song:42"] });
});

test("the example of a test passes on a page with its tags, and fails on one without, or without records", async () => {
  const { page } = (await import(app)) as { page: { tags: string } };

  await load("tagged.ts", "findUntagged");
  page.tags = "songs";
  await expect(load("untagged.ts", "findUntagged")).rejects.toThrow(/deep-equal/);
  page.tags = "";
  await expect(
    load("empty.ts", "findUntagged", (code) => code.replace("song.title", '"no such title"')),
  ).rejects.toThrow();
});

test("the example of several edges waits for all of them, and names the one that fails", async () => {
  const settled = { json: { ...(accepts.json as object), settlesInMs: 0 } };
  await using com = await startFakeEdge(settled);
  await using org = await startFakeEdge(settled, refuses("forbidden"));
  process.env.TOKEN_COM = "token-of-com";
  process.env.TOKEN_ORG = "token-of-org";
  const { songChanged } = (await load("edges.ts", "endpoints: [", (code) =>
    code
      .replace("https://www.example.com", com.endpoint)
      .replace("https://www.example.org", org.endpoint)
      .replace("console.error(", "globalThis.told.push("),
  )) as unknown as { songChanged(id: number, attempt: string): Promise<void> };
  const told: unknown[] = [];
  Object.assign(globalThis, { told });

  await songChanged(42, "first");
  await expect(songChanged(42, "second")).rejects.toMatchObject({ code: "forbidden" });

  expect(told).toEqual([org.endpoint, expect.stringContaining("(403)")]);
  expect(org.requests.map(({ headers, body }) => [headers.authorization, body.id])).toEqual([
    ["Bearer token-of-org", "first"],
    ["Bearer token-of-org", "second"],
  ]);
});

/** A backend that is traced with OpenTelemetry. It has a process of its own, because the example stays subscribed. */
const TRACED_BACKEND = `
import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { createPurger } from "tidemark";
import "./opentelemetry.ts";

const exporter = new InMemorySpanExporter();
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
// The propagator of W3C Trace Context, as far as inject goes: OpenTelemetry has its own in a package of its own.
propagation.setGlobalPropagator({
  inject(active, carrier, { set }) {
    const span = trace.getSpanContext(active);
    if (span) set(carrier, "traceparent", \`00-\${span.traceId}-\${span.spanId}-0\${span.traceFlags}\`);
  },
  extract: (active) => active,
  fields: () => ["traceparent"],
});

const cdn = createPurger();
await trace.getTracer("backend").startActiveSpan("POST /songs/42", async (span) => {
  await cdn.purgeTags("song:42", { id: "once" });
  span.end();
});
await cdn.purgeTags("song:42", { id: "refused" }).catch(() => {});
const spans = exporter.getFinishedSpans().map((span) => ({
  name: span.name,
  is: span.attributes["http.response.status_code"] ?? span.attributes["tidemark.id"],
  status: span.status.code,
  id: span.spanContext().spanId,
  traceId: span.spanContext().traceId,
  parent: span.parentSpanContext?.spanId,
}));
console.log(JSON.stringify(spans));
`;

test("the example of OpenTelemetry makes a span of each purge and each request, in one trace that the edge is told", {
  tags: ["gate"],
}, async () => {
  await using down = await startFakeEdge(refuses("unavailable"), accepts, refuses("invalid"));
  folder.write("opentelemetry.ts", blocks.find(({ code }) => code.includes("@opentelemetry/api"))!.code);
  const backend = fileURLToPath(folder.write("traced-backend.ts", TRACED_BACKEND));
  const env = { ...process.env, TIDEMARK_ENDPOINT: down.endpoint, TIDEMARK_TOKEN: "a-token" };

  const { stdout } = await promisify(execFile)(process.execPath, [backend], { env });

  const spans = JSON.parse(stdout) as {
    name: string;
    is: unknown;
    status: number;
    id: string;
    traceId: string;
    parent?: string;
  }[];
  expect(spans.map(({ name, is, status }) => [name, is, status])).toEqual([
    ["POST", 503, 2],
    ["POST", 200, 0],
    ["purge", "once", 0],
    ["POST /songs/42", undefined, 0],
    ["POST", 400, 2],
    ["purge", "refused", 2],
  ]);
  const [first, second, purge, request] = spans;
  expect([first, second, purge].map((span) => span?.parent)).toEqual([purge?.id, purge?.id, request?.id]);
  expect(down.requests.slice(0, 2).map(({ headers }) => headers.traceparent)).toEqual(
    [first, second].map((span) => `00-${request!.traceId}-${span!.id}-01`),
  );
});

test("every block of every page that uses the purge client has no type error, and a wrong one would be found", {
  tags: ["deep"],
}, () => {
  expect(blocks.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["docs/purging.md, block 1", "docs/testing.md, block 1"]),
  );
  const names = blocks.map(({ code }, index) => {
    folder.write(`block-${index}.ts`, `${code}\nexport {};\n`);
    return `block-${index}.ts`;
  });
  folder.write("wrong.ts", `import { createPurger } from "tidemark";\ncreatePurger().purgeTag("a");\n`);
  // The reader's own names, and the frameworks that are not installed here.
  folder.write(
    "readers.d.ts",
    [
      "declare const songs: any, database: any;",
      "declare function page(of: any): string;",
      'declare module "express" { const express: any; export default express; }',
    ].join("\n"),
  );
  const compilerOptions = { noImplicitAny: false, noUnusedLocals: false, lib: ["es2024", "dom", "esnext.disposable"] };
  folder.write(
    "tsconfig.json",
    JSON.stringify({
      extends: "../../tsconfig.json",
      compilerOptions,
      include: ["block-*.ts", "wrong.ts", "readers.d.ts"],
    }),
  );

  const { stdout } = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", folder.path], {
    encoding: "utf8",
  });

  const errors = stdout.split("\n").filter((line) => line.includes("error TS"));
  const ofBlock = errors.map((line) =>
    line.replace(/block-(\d+)\.ts/, (_, index) => `${blocks[Number(index)]!.name} `),
  );
  expect(ofBlock.filter((line) => !line.includes("wrong.ts"))).toEqual([]);
  expect(errors.join()).toMatch(/wrong\.ts.*'purgeTag' does not exist/);
  expect(names.length).toBeGreaterThan(9);
});
