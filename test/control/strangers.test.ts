import { createHash } from "node:crypto";
import { Agent } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import type { ClientAnswer } from "../engine/engine.ts";
import { exchange } from "../engine/runtime/runtime-engine.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";
import { inGate } from "../suite/depth.ts";

const READ_TOKEN = "a-token-that-may-only-read-00000000";

/** The fields of every answer of the control plane, whatever the outcome of the call. */
const SAID = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
};

const agent = new Agent({ keepAlive: false });
const origin = new ScriptedOrigin(() => 0);
const lines: string[] = [];
let edge: EdgeRuntime;

beforeAll(async () => {
  await origin.comeUp();
  const sha256 = createHash("sha256").update(READ_TOKEN).digest("hex");
  const variables = {
    SITE: { origin: origin.url, hosts: [HOST] },
    TIDEMARK_TOKEN: TOKEN,
    TIDEMARK_TOKENS: JSON.stringify([{ name: "dashboard", scopes: ["read"], sha256 }]),
  };
  const script = await bundleWorker("local/runtime/virtual-time.worker.ts");
  edge = await startEdgeRuntime({ script, variables }, { port: 0, onLine: (line) => lines.push(line) });
});

afterAll(async () => {
  await edge.stop();
  await origin.goDown();
});

let askedBefore: number;
beforeEach(() => {
  askedBefore = origin.seen.length;
});

const bearer = { authorization: `Bearer ${TOKEN}` };
const json = { "content-type": "application/json" };

/** The fields of `SAID` as an answer has them. */
function saidBy({ fields }: ClientAnswer): Record<string, string | undefined> {
  return Object.fromEntries(Object.keys(SAID).map((name) => [name, fields[name]]));
}

describe("answers of the control plane are not stored or shared", () => {
  const purge = (body: string, fields = {}) => ({
    method: "POST",
    path: "/_tidemark/purge",
    fields: { ...bearer, ...json, ...fields },
    body,
  });
  test.each<{ path: string; status: number; method?: string; fields?: Record<string, string>; body?: string }>([
    ...["stats", "stats?scope=isolate", "metrics", "purges"].flatMap((place) => [
      { method: "GET", path: `/_tidemark/${place}`, fields: bearer, status: 200 },
      { method: "HEAD", path: `/_tidemark/${place}`, fields: bearer, status: 200 },
      { method: "GET", path: `/_tidemark/${place}`, status: 401 },
    ]),
    { method: "GET", path: "/_tidemark/health", status: 200 },
    { method: "GET", path: "/_tidemark/openapi.json", status: 200 },
    { method: "HEAD", path: "/_tidemark/openapi.json", status: 200 },
    { method: "GET", path: "/_tidemark/nothing", status: 404 },
    { method: "GET", path: "/_tidemark/", status: 404 },
    { method: "GET", path: "/_tidemark/health/", status: 404 },
    { method: "GET", path: "/_tidemark/he%61lth", status: 200 },
    { method: "GET", path: "/_tidemark/purges/1/2", fields: bearer, status: 404 },
    { method: "GET", path: "/_tidemark/purges?limit=1&limit=0", fields: bearer, status: 200 },
    { method: "GET", path: "/_tidemark/purges?limit=0", fields: bearer, status: 400 },
    { method: "GET", path: "/_tidemark/purges/999", fields: bearer, status: 404 },
    { method: "PUT", path: "/_tidemark/purge", fields: bearer, status: 405 },
    ...["purges", "purges/1", "stats", "metrics", "health", "openapi.json"].flatMap((place) =>
      ["POST", "OPTIONS"].map((method) => ({ method, path: `/_tidemark/${place}`, status: 405 })),
    ),
    { ...purge("{}"), status: 400 },
    { ...purge("{"), status: 400 },
    { ...purge('{"tags":["a"],"id":"one"}'), status: 200 },
    { ...purge('{"tags":["b"],"id":"one"}'), status: 409 },
    { method: "GET", path: "/_tidemark/purges/1", fields: bearer, status: 200 },
    { ...purge('{"tags":["a"]}', { authorization: `Bearer ${READ_TOKEN}` }), status: 403 },
    { ...purge("tags=a", { "content-type": "application/x-www-form-urlencoded" }), status: 415 },
    { ...purge(" ".repeat(4 * 1024 * 1024 + 1)), status: 413 },
    { method: "GET", path: `/_tidemark/${"x".repeat(17_000)}`, status: 414 },
    { method: "GET", path: "/%5Ftidemark/stats", fields: bearer, status: 400 },
    { method: "PURGE", path: "/a", fields: bearer, status: 200 },
    { method: "PURGE", path: "/a", status: 401 },
    { method: "PURGE", path: "/a%zz", fields: bearer, status: 400 },
    { method: "GET", path: "/a", fields: { "tidemark-refresh": "guess" }, status: 401 },
  ])(
    "$method $path, answered with $status, is neither stored, run nor framed, and never reaches the origin",
    async ({ status, ...request }) => {
      const answer = await exchange(edge.url, agent, request);
      expect({ status: answer.status, ...saidBy(answer) }).toEqual({ status, ...SAID });
      expect(origin.seen.length).toBe(askedBefore);
    },
  );

  test.each(
    inGate(1, [
      { name: "the log cannot be reached", variables: {}, isLogReachable: false, path: "purges", status: 503 },
      { name: "there is no token", variables: { TIDEMARK_TOKEN: "" }, path: "stats", status: 403 },
      { name: "the settings are not valid", variables: { TIDEMARK_ORIGIN: "no URL" }, path: "health", status: 503 },
    ]),
  )("so it is where $name", async ({ variables, isLogReachable = true, path, status }) => {
    const script = await bundleWorker("local/runtime/virtual-time.worker.ts");
    const usual = { SITE: { origin: origin.url, hosts: [HOST] }, TIDEMARK_TOKEN: TOKEN };
    const other = await startEdgeRuntime({ script, variables: { ...usual, ...variables } }, { port: 0 });
    const clockAndNetwork = { now: 0, clientMs: 0, originMs: 0, logMs: 0, isLogReachable, originNow: null };
    const body = JSON.stringify({ do: "set-clock-and-network", clockAndNetwork });
    await exchange(other.url, agent, { method: "POST", path: "/_virtual-time", body });
    const answer = await exchange(other.url, agent, { path: `/_tidemark/${path}`, fields: bearer });
    await other.stop();
    expect({ status: answer.status, ...saidBy(answer) }).toEqual({ status, ...SAID });
  });
});

describe("a token counts in the Authorization field only", () => {
  test.each([
    ["in the query", `/_tidemark/stats?token=${TOKEN}&access_token=${TOKEN}`, {}],
    ["in a cookie", "/_tidemark/stats", { cookie: `tidemark=${TOKEN}` }],
    ["as a password", "/_tidemark/stats", { authorization: `Basic ${Buffer.from(`a:${TOKEN}`).toString("base64")}` }],
    ["beside another", "/_tidemark/stats", { authorization: `Bearer guess, Bearer ${TOKEN}` }],
  ])("%s it opens nothing", async (_, path, fields) => {
    expect((await exchange(edge.url, agent, { path, fields })).status).toBe(401);
  });

  test("no line of the log contains a token", async () => {
    origin.reply("/fails", { failure: "reset" });
    const answer = await exchange(edge.url, agent, {
      path: "/fails",
      fields: { ...bearer, "tidemark-refresh": TOKEN },
    });
    expect(answer.status).toBe(502);
    await expect.poll(() => lines.join("\n")).toContain("cannot be reached"); // control: lines come, and are read
    expect(lines.join("\n")).not.toContain(TOKEN);
  });
});

describe("a refresh sends requests to the site's origin only", () => {
  test.each([
    "http://169.254.169.254/latest/meta-data/",
    "https://evil.example/",
    "//evil.example/",
    `https://${HOST}@evil.example/`,
    `https://evil.example\\@${HOST}/`,
    "file:///etc/passwd",
    "/..%2f..%2fetc",
  ])("%s", async (url) => {
    const body = JSON.stringify({ urls: [url], refresh: true });
    const answer = await exchange(edge.url, agent, {
      method: "POST",
      path: "/_tidemark/purge",
      fields: { ...bearer, ...json },
      body,
    });
    const seen = origin.seen.slice(askedBefore);
    // A path of two slashes is a path of the site, and is asked of its origin.
    if (url.startsWith("//")) expect(seen.map(({ target }) => target)).toEqual([url]);
    else expect({ status: answer.status, seen }).toEqual({ status: 400, seen: [] });
  });

  test("control: a page of the site is fetched", async () => {
    origin.reply("/page", { body: "v1" });
    const body = JSON.stringify({ urls: ["/page"], refresh: true });
    await exchange(edge.url, agent, { method: "POST", path: "/_tidemark/purge", fields: { ...bearer, ...json }, body });
    expect(origin.seen.slice(askedBefore).map(({ target }) => target)).toEqual(["/page"]);
  });
});

test("wrong tokens are counted, and so are requests that bypass the cache because of credentials", async () => {
  const stats = async () =>
    JSON.parse(
      (await exchange(edge.url, agent, { path: "/_tidemark/stats?scope=isolate", fields: bearer })).body,
    ) as Record<string, number>;
  const before = await stats();
  await exchange(edge.url, agent, { path: "/_tidemark/stats", fields: { authorization: "Bearer guess" } });
  await exchange(edge.url, agent, { path: "/page", fields: { authorization: "Basic YTpi" } });
  const after = await stats();
  expect(after.tokensRefused).toBe(before.tokensRefused! + 1);
  expect(after.askedPastTheCache).toBe(before.askedPastTheCache! + 1);
});
