import { Agent } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { bundleWorker } from "../../local/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime.ts";
import { ScriptedOrigin } from "../../local/scripted-origin.ts";
import { exchange } from "../engine/runtime-engine.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";

const agent = new Agent({ keepAlive: false });
const origin = new ScriptedOrigin(() => 0);
const lines: string[] = [];
let edge: EdgeRuntime;

beforeAll(async () => {
  await origin.comeUp();
  const variables = { SITE: { origin: origin.url, hosts: [HOST] }, TIDEMARK_TOKEN: TOKEN };
  const script = await bundleWorker("local/virtual-time.worker.ts");
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

describe("what the control plane says is for the one who asked", () => {
  test.each([
    { method: "GET", path: "/_tidemark/stats", fields: bearer, status: 200 },
    { method: "GET", path: "/_tidemark/stats", fields: {}, status: 401 },
    { method: "GET", path: "/_tidemark/health", fields: {}, status: 200 },
    { method: "GET", path: "/_tidemark/openapi.json", fields: {}, status: 200 },
    { method: "GET", path: "/_tidemark/nothing", fields: {}, status: 404 },
    { method: "GET", path: "/_tidemark/", fields: {}, status: 404 },
    { method: "PUT", path: "/_tidemark/purge", fields: bearer, status: 405 },
    { method: "POST", path: "/_tidemark/purge", fields: { ...bearer, ...json }, body: "{}", status: 400 },
    { method: "POST", path: "/_tidemark/purge", fields: { ...bearer, ...json }, body: '{"tags":["a"]}', status: 200 },
    { method: "PURGE", path: "/a", fields: bearer, status: 200 },
    { method: "PURGE", path: "/a", fields: {}, status: 401 },
    { method: "GET", path: "/a", fields: { "tidemark-refresh": "guess" }, status: 401 },
  ])(
    "$method $path, answered with $status, is kept by nobody and never reaches the origin",
    async ({ status, ...request }) => {
      const answer = await exchange(edge.url, agent, request);
      expect({ status: answer.status, kept: answer.fields["cache-control"] }).toEqual({ status, kept: "no-store" });
      expect(origin.seen.length).toBe(askedBefore);
    },
  );
});

describe("a token is good in its field alone", () => {
  test.each([
    ["in the query", `/_tidemark/stats?token=${TOKEN}&access_token=${TOKEN}`, {}],
    ["in a cookie", "/_tidemark/stats", { cookie: `tidemark=${TOKEN}` }],
    ["as a password", "/_tidemark/stats", { authorization: `Basic ${Buffer.from(`a:${TOKEN}`).toString("base64")}` }],
    ["beside another", "/_tidemark/stats", { authorization: `Bearer guess, Bearer ${TOKEN}` }],
  ])("%s it opens nothing", async (_, path, fields) => {
    expect((await exchange(edge.url, agent, { path, fields })).status).toBe(401);
  });

  test("no line of the log has it", async () => {
    origin.reply("/fails", { failure: "reset" });
    const answer = await exchange(edge.url, agent, {
      path: "/fails",
      fields: { ...bearer, "tidemark-refresh": TOKEN },
    });
    expect(answer.status).toBe(502);
    expect(lines.join("\n")).toContain("cannot be reached"); // control: lines come, and are read
    expect(lines.join("\n")).not.toContain(TOKEN);
  });
});

describe("a refresh asks nobody but the site's origin", () => {
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

test("wrong tokens are counted, and so is what credentials ask past the cache", async () => {
  const stats = async () =>
    JSON.parse((await exchange(edge.url, agent, { path: "/_tidemark/stats", fields: bearer })).body) as Record<
      string,
      number
    >;
  const before = await stats();
  await exchange(edge.url, agent, { path: "/_tidemark/stats", fields: { authorization: "Bearer guess" } });
  await exchange(edge.url, agent, { path: "/page", fields: { authorization: "Basic YTpi" } });
  const after = await stats();
  expect(after.tokensRefused).toBe(before.tokensRefused! + 1);
  expect(after.askedPastTheCache).toBe(before.askedPastTheCache! + 1);
});
