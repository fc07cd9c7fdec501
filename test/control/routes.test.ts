import { describe, expect, test } from "vitest";
import { SESSION_COOKIE } from "../../wire/fields.ts";
import { controlPlane } from "../../worker/control/app.ts";
import { readPretended } from "../../worker/control/pretended-request.ts";
import type { ControlCall, ControlPorts, Route } from "../../worker/control/route.ts";
import { DASHBOARD_ROUTES, PURGE_OF_PAGE, ROUTES } from "../../worker/control/routes.ts";
import type { Tokens } from "../../worker/ports/access.ts";

const ALL: readonly Route[] = [...ROUTES, ...DASHBOARD_ROUTES, PURGE_OF_PAGE];
const GUARDED = ALL.filter(({ scope }) => scope !== null);

/** A token may do what it says. */
const tokens: Tokens = {
  check: async (token, scope) => {
    if (token === null) return { kind: "refused", because: "unauthorized" };
    return token === scope ? { kind: "allowed", name: "somebody" } : { kind: "refused", because: "forbidden" };
  },
  sessions: {
    open: async () => ({ id: "s", endsAt: 1 }),
    nameOf: async (id) => (id === "s" ? "somebody" : null),
  },
};

/** Ports of an edge whose handlers reach nothing, so that only a refusal, or the settings, can be the answer. */
const ports = {
  tokens,
  hasDashboard: true,
  doors: {},
  settings: { version: 1 },
  clock: { now: () => 0 },
} as unknown as ControlPorts;

async function statusOf({ method, path }: Route, fields: Record<string, string>): Promise<number> {
  const url = `http://edge.test/_tidemark/${path.replace(":seq", "1").replace("*", "page")}`;
  const call = {} as ControlCall;
  return (await controlPlane(ports).fetch(new Request(url, { method, headers: fields }), call)).status;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const session = { cookie: `${SESSION_COOKIE}=s` };
const named = (routes: readonly Route[]) => routes.map((route) => [`${route.method} /${route.path}`, route] as const);

describe("routes of the control plane", () => {
  test("are open to everybody only if they neither reveal nor change anything of the site", () => {
    const open = ALL.filter(({ scope }) => scope === null).map(({ method, path }) => `${method} /${path}`);
    expect(open).toEqual(["GET /health", "GET /openapi.json", "GET /", "DELETE /session"]);
  });

  test("need the scope purge for purges, and the scope read otherwise", () => {
    const purging = ALL.filter(({ scope }) => scope === "purge").map(({ method, path }) => `${method} /${path}`);
    expect(purging).toEqual(["POST /purge", "PURGE /*"]);
    expect(new Set(GUARDED.map(({ scope }) => scope))).toEqual(new Set(["purge", "read"]));
  });

  test("have one row for each method and path", () => {
    expect(new Set(named(ALL).map(([name]) => name)).size).toBe(ALL.length);
  });

  test.each(named(GUARDED))(
    "%s refuses a call without a token, and one with a token of another scope",
    async (_, route) => {
      expect(await statusOf(route, {})).toBe(401);
      expect(await statusOf(route, bearer(route.scope === "read" ? "purge" : "read"))).toBe(403);
    },
  );

  test.each(named(GUARDED))("%s refuses a session that another host of the same site uses", async (_, route) => {
    expect(await statusOf(route, { ...session, "sec-fetch-site": "same-site" })).toBe(401);
  });

  test.each(named(GUARDED.filter(({ scope }) => scope === "purge")))("%s refuses every session", async (_, route) => {
    expect(await statusOf(route, session)).toBe(401);
  });

  test("answer a token of their scope and a session of the dashboard", async () => {
    const site = ROUTES.find(({ path }) => path === "site")!;
    expect(await statusOf(site, bearer("read"))).toBe(200);
    expect(await statusOf(site, session)).toBe(200);
  });
});

test.each(["purge", "explain", "doors/netlify/api/v1/purge"])(
  "POST /%s whose client breaks off the upload is refused, and is no bug of the edge",
  async (path) => {
    const body = new ReadableStream({ pull: (upload) => upload.error(new Error("hung up")) });
    const request = new Request(`http://edge.test/_tidemark/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer anything" },
      body,
      duplex: "half",
    } as RequestInit);
    const allowed = { ...tokens, check: async () => ({ kind: "allowed", name: "somebody" }) as const };
    const open = { ...ports, tokens: allowed, doors: { netlify: "site" }, rules: {} } as unknown as ControlPorts;
    const answer = await controlPlane(open).fetch(request, {} as ControlCall);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringMatching(/the body was cut off/i)]);
  },
);

test("POST /purge whose body has no end is refused as too large, after a while in which the client can read that", async () => {
  const piece = new Uint8Array(1024 ** 2);
  let sent = 0;
  let isEnded = false;
  const body = new ReadableStream({
    pull: (upload) => (sent++ < 100 ? upload.enqueue(piece) : upload.close()),
    cancel: () => {
      isEnded = true;
    },
  });
  const request = new Request("http://edge.test/_tidemark/purge", {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer("purge") },
    body,
    duplex: "half",
  } as RequestInit);
  const answer = await controlPlane(ports).fetch(request, {} as ControlCall);
  expect([answer.status, isEnded]).toEqual([413, true]);
  expect(sent).toBeLessThan(50);
});

test.each([
  ["www.example.test", ["a.test", "www.example.test"], "http://www.example.test/path"],
  ["127.0.0.1:8080", ["www.example.test", "a.test"], "http://www.example.test/path"],
  ["127.0.0.1:8080", null, "http://127.0.0.1:8080/path"],
])("a path that %s is asked to explain, of a site with the hosts %j, is %s", async (asked, hosts, url) => {
  const call = new Request(`http://${asked}/_tidemark/explain`);
  expect(await readPretended({ url: "/path" }, call, hosts)).toMatchObject({ kind: "request", url });
});

test("a pretended request with a Host of its own is refused, because the explanation would be of another page", async () => {
  const call = new Request("http://www.example.test/_tidemark/explain", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ url: "/path", fields: { Host: "a.test" } }),
  });
  const verdict = await readPretended({}, call, null);
  const answer = verdict.kind === "refused" ? verdict.response : null;
  expect(answer?.status).toBe(400);
  expect(await answer?.json()).toMatchObject({
    code: "invalid",
    detail: expect.stringContaining("The URL names the host"),
  });
});
