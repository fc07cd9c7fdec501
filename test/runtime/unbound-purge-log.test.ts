import { readFileSync } from "node:fs";
import { Agent } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { bundleWorker, edgeEntry } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import { PURGE_LOG_TOML } from "../../wire/purge-log-binding.ts";
import { openApiDocument } from "../../worker/control/openapi.ts";
import type { ClientAnswer } from "../engine/engine.ts";
import { exchange } from "../engine/runtime/runtime-engine.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";

const origin = new ScriptedOrigin(() => Date.now());
const agent = new Agent({ keepAlive: false });
const logged: string[] = [];
let script: string;
let edge: EdgeRuntime;
let variables: Record<string, unknown>;

beforeAll(async () => {
  await origin.comeUp();
  script = await bundleWorker({
    ...edgeEntry("tidemark.config.ts"),
    contents: `
      import { createEdge } from "tidemark/worker";
      export { PurgeLog } from "tidemark/worker";
      const routes = [{ match: "/trusting", fields: { trust: ["x-app"] } }];
      const site = { origin: "https://${HOST}", hosts: ["${HOST}"], doors: { varnish: true }, routes };
      export default createEdge(site);`,
  });
  variables = {
    TIDEMARK_ORIGIN: origin.url, // one that is the site itself is valid only because this outranks it
    TIDEMARK_HOSTS: HOST,
    TIDEMARK_TOKEN: TOKEN,
    TIDEMARK_CLIENT_ADDRESS: "127.0.0.1",
  };
  edge = await startEdgeRuntime(
    { script, variables, purgeLog: false },
    { port: 0, onLine: (line) => logged.push(line) },
  );
});

afterAll(async () => {
  await edge?.stop();
  await origin.goDown();
});

function ask(path: string, method = "GET", fields: Record<string, string> = {}): Promise<ClientAnswer> {
  return exchange(edge.url, agent, { method, path, fields });
}

describe("a worker without the binding PURGE_LOG", () => {
  test("passes pages and stores none of them", async () => {
    const page = { fields: { "cache-control": "public, max-age=3600" }, body: "v1" };
    origin.reply("/about", page, { ...page, body: "v2" }, { ...page, body: "v3" });
    for (const body of ["v1", "v2", "v3"]) {
      const answer = await ask("/about");
      expect(answer).toMatchObject({ status: 200, body });
      expect(answer.fields["x-cache"]).toBe("BYPASS");
    }
    expect(origin.countOf("/about")).toBe(3);
  });

  test("also forwards visitors' bodies", async () => {
    origin.reply("/form", { status: 201, body: "made" });
    expect(await ask("/form", "POST")).toMatchObject({ status: 201, body: "made" });
  });

  test.each([
    ["GET", "/_tidemark/health"],
    ["GET", "/_tidemark/stats"],
    ["GET", "/_tidemark/openapi.json"],
    ["GET", "/_tidemark/purges"],
    ["GET", "/_tidemark/purges/1"],
    ["POST", "/_tidemark/purge"],
    ["PURGE", "/about"],
    ["BAN", "/about"],
  ])("answers %s %s with 503 and says why", async (method, path) => {
    const answer = await ask(path, method, { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" });
    expect(answer).toMatchObject({ status: 503, fields: { "cache-control": "no-store" } });
    expect(JSON.parse(answer.body)).toMatchObject({
      code: "unavailable",
      detail: expect.stringContaining("PURGE_LOG"),
    });
  });

  test("answers every call of the control plane with 503, as its description says", () => {
    const { paths } = openApiDocument() as { paths: Record<string, Record<string, { responses: object }>> };
    const calls = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => ({ call: `${method} ${path}`, responses })),
    );
    expect(calls.map(({ call }) => call)).toContain("get /health");
    const problem = { content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } } };
    for (const { call, responses } of calls) {
      expect({ call, responses }).toMatchObject({ call, responses: { 503: problem } });
    }
  });

  test("logs the lines that wrangler.toml lacks, once", async () => {
    const lines = PURGE_LOG_TOML.split("\n").filter((line) => line !== "");
    expect(logged.join("\n")).toContain(lines[0]);
    for (const line of lines) expect(logged.filter((each) => each.includes(line))).toHaveLength(1);
  });

  test("stores and purges once it is bound", async () => {
    origin.reply("/bound", { fields: { "cache-control": "public, max-age=3600" }, body: "v1" });
    await edge.reload({ script, variables });
    expect(await ask("/bound")).toMatchObject({ fields: { "x-cache": "MISS" } });
    expect(await ask("/bound")).toMatchObject({ fields: { "x-cache": "HIT" } });
    expect(await ask("/_tidemark/health")).toMatchObject({ status: 200 });
    expect(await ask("/bound", "PURGE", { authorization: `Bearer ${TOKEN}` })).toMatchObject({ status: 200 });
  });
});

test("the log of a worker names the fields that a route trusts", () => {
  expect(logged).toContainEqual(expect.stringContaining("The route /trusting sends x-app to the origin"));
});

test("a visitor's address is the platform's, or the variable's where there is no platform, and never a forged one", async () => {
  const given = { "cf-connecting-ip": "203.0.113.9" };
  for (const fields of [given, { ...given, "mf-cf-blob": JSON.stringify({ colo: "FRA" }) }]) {
    await ask("/whose", "POST", fields);
  }
  expect(origin.seen.slice(-2).map(({ fields }) => fields["x-forwarded-for"])).toEqual(["127.0.0.1", "203.0.113.9"]);
});

test("a worker whose service is not bound answers 503 and logs the lines that wrangler.toml lacks", {
  tags: ["deep"],
}, async () => {
  const lines: string[] = [];
  const unbound = await bundleWorker({
    ...edgeEntry("tidemark.config.ts"),
    contents: `
      import { createEdge } from "tidemark/worker";
      export { PurgeLog } from "tidemark/worker";
      export default createEdge({ origin: { service: "APP" }, hosts: ["${HOST}"] });`,
  });
  const worker = { script: unbound, variables: { TIDEMARK_TOKEN: TOKEN } };
  const alone = await startEdgeRuntime(worker, { port: 0, onLine: (line) => lines.push(line) });
  try {
    expect(await exchange(alone.url, agent, { path: "/about" })).toMatchObject({ status: 503 });
    expect(lines.join("\n")).toMatch(/origin\.service: "APP" is not a service binding .*add \[\[services\]\]/);
  } finally {
    await alone.stop();
  }
});

test("the project's own wrangler.toml has these lines", () => {
  expect(readFileSync("wrangler.toml", "utf8")).toContain(PURGE_LOG_TOML);
});
