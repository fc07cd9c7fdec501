import { createHash } from "node:crypto";
import { Agent } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import type { Problem } from "../../wire/problem.ts";
import { problemSchema } from "../../wire/problem-schema.ts";
import { purgeReceiptSchema } from "../../wire/purge-receipt.ts";
import { purgeRecordPageSchema, purgeRecordSchema } from "../../wire/purge-record.ts";
import { statsSchema } from "../../wire/stats-schema.ts";
import type { ClientAnswer } from "../engine/engine.ts";
import { exchange } from "../engine/runtime/runtime-engine.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";

const READ_TOKEN = "a-token-that-may-only-read-00000000";

const PURGE_TOKEN = "a-token-that-may-only-purge-0000000";

/** A token may be of any visible characters. */
const ODD_TOKEN = "p@ss!w0rd_with{odd}characters,0000";

const agent = new Agent({ keepAlive: false });
const origin = new ScriptedOrigin(() => 0);
let edge: EdgeRuntime;

beforeAll(async () => {
  await origin.comeUp();
  const sha256 = (token: string) => createHash("sha256").update(token).digest("hex");
  const variables = {
    SITE: { origin: origin.url, hosts: [HOST] },
    TIDEMARK_TOKEN: TOKEN,
    TIDEMARK_TOKENS: JSON.stringify([
      { name: "dashboard", scopes: ["read"], sha256: sha256(READ_TOKEN) },
      { name: "shop", scopes: ["purge"], sha256: sha256(PURGE_TOKEN) },
    ]),
  };
  edge = await startEdgeRuntime(
    { script: await bundleWorker("local/runtime/virtual-time.worker.ts"), variables },
    { port: 0 },
  );
  await call({ body: { tags: ["of-the-mode"], id: "of-the-mode" } });
});

afterAll(async () => {
  await edge.stop();
  await origin.goDown();
});

interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly token?: string | null;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

function call({ method = "POST", path = "purge", token = TOKEN, fields = {}, body }: Call): Promise<ClientAnswer> {
  const isReady = body === undefined || typeof body === "string" || body instanceof Uint8Array;
  const sent = isReady ? body : JSON.stringify(body);
  return exchange(edge.url, agent, {
    method,
    path: `/_tidemark/${path}`,
    fields: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(sent === undefined ? {} : { "content-type": "application/json" }),
      ...fields,
    },
    ...(sent === undefined ? {} : { body: sent }),
  });
}

const refusals: readonly (Call & {
  readonly name: string;
  readonly status: number;
  readonly code: string;
  readonly detail?: RegExp;
  readonly errors?: readonly { path: string; message: RegExp }[];
  readonly answerFields?: Readonly<Record<string, string>>;
})[] = [
  { name: "no token", token: null, body: { everything: true }, status: 401, code: "unauthorized" },
  { name: "a wrong token", token: "wrong", body: { everything: true }, status: 401, code: "unauthorized" },
  { name: "a token without the scope", token: READ_TOKEN, body: { everything: true }, status: 403, code: "forbidden" },
  { name: "a body that is not JSON", body: "{urls: [", status: 400, code: "invalid" },
  {
    name: "a name that stands twice, of which the first would be left",
    body: '{"urls": ["/about"], "u\\u0072ls": ["/"]}',
    status: 400,
    code: "invalid",
    detail: /"u\\u0072ls" stands twice/,
  },
  {
    name: "a body in Latin-1, which would purge another path",
    body: Buffer.from('{"urls":["/café"]}', "latin1"),
    status: 400,
    code: "invalid",
    detail: /in UTF-8/,
  },
  {
    name: "a body that ends inside a character",
    body: Buffer.from([0x22, 0xc3]),
    status: 400,
    code: "invalid",
    detail: /in UTF-8/,
  },
  { name: "no body", fields: { "content-type": "application/json" }, status: 400, code: "invalid" },
  {
    name: "a form",
    body: "a=1",
    fields: { "content-type": "application/x-www-form-urlencoded" },
    status: 415,
    code: "unsupported-media-type",
  },
  { name: "a list instead of an object", body: [], status: 400, code: "invalid" },
  {
    name: "a purge without items",
    body: {},
    status: 400,
    code: "invalid",
    errors: [{ path: "", message: /name what to purge/ }],
  },
  {
    name: "an empty list",
    body: { tags: [] },
    status: 400,
    code: "invalid",
    errors: [{ path: "tags", message: /at least one tag/ }],
  },
  {
    name: "a misspelt field",
    body: { url: ["/a"] },
    status: 400,
    code: "invalid",
    errors: [{ path: "url", message: /unknown field url; known are urls, tags, prefixes, hosts, / }],
  },
  {
    name: "several prefixes and hosts that are not valid, each of them reported",
    body: { prefixes: ["/", "/shop/*", "//", "/a%zz", "elsewhere.example/a"], hosts: ["a/b", "", "elsewhere.example"] },
    status: 400,
    code: "invalid",
    errors: [{ path: "hosts[1]", message: /cannot be empty/ }],
  },
  {
    name: "prefixes and hosts that the site does not have",
    body: { prefixes: ["/", "/shop/*", "/a%zz", "elsewhere.example/a"], hosts: ["a/b", "elsewhere.example"] },
    status: 400,
    code: "invalid",
    errors: [
      { path: "prefixes[0]", message: /names no path segment/ },
      { path: "prefixes[1]", message: /like prefixes: \["\/shop"\]/ },
      { path: "prefixes[2]", message: /without two hexadecimal digits/ },
      { path: "prefixes[3]", message: /elsewhere\.example is not a host of this site/ },
      { path: "hosts[0]", message: /without scheme and path/ },
      { path: "hosts[1]", message: /elsewhere\.example is not a host of this site/ },
    ],
  },
  {
    name: "an unknown mode",
    body: { tags: ["a"], mode: "invalidate" },
    status: 400,
    code: "invalid",
    errors: [{ path: "mode", message: /"hard" or "soft"/ }],
  },
  {
    name: "the same id in another mode",
    body: { tags: ["of-the-mode"], id: "of-the-mode", mode: "soft" },
    status: 409,
    code: "conflict",
    detail: /in another mode/,
  },
  {
    name: "a tag with a space",
    body: { tags: ["a", "b c"] },
    status: 400,
    code: "invalid",
    errors: [{ path: "tags[1]", message: /without spaces/ }],
  },
  {
    name: "a tag that is too long",
    body: { tags: ["x".repeat(257)] },
    status: 400,
    code: "invalid",
    errors: [{ path: "tags[0]", message: /256 bytes/ }],
  },
  {
    name: "a URL that is not valid",
    body: { urls: ["about"] },
    status: 400,
    code: "invalid",
    errors: [{ path: "urls[0]", message: /starts with \// }],
  },
  {
    name: "a URL of another site",
    body: { urls: ["/a", "https://elsewhere.example/a"] },
    status: 400,
    code: "invalid",
    errors: [{ path: "urls[1]", message: /elsewhere\.example is not a host of this site/ }],
  },
  {
    name: "a URL with a wildcard",
    body: { urls: ["/blog/a/*", "/*", `https://${HOST}/a*`, "/search?q=*"] },
    status: 400,
    code: "invalid",
    errors: [
      {
        path: "urls[0]",
        message: /a \* is not a wildcard; .* like prefixes: \["\/blog\/a"\], or tags, or write %2A /,
      },
      {
        path: "urls[1]",
        message: /a \* is not a wildcard; .* like prefixes: \["\/blog"\], or tags, or write %2A /,
      },
      { path: "urls[2]", message: /a \* is not a wildcard/ },
    ],
  },
  {
    name: "a URL that the edge would refuse",
    body: { urls: ["/a%zz"] },
    status: 400,
    code: "invalid",
    errors: [{ path: "urls[0]", message: /without two hexadecimal digits/ }],
  },
  {
    name: "everything together with items",
    body: { everything: true, tags: ["a"] },
    status: 400,
    code: "invalid",
    errors: [{ path: "everything", message: /must stand alone; leave out tags/ }],
  },
  {
    name: "everything: false",
    body: { everything: false },
    status: 400,
    code: "invalid",
    errors: [{ path: "everything", message: /can only be true/ }],
  },
  {
    name: "too many items",
    body: { tags: Array.from({ length: 10_001 }, (_, index) => `t${index}`) },
    status: 400,
    code: "invalid",
    errors: [{ path: "", message: /10001 items; .* at most 10000/ }],
  },
  {
    name: "so many wrong items that they would be too many faults",
    body: { tags: Array(200_000).fill("a b") },
    status: 400,
    code: "invalid",
    errors: [{ path: "", message: /200000 items; .* at most 10000/ }],
  },
  {
    name: "wrong tags, of which the first are told",
    body: { tags: Array(10_000).fill("a b") },
    status: 400,
    code: "invalid",
    errors: [
      ...Array.from({ length: 20 }, (_, at) => ({ path: `tags[${at}]`, message: /without spaces/ })),
      { path: "", message: /^and 9980 more$/ },
    ],
  },
  {
    name: "URLs with a wildcard, of which the first are told",
    body: { urls: Array(22).fill("/a*") },
    status: 400,
    code: "invalid",
    errors: [
      ...Array.from({ length: 20 }, (_, at) => ({ path: `urls[${at}]`, message: /not a wildcard/ })),
      { path: "", message: /^and 2 more$/ },
    ],
  },
  {
    name: "a refresh of tags",
    body: { tags: ["a"], refresh: true },
    status: 400,
    code: "invalid",
    errors: [{ path: "refresh", message: /needs urls/ }],
  },
  {
    name: "a refresh of too many URLs",
    body: { urls: Array.from({ length: 51 }, (_, index) => `/${index}`), refresh: true },
    status: 400,
    code: "invalid",
    errors: [{ path: "refresh", message: /at most 50/ }],
  },
  {
    name: "a repetition after more than a day",
    body: { tags: ["a"], repeatAfterMs: 86_400_001 },
    status: 400,
    code: "invalid",
    errors: [{ path: "repeatAfterMs", message: /at most 86400000/ }],
  },
  {
    name: "an id with a space",
    body: { tags: ["a"], id: "a b" },
    status: 400,
    code: "invalid",
    errors: [{ path: "id", message: /printable ASCII/ }],
  },
  {
    name: "two different ids",
    body: { tags: ["a"], id: "x" },
    fields: { "idempotency-key": "y" },
    status: 400,
    code: "invalid",
  },
  { name: "a body that is too large", body: { reason: "x".repeat(5 * 1024 * 1024) }, status: 413, code: "too-large" },
  {
    name: "a GET of purge",
    method: "GET",
    status: 405,
    code: "method-not-allowed",
    answerFields: { allow: "POST" },
  },
  {
    name: "a POST to stats",
    path: "stats",
    status: 405,
    code: "method-not-allowed",
    answerFields: { allow: "GET, HEAD" },
  },
  {
    name: "a list of purges with too high a limit",
    method: "GET",
    path: "purges?limit=501",
    status: 400,
    code: "invalid",
    errors: [{ path: "limit", message: /at most 500/ }],
  },
  {
    name: "a list of purges with a limit that is not a number",
    method: "GET",
    path: "purges?before=-1&limit=1.5",
    status: 400,
    code: "invalid",
    errors: [
      { path: "before", message: /number of a purge/ },
      { path: "limit", message: /whole number/ },
    ],
  },
  {
    name: "a list of purges with a misspelt parameter",
    method: "GET",
    path: "purges?after=1",
    status: 400,
    code: "invalid",
    errors: [{ path: "after", message: /unknown field after; known are before, limit/ }],
  },
  {
    name: "one purge with a query parameter that does not exist",
    method: "GET",
    path: "purges/1?waits=1",
    status: 400,
    code: "invalid",
    errors: [{ path: "waits", message: /unknown field waits; .*wait/ }],
  },
  {
    name: "one purge with a wait that is too long",
    method: "GET",
    path: "purges/1?wait=25001",
    status: 400,
    code: "invalid",
    errors: [{ path: "wait", message: /must be at most 25000/ }],
  },
  { name: "a purge that does not exist", method: "GET", path: "purges/99999", status: 404, code: "not-found" },
  { name: "a purge number below 1", method: "GET", path: "purges/0", status: 404, code: "not-found" },
  {
    name: "a list of purges without a token",
    method: "GET",
    path: "purges",
    token: null,
    status: 401,
    code: "unauthorized",
  },
  {
    name: "one purge without a token",
    method: "GET",
    path: "purges/1",
    token: null,
    status: 401,
    code: "unauthorized",
  },
  {
    name: "a list of purges with a token that may only purge",
    method: "GET",
    path: "purges",
    token: PURGE_TOKEN,
    status: 403,
    code: "forbidden",
  },
  {
    name: "a POST to purges",
    path: "purges",
    status: 405,
    code: "method-not-allowed",
    answerFields: { allow: "GET, HEAD" },
  },
  { name: "stats without a token", method: "GET", path: "stats", token: null, status: 401, code: "unauthorized" },
  { name: "a path that does not exist", method: "GET", path: "purge/1/2", status: 404, code: "not-found" },
  { name: "a path that is not UTF-8", method: "GET", path: "%ff", status: 404, code: "not-found" },
  { name: "the path of stored entries", method: "GET", path: "entry/a", status: 404, code: "not-found" },
];

describe("the control plane refuses, says why, and purges nothing", () => {
  test.each(refusals)("$name", async ({ status, code, detail = /\w+ \w+/, errors, answerFields = {}, ...request }) => {
    const before = await head();
    const answer = await call(request);
    const problem: Problem = problemSchema.parse(JSON.parse(answer.body));
    expect(answer.fields["content-type"]).toBe("application/problem+json");
    expect(answer.fields["cache-control"]).toBe("no-store");
    expect(answer.fields).toMatchObject(answerFields);
    expect(problem).toMatchObject({
      status,
      code,
      type: `urn:tidemark:problem:${code}`,
      detail: expect.stringMatching(detail),
    });
    expect(answer.status).toBe(status);
    if (errors)
      expect(problem.errors).toEqual(
        errors.map(({ path, message }) => ({ path, message: expect.stringMatching(message) })),
      );
    expect(await head()).toBe(before);
  });
});

describe("the control plane answers", () => {
  test("a purge with a receipt that fits the contract, and counts it once however often it is sent", async () => {
    const before = await head();
    const answer = await call({ body: { tags: ["a", "a", "b"], urls: ["/x"], reason: "a test", id: "answers-1" } });
    const receipt = purgeReceiptSchema.parse(JSON.parse(answer.body));
    expect(receipt).toMatchObject({
      at: "1970-01-01T00:00:00.000Z",
      settlesInMs: 1250,
      accepted: { urls: 1, tags: 3, prefixes: 0, hosts: 0, everything: false },
      replayed: false,
    });
    expect(receipt.token).toBe(`${receipt.logId}.${receipt.seq}`);
    const again = await call({ body: { urls: ["/x"], tags: ["b", "a"] }, fields: { "idempotency-key": "answers-1" } });
    expect(JSON.parse(again.body)).toMatchObject({ seq: receipt.seq, replayed: true });
    expect(await head()).toBe(before + 1);
  });

  test("names that stand twice in texts, or in different objects", async () => {
    const said = await call({ body: { dryRun: true, urls: ["/about"], reason: '{"urls": 1, "urls": 2, \\"}' } });
    expect(said.status).toBe(200);
    const pretended = { url: "/about", fields: { url: "https://example.com" } };
    expect((await call({ path: "explain", body: pretended })).status).toBe(200);
  });

  test("a large purge with an id, and its repetition as a replay", { tags: ["deep"] }, async () => {
    const urls = Array.from({ length: 10_000 }, (_, index) => `/${"long/".repeat(42)}${index}`);
    for (const replayed of [false, true]) {
      const answer = await call({ body: { urls, id: "a-large-one" } });
      expect(JSON.parse(answer.body)).toMatchObject({ accepted: { urls: 10_000 }, replayed });
    }
  });

  test("a refresh with the result of each page, in order; the purge stands even if pages fail", async () => {
    origin.reply("/one", { fields: { "cache-control": "max-age=60" }, body: "1" });
    origin.reply("/cut", { fields: { "cache-control": "max-age=60" }, body: "0123456789", cutAfterBytes: 3 });
    const answer = await call({ body: { urls: ["/one", `http://${HOST}/cut`, "/none"], refresh: true } });
    expect(JSON.parse(answer.body).refreshed).toEqual([
      { url: expect.stringMatching(/\/one$/), status: 200, xCache: "BYPASS" },
      { url: `http://${HOST}/cut`, status: 200, error: "the origin's answer was cut off" },
      { url: expect.stringMatching(/\/none$/), status: 404, xCache: "BYPASS" },
    ]);
    const page = await exchange(edge.url, agent, { path: "/one" });
    expect(page).toMatchObject({ body: "1", fields: { "x-cache": "HIT" } });
  });

  test("a refresh with the edge's own message where the edge answered a page itself", { tags: ["deep"] }, async () => {
    const held = new ScriptedOrigin(() => 0);
    await held.comeUp();
    const variables = { SITE: { origin: held.url, hosts: [HOST] }, TIDEMARK_TOKEN: ODD_TOKEN };
    const script = await bundleWorker("local/runtime/virtual-time.worker.ts");
    const other = await startEdgeRuntime({ script, variables }, { port: 0 });
    held.reply("/a", { body: "v1" });
    const purgeFrom = async (host: string) => {
      const fields = { authorization: `Bearer ${ODD_TOKEN}`, "content-type": "application/json" };
      const request = {
        method: "POST",
        path: "/_tidemark/purge",
        host,
        fields,
        body: '{"urls":["/a"],"refresh":true}',
      };
      return JSON.parse((await exchange(other.url, agent, request)).body).refreshed as unknown;
    };
    // The purge came to an address that is not the site's: the page is fetched as the site's.
    expect(await purgeFrom("10.0.0.1:9999")).toEqual([{ url: `http://${HOST}/a`, status: 200, xCache: "BYPASS" }]);
    await held.goDown();
    expect(await purgeFrom(HOST)).toEqual([
      { url: `http://${HOST}/a`, status: 502, error: expect.stringContaining("the origin cannot be reached") },
    ]);
    await other.stop();
  });

  test("a dry run with a receipt that fits the contract, and without a sequence number", async () => {
    const before = JSON.parse((await call({ body: { tags: ["a"] } })).body).seq as number;
    const dry = { urls: ["/x?utm_source=a"], prefixes: [`${HOST}/shop/`], hosts: [HOST], tags: ["a"], dryRun: true };
    const receipt = purgeReceiptSchema.parse(JSON.parse((await call({ body: dry })).body));
    expect(receipt).toEqual({
      seq: 0,
      logId: "",
      token: "",
      at: "1970-01-01T00:00:00.000Z",
      settlesInMs: 0,
      accepted: { urls: 1, tags: 1, prefixes: 1, hosts: 1, everything: false },
      replayed: false,
      dryRun: true,
      warnings: [
        '"/x?utm_source=a" has query parameters that the site does not keep apart: the page without them is purged.',
      ],
      planned: [
        { item: "/x?utm_source=a", key: "/x", route: null },
        { item: `${HOST}/shop/`, key: `${HOST}/shop` },
        { item: HOST, key: HOST },
        { item: "a", key: "a" },
      ],
    });
    expect(JSON.parse((await call({ body: { tags: ["a"] } })).body).seq).toBe(before + 1);
  });

  test("a purge of thousands of surprising items with a bounded number of warnings", async () => {
    const urls = Array.from({ length: 100 }, (_, index) => `/${index}?utm_source=a`);
    const { warnings } = JSON.parse((await call({ body: { urls, dryRun: true } })).body) as { warnings: string[] };
    expect(warnings).toHaveLength(21);
    expect(warnings.at(-1)).toBe("And 80 more warnings.");
  });

  test("the audit trail, with the name of the token, page by page", async () => {
    const body = { urls: [`https://${HOST}/a?b=1`], tags: ["t"], prefixes: ["/p/"], hosts: [HOST], mode: "soft" };
    const told = { ...body, reason: "a reason", id: "audited" };
    const { seq } = JSON.parse((await call({ body: told, token: PURGE_TOKEN })).body) as { seq: number };
    const one = await call({ method: "GET", path: `purges/${seq}`, token: READ_TOKEN });
    const record = purgeRecordSchema.parse(JSON.parse(one.body));
    expect(record).toEqual({
      seq,
      at: "1970-01-01T00:00:00.000Z",
      by: "shop",
      reason: "a reason",
      mode: "soft",
      accepted: { urls: 1, tags: 1, prefixes: 1, hosts: 1, everything: false },
      items: [`https://${HOST}/a?b=1`, "prefix:/p", `host:${HOST}`, "tag:t"],
      itemCount: 4,
      id: "audited",
      repeatOf: null,
      settled: false,
    });
    const page = async (query: string) =>
      purgeRecordPageSchema.parse(JSON.parse((await call({ method: "GET", path: `purges${query}` })).body));
    expect((await page("?limit=1")).purges).toEqual([record]);
    const { purges, next } = await page(`?before=${seq}&limit=2`);
    expect({ numbers: purges.map((each) => each.seq), next }).toEqual({ numbers: [seq - 1, seq - 2], next: seq - 2 });
    expect((await page("?before=1")).next).toBeNull();
  });

  test("health to everybody, and stats to a token with the scope read", async () => {
    expect(await call({ method: "GET", path: "health", token: null })).toMatchObject({
      status: 200,
      body: '{"status":"ok","origin":"up"}\n',
    });
    const stats = async () =>
      statsSchema.parse(
        JSON.parse((await call({ method: "GET", path: "stats?scope=isolate", token: READ_TOKEN })).body),
      );
    const before = await stats();
    expect((await exchange(edge.url, agent, { path: "/not-stored" })).status).toBe(404);
    const { asked, answered, failed } = before.origin;
    expect(await stats()).toMatchObject({
      answers: { MISS: (before.answers.MISS ?? 0) + 1 },
      origin: { asked: asked + 1, answered: answered + 1, failed },
    });
  });
});

/** How many purges the log has accepted. */
async function head(): Promise<number> {
  const stats = JSON.parse((await call({ method: "GET", path: "stats?scope=isolate" })).body) as { purges: number };
  return stats.purges;
}
