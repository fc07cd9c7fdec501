import { createHash } from "node:crypto";
import { Agent } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import type { OpenedSession } from "../../wire/session.ts";
import type { ClientAnswer } from "../engine/engine.ts";
import { exchange } from "../engine/runtime/runtime-engine.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";

const READ_TOKEN = "a-token-that-may-only-read-00000000";
const PURGE_TOKEN = "a-token-that-may-only-purge-0000000";
const NOW = Date.UTC(2026, 0, 1);
const HTML = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

const agent = new Agent({ keepAlive: false });
const origin = new ScriptedOrigin(() => NOW);
let script: string;
let edge: EdgeRuntime;
/** The same site, with its dashboard switched off. */
let without: EdgeRuntime;

beforeAll(async () => {
  await origin.comeUp();
  script = await bundleWorker("local/runtime/virtual-time.worker.ts");
  edge = await start({});
  without = await start({ dashboard: false });
});

afterAll(async () => {
  await Promise.all([edge?.stop(), without?.stop()]);
  await origin.goDown();
});

async function start(site: object): Promise<EdgeRuntime> {
  const sha256 = (token: string) => createHash("sha256").update(token).digest("hex");
  const variables = {
    SITE: {
      origin: origin.url,
      hosts: [HOST, "localhost", "127.0.0.1:1"],
      originFields: { "x-secret": "a-secret-value" },
      ...site,
    },
    TIDEMARK_TOKEN: TOKEN,
    TIDEMARK_TOKENS: JSON.stringify([
      { name: "board", scopes: ["read"], sha256: sha256(READ_TOKEN) },
      { name: "shop", scopes: ["purge"], sha256: sha256(PURGE_TOKEN) },
    ]),
  };
  const started = await startEdgeRuntime({ script, variables }, { port: 0 });
  await setClock(started, NOW);
  return started;
}

async function setClock({ url }: EdgeRuntime, now: number): Promise<void> {
  await exchange(url, agent, { path: `/_virtual-time?now=${now}` });
}

interface Call {
  readonly method?: string;
  readonly path: string;
  readonly host?: string;
  readonly fields?: Record<string, string>;
  readonly body?: string;
}

function call({ path, ...rest }: Call, of = edge): Promise<ClientAnswer> {
  return exchange(of.url, agent, { path: `/_tidemark/${path}`, ...rest });
}

function logIn(token: string, host = HOST): Promise<ClientAnswer> {
  return call({ method: "POST", path: "session", host, fields: { authorization: `Bearer ${token}` } });
}

/** The `Cookie` of a browser after this login. */
async function cookieOf(token: string): Promise<{ readonly cookie: string }> {
  return { cookie: (await logIn(token)).fields["set-cookie"]!.split(";")[0]! };
}

describe("the page", () => {
  test("runs only its own code, and is neither stored nor framed", async () => {
    const { status, fields, body } = await call({ path: "", fields: HTML });
    const hashOf = (name: string) => {
      const text = new RegExp(`<${name}>(.*?)</${name}>`, "s").exec(body)![1]!;
      return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    };
    expect(status).toBe(200);
    expect(fields).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
    });
    const policy = new Map(
      fields["content-security-policy"]!.split("; ").map((text) => {
        const [name, ...values] = text.split(" ");
        return [name, values.join(" ")];
      }),
    );
    expect(Object.fromEntries(policy)).toEqual({
      "default-src": "'none'",
      "script-src": hashOf("script"),
      "style-src": hashOf("style"),
      "img-src": "data:",
      "connect-src": "'self'",
      "base-uri": "'none'",
      "form-action": "'none'",
      "frame-ancestors": "'none'",
      "require-trusted-types-for": "'script'",
      "trusted-types": "'none'",
    });
    expect(body).not.toMatch(/\son\w+=|javascript:|<script[^>]|https?:\/\/(?!www\.w3\.org\/)/);
  });

  test("is only for browsers: other clients get a 404", async () => {
    for (const accept of ["*/*", "application/json"]) {
      expect((await call({ path: "", fields: { accept } })).status).toBe(404);
    }
    expect(await call({ path: "", method: "HEAD", fields: HTML })).toMatchObject({ status: 200, body: "" });
    expect((await call({ path: "", method: "POST", fields: HTML })).status).toBe(405);
  });

  test("never reaches the origin, and leaves pages of the site as they are", async () => {
    const before = origin.seen.length;
    await call({ path: "", fields: HTML });
    expect(origin.seen.length).toBe(before);
    origin.reply("/", { body: "a page" });
    const page = await exchange(edge.url, agent, { path: "/", fields: { ...HTML, ...(await cookieOf(TOKEN)) } });
    expect(page.body).toBe("a page");
  });
});

describe("a site without a dashboard", () => {
  test.each([
    ["GET", "", HTML],
    ["POST", "session", { authorization: `Bearer ${TOKEN}` }],
    ["DELETE", "session", {}],
  ])("answers 404 to %s /_tidemark/%s", async (method, path, fields) => {
    expect((await call({ method, path, fields }, without)).status).toBe(404);
  });

  test("takes no session", async () => {
    const session = await cookieOf(TOKEN);
    expect((await call({ path: "stats", fields: session })).status).toBe(200); // control
    expect((await call({ path: "stats", fields: session }, without)).status).toBe(401);
  });
});

describe("a login", () => {
  test("sets a cookie that scripts cannot see, only for the control plane and only with TLS", async () => {
    const { status, fields, body } = await logIn(READ_TOKEN);
    expect(status).toBe(200);
    const [pair, ...attributes] = fields["set-cookie"]!.split("; ");
    expect(pair).toMatch(/^tidemark-session=[\w.-]+$/);
    expect(attributes).toEqual(["Path=/_tidemark/", "Max-Age=43200", "HttpOnly", "SameSite=Strict", "Secure"]);
    expect(JSON.parse(body)).toEqual({ name: "board", mayPurge: false, endsInMs: 43_200_000 });
    expect(JSON.parse((await logIn(TOKEN)).body)).toMatchObject({ name: "TIDEMARK_TOKEN", mayPurge: true });
  });

  test("without TLS on this machine, it sets one that Safari keeps, too", async () => {
    expect((await logIn(TOKEN, "localhost")).fields["set-cookie"]).not.toContain("Secure");
    expect((await logIn(TOKEN, "127.0.0.1:1")).fields["set-cookie"]).not.toContain("Secure");
    expect((await logIn(TOKEN, HOST)).fields["set-cookie"]).toContain("; Secure");
  });

  test.each([
    ["a wrong token", "guess", 401],
    ["a token that may not read", PURGE_TOKEN, 403],
  ])("with %s sets none", async (_, token, status) => {
    const answer = await logIn(token);
    expect([answer.status, answer.fields["set-cookie"]]).toEqual([status, undefined]);
  });

  test("needs a token, not a session, so that no session lasts for ever", async () => {
    const answer = await call({ method: "POST", path: "session", fields: await cookieOf(TOKEN) });
    expect([answer.status, answer.fields["set-cookie"]]).toEqual([401, undefined]);
  });

  test("with wrong tokens is counted, as everywhere", async () => {
    const refused = async () => {
      const answer = await call({ path: "stats?scope=isolate", fields: { authorization: `Bearer ${TOKEN}` } });
      return (JSON.parse(answer.body) as { tokensRefused: number }).tokensRefused;
    };
    const before = await refused();
    await logIn("guess");
    expect(await refused()).toBe(before + 1);
  });

  test("if only hashes are known, there is no session, and the answer says so", { tags: ["deep"] }, async () => {
    const sha256 = createHash("sha256").update(READ_TOKEN).digest("hex");
    const TIDEMARK_TOKENS = JSON.stringify([{ name: "board", scopes: ["read"], sha256 }]);
    const site = { origin: origin.url, hosts: [HOST] };
    const other = await startEdgeRuntime({ script, variables: { SITE: site, TIDEMARK_TOKENS } }, { port: 0 });
    const fields = { authorization: `Bearer ${READ_TOKEN}` };
    const answer = await call({ method: "POST", path: "session", fields }, other);
    await other.stop();
    expect(answer.fields["set-cookie"]).toBeUndefined();
    expect(JSON.parse(answer.body) as OpenedSession).toEqual({ name: "board", mayPurge: false, endsInMs: null });
  });
});

describe("a session", () => {
  const json = { "content-type": "application/json" };

  test.each(["stats", "stats?scope=isolate", "metrics", "purges", "site", "explain?url=/a"])(
    "reads %s",
    async (path) => {
      expect((await call({ path, fields: await cookieOf(READ_TOKEN) })).status).toBe(200);
    },
  );

  test.each<Call & { readonly status: number }>([
    { method: "POST", path: "purge", fields: json, body: '{"everything":true}', status: 401 },
    { method: "POST", path: "purge", fields: json, body: '{"everything":true,"dryRun":true}', status: 401 },
    {
      method: "POST",
      path: "purge",
      fields: { ...json, origin: `http://${HOST}` },
      body: '{"tags":["a"]}',
      status: 401,
    },
    { method: "PURGE", path: "", status: 401 },
    { method: "POST", path: "doors/fastly/service/s/purge_all", status: 404 },
  ])("changes nothing with $method $path, whatever its token may do", async ({ status, fields, ...rest }) => {
    const session = await cookieOf(TOKEN);
    const purges = async () => (await call({ path: "purges", fields: session })).body;
    const before = await purges();
    expect((await call({ ...rest, fields: { ...fields, ...session } })).status).toBe(status);
    expect(await purges()).toBe(before);
  });

  test("refreshes no page", async () => {
    origin.reply("/kept", { fields: { "cache-control": "max-age=600" }, body: "v1" }, { body: "v2" });
    const session = await cookieOf(TOKEN);
    await exchange(edge.url, agent, { path: "/kept" });
    const id = session.cookie.split("=")[1]!;
    const answer = await exchange(edge.url, agent, { path: "/kept", fields: { ...session, "tidemark-refresh": id } });
    expect([answer.status, origin.countOf("/kept")]).toEqual([401, 1]);
  });

  test("does not help beside a wrong token", async () => {
    const fields = { ...(await cookieOf(TOKEN)), authorization: "Bearer guess" };
    expect((await call({ path: "stats", fields })).status).toBe(401);
  });

  test.each([
    ["same-origin", 200],
    ["none", 200],
    ["same-site", 401],
    ["cross-site", 401],
  ])("counts in requests with Sec-Fetch-Site: %s: %d", async (site, status) => {
    const fields = { ...(await cookieOf(TOKEN)), "sec-fetch-site": site };
    expect((await call({ path: "stats", fields })).status).toBe(status);
  });

  test("is found among other cookies, by its whole name", async () => {
    const { cookie } = await cookieOf(TOKEN);
    const statusOf = async (text: string) => (await call({ path: "stats", fields: { cookie: text } })).status;
    expect(await statusOf(`a=b; ${cookie}; c=d`)).toBe(200);
    expect(await statusOf(`not-${cookie}`)).toBe(401);
    expect(await statusOf(`a=${cookie}`)).toBe(401);
  });

  test("ends, and a logout removes it from the browser earlier", async () => {
    const session = await cookieOf(TOKEN);
    const statusAt = async (now: number) => {
      await setClock(edge, now);
      return (await call({ path: "stats", fields: session })).status;
    };
    expect(await statusAt(NOW + 12 * 3_600_000 - 1)).toBe(200);
    expect(await statusAt(NOW + 12 * 3_600_000)).toBe(401);
    await setClock(edge, NOW);
    const { status, fields } = await call({ method: "DELETE", path: "session", fields: session });
    expect(status).toBe(204);
    expect(fields["set-cookie"]).toMatch(/^tidemark-session=; Path=\/_tidemark\/; Max-Age=0; HttpOnly/);
  });
});

test("the rules in force have the owner's settings and all limits, and no secret", async () => {
  const { body } = await call({ path: "site", fields: { authorization: `Bearer ${READ_TOKEN}` } });
  expect(JSON.parse(body)).toMatchObject({
    version: 1,
    origin: origin.url,
    hosts: [HOST, "localhost", "127.0.0.1:1"],
    originFields: ["x-secret"],
    limits: { storeBytes: 8 * 1024 * 1024 },
    purge: { leaseMs: 1000 },
  });
  expect(body).not.toContain("a-secret-value");
});
