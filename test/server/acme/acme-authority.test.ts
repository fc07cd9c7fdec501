import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { AcmeAuthority } from "../../../server/acme/acme-authority.ts";
import { AcmeFolder, makeKey } from "../../../server/acme/acme-folder.ts";
import type { Challenge, Challenged, OrderOutcome } from "../../../server/acme/authority.ts";
import { KeptCertificates } from "../../../server/acme/kept-certificates.ts";
import type { Clock } from "../../../worker/ports/clock.ts";
import { ManualClock } from "../../engine/memory/manual-clock.ts";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";
import { until } from "../../suite/until.ts";

const HOUR = 3_600_000;
const WISH = { name: "www.example.com", key: makeKey(), type: "http-01", replaces: null } as const;

interface Reply {
  readonly status?: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: object | string;
}

const NEVER: Reply = {};

/** An authority by the letters of RFC 8555, without any checks: what it says at each path is the test's. */
class LooseAuthority {
  readonly asked: { readonly path: string; readonly userAgent: string; readonly payload: unknown }[] = [];
  readonly replies = new Map<string, Reply | (() => Reply)>();
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      let text = "";
      for await (const piece of request) text += piece;
      const { payload = "" } = text === "" ? {} : (JSON.parse(text) as { payload?: string });
      const read = Buffer.from(payload, "base64url").toString();
      const path = request.url!;
      this.asked.push({
        path,
        userAgent: request.headers["user-agent"]!,
        payload: read === "" ? null : JSON.parse(read),
      });
      const reply = this.replies.get(path);
      const said = typeof reply === "function" ? reply() : reply;
      if (said !== NEVER) write(response, said);
    });
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const names = ["newNonce", "newAccount", "newOrder", "renewalInfo"];
    this.say("/dir", { body: Object.fromEntries(names.map((name) => [name, `${this.url}/${name}`])) });
    this.say("/newAccount", { status: 201, fields: { location: `${this.url}/account` } });
    const order = {
      status: "pending",
      authorizations: [`${this.url}/authorization`],
      finalize: `${this.url}/finalize`,
    };
    this.say("/newOrder", { status: 201, fields: { location: `${this.url}/order` }, body: order });
    this.say("/order", { body: order });
    this.say("/authorization", { body: this.authorization("pending") });
    this.say("/challenge", { body: {} });
  }

  say(path: string, reply: Reply | (() => Reply)): void {
    this.replies.set(path, reply);
  }

  authorization(status: string, error?: object): object {
    const challenge = { type: "http-01", token: "a-token", url: `${this.url}/challenge`, status, error };
    return { status, identifier: { type: "dns", value: WISH.name }, challenges: [challenge] };
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  countOf(path: string): number {
    return this.asked.filter((each) => each.path === path).length;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    if (this.#server.listening) await once(this.#server.close(), "close");
  }
}

function write(response: ServerResponse, { status = 200, fields = {}, body = {} }: Reply = {}): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, { "replay-nonce": "a-nonce", ...fields });
  response.end(text);
}

function problem(type: string, detail: string, status = 400): Reply {
  return { status, body: { type: `urn:ietf:params:acme:error:${type}`, detail } };
}

let loose: LooseAuthority;
let clock: ManualClock;
/** How far the authority's clock is ahead. Milliseconds. */
let aheadMs: number;
let authority: AcmeAuthority;
const answered: Challenge[] = [];
const challenged: Challenged = {
  answer: async (challenge) => void answered.push(challenge),
  forget: (challenge) => void answered.splice(answered.indexOf(challenge), 1),
};

beforeEach(async () => {
  answered.length = 0;
  loose = new LooseAuthority();
  clock = new ManualClock(0);
  aheadMs = 0;
  await loose.start();
  const accountKey = makeKey();
  const directory = `${loose.url}/dir`;
  const mayBeAhead: Clock = { now: () => clock.now() + aheadMs, wait: (ms) => clock.wait(ms) };
  const parts = { directory, email: "you@example.com", accountKey: () => accountKey };
  authority = new AcmeAuthority({ ...parts, clock: mayBeAhead });
});
afterEach(async () => {
  authority.stop();
  await loose.stop();
});

/** Lets time pass for as long as something waits for it. */
async function outcomeOf(ordered: Promise<OrderOutcome>): Promise<OrderOutcome> {
  let outcome: OrderOutcome | null = null;
  void ordered.then((settled) => {
    outcome = settled;
  });
  while (outcome === null) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (clock.waits > 0) await clock.advance(250);
  }
  return outcome;
}

describe("an authority refuses", () => {
  test.each([
    [
      "for a limit, which concerns all, as long as it says",
      "/newOrder",
      { ...problem("rateLimited", "too many certificates.", 429), fields: { "retry-after": "7200" } },
      { because: "the authority says rateLimited: too many certificates", retryAfterMs: 2 * HOUR, concerns: "all" },
    ],
    [
      "for a limit without a time, which is a quarter of an hour",
      "/newOrder",
      problem("rateLimited", "slow down", 429),
      { because: "the authority says rateLimited: slow down", retryAfterMs: HOUR / 4, concerns: "all" },
    ],
    [
      "for a limit by a page of something before it, which is a quarter of an hour",
      "/newOrder",
      { status: 429, body: "<html>" },
      { because: "the authority says 429: it answered with status 429", retryAfterMs: HOUR / 4, concerns: "all" },
    ],
    [
      "a name",
      "/newOrder",
      problem("rejectedIdentifier", "not this one"),
      { because: "the authority says rejectedIdentifier: not this one", retryAfterMs: null, concerns: "name" },
    ],
    [
      "a name that it cannot read",
      "/newOrder",
      problem("malformed", "what is this?"),
      { because: "the authority says malformed: what is this?", retryAfterMs: null, concerns: "name" },
    ],
    [
      "an account",
      "/newAccount",
      problem("invalidContact", "no such address"),
      { because: "the authority says invalidContact: no such address", retryAfterMs: null, concerns: "all" },
    ],
    [
      "because it fails",
      "/newOrder",
      problem("serverInternal", "sorry", 500),
      { because: "the authority says serverInternal: sorry", retryAfterMs: null, concerns: "all" },
    ],
    [
      "because it fails, and names a reason that would be one name's",
      "/newOrder",
      problem("malformed", "not now", 503),
      { because: "the authority says malformed: not now", retryAfterMs: null, concerns: "all" },
    ],
    [
      "by a page of something before it",
      "/newOrder",
      { status: 403, body: "<html>" },
      { because: "the authority says 403: it answered with status 403", retryAfterMs: null, concerns: "all" },
    ],
    [
      "in words that are not shown as they are",
      "/newOrder",
      problem("caa", "no\u001b[31m\nnot you"),
      { because: "the authority says caa: no\ufffd[31m\ufffdnot you", retryAfterMs: null, concerns: "name" },
    ],
  ])("%s", async (_, path, reply, expected) => {
    loose.say(path, reply);
    expect(await authority.order(WISH, challenged)).toEqual({ kind: "refused", ...expected });
    expect(loose.countOf(path)).toBe(1); // nothing is repeated at once
  });

  test("and names what it has checked, in its own words", async () => {
    const error = { type: "urn:ietf:params:acme:error:connection", detail: "Connection refused." };
    let looks = 0;
    loose.say("/authorization", () => ({
      body: ++looks < 3 ? loose.authorization("pending") : loose.authorization("invalid", error),
    }));
    expect(await outcomeOf(authority.order(WISH, challenged))).toEqual({
      kind: "refused",
      because: "http-01: Connection refused",
      retryAfterMs: null,
      concerns: "name",
    });
    expect(answered).toEqual([]); // it was forgotten
  });

  test("a challenge that it does not offer", async () => {
    expect(await authority.order({ ...WISH, type: "tls-alpn-01" }, challenged)).toMatchObject({
      because: "the authority does not offer the challenge tls-alpn-01 for this name",
      concerns: "name",
    });
  });
});

describe("an authority", () => {
  /** Resolves when it has been asked there. */
  const isAsked = async (...paths: readonly string[]) => {
    while (paths.some((path) => loose.countOf(path) === 0)) await new Promise((resolve) => setTimeout(resolve, 1));
  };

  test("that does not answer is reported with the reason", async () => {
    const directory = `${loose.url}/dir`;
    await loose.stop();
    const outcome = await authority.order(WISH, challenged);
    expect(outcome).toMatchObject({ kind: "refused", retryAfterMs: null, concerns: "all" });
    expect((outcome as { because: string }).because).toMatch(
      new RegExp(`^${directory} cannot be used: .*ECONNREFUSED`),
    );
    expect(await authority.renewalInfo("a.b")).toBeNull();
  });

  test("that failed at first is asked for an account again by the next order", async () => {
    loose.say("/newAccount", problem("serverInternal", "maintenance", 503));
    await authority.order(WISH, challenged);
    loose.say("/newAccount", { status: 201, fields: { location: `${loose.url}/account` } });
    loose.say("/newOrder", problem("rejectedIdentifier", "no"));
    expect(await authority.order(WISH, challenged)).toMatchObject({
      because: "the authority says rejectedIdentifier: no",
    });
  });

  test("checks a name only when every worker answers it", async () => {
    loose.say("/challenge", problem("malformed", "no"));
    let checks: number | undefined;
    const slow: Challenged = {
      answer: async () => {
        for (let turn = 0; turn < 10; turn++) await (await fetch(`${loose.url}/dir`)).text();
        checks = loose.countOf("/challenge");
      },
      forget: () => undefined,
    };
    await authority.order(WISH, slow);
    expect([checks, loose.countOf("/challenge")]).toEqual([0, 1]);
  });

  test("that never ends the authority's check of the name is given two minutes", async () => {
    expect(await outcomeOf(authority.order(WISH, challenged))).toMatchObject({
      because: "http-01: the authority's check of the name is pending",
      concerns: "name",
    });
    expect(clock.now()).toBeGreaterThanOrEqual(120_000);
    expect(clock.now()).toBeLessThan(130_000);
  });

  test("is abandoned in the middle of its check when the server stops", async () => {
    const ordered = authority.order(WISH, challenged);
    while (clock.waits === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    authority.stop();
    expect(await ordered).toMatchObject({ kind: "refused" });
    expect([clock.waits, answered]).toEqual([0, []]);
  });

  // Less than the half minute for which an answer is waited.
  test("that does not answer is abandoned when the server stops", { timeout: 25_000 }, async () => {
    for (const path of ["/newOrder", "/renewalInfo/a.b"]) loose.say(path, () => NEVER);
    const asked = [authority.order(WISH, challenged), authority.renewalInfo("a.b")] as const;
    await isAsked("/newOrder", "/renewalInfo/a.b");
    authority.stop();
    const [outcome, info] = await Promise.all(asked);
    expect(outcome).toMatchObject({ because: expect.stringContaining("the server stops"), concerns: "all" });
    expect(info).toBeNull();
  });

  test.each([
    ["an order", "/newOrder", () => authority.order(WISH, challenged), { kind: "refused", concerns: "all" }],
    ["a window", "/renewalInfo/a.b", () => authority.renewalInfo("a.b"), null],
  ] as const)(
    "that does not answer for half a minute is given up, when asked for %s",
    async (_, path, ask, outcome) => {
      const halfMinute = new AbortController();
      const timeout = vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
        return ms === 30_000 ? halfMinute.signal : new AbortController().signal;
      });
      onTestFinished(() => timeout.mockRestore());
      loose.say(path, () => NEVER);
      const asked = ask();
      await isAsked(path);
      halfMinute.abort();
      const given = await asked;
      if (outcome === null) expect(given).toBeNull();
      else expect(given).toMatchObject(outcome);
    },
  );

  test("that refuses a nonce gets the request again with another nonce", async () => {
    let times = 0;
    const refusal = problem("rejectedIdentifier", "no");
    loose.say("/newOrder", () => (++times === 1 ? problem("badNonce", "stale") : refusal));
    expect(await authority.order(WISH, challenged)).toMatchObject({
      because: "the authority says rejectedIdentifier: no",
    });
    expect(times).toBe(2);
  });

  test("learns the account, the accepted terms and the contact address", async () => {
    loose.say("/newOrder", problem("rejectedIdentifier", "no"));
    await authority.order(WISH, challenged);
    await authority.order(WISH, challenged);
    expect(loose.asked.every(({ userAgent }) => userAgent.startsWith("tidemark/"))).toBe(true);
    const signUps = loose.asked.filter(({ path }) => path === "/newAccount");
    expect(signUps.map(({ payload }) => payload)).toEqual([
      { termsOfServiceAgreed: true, contact: ["mailto:you@example.com"] },
    ]);
  });

  test("that no longer knows the account gets a new one at once", async () => {
    loose.say("/newOrder", problem("rejectedIdentifier", "no"));
    await authority.order(WISH, challenged);
    const orders = loose.countOf("/newOrder");
    const isLost = () => loose.countOf("/newAccount") === 1;
    const [lost, refusal] = [problem("accountDoesNotExist", "who are you?"), problem("rejectedIdentifier", "no")];
    loose.say("/newOrder", () => (isLost() ? lost : refusal));
    expect(await authority.order(WISH, challenged)).toMatchObject({
      because: "the authority says rejectedIdentifier: no",
    });
    expect([loose.countOf("/newAccount"), loose.countOf("/newOrder") - orders]).toEqual([2, 2]);
  });

  test("that does not know the account that it has just made is not asked again before the next order", async () => {
    loose.say("/newOrder", problem("accountDoesNotExist", "who are you?"));
    const because = "the authority says accountDoesNotExist: who are you?";
    expect(await authority.order(WISH, challenged)).toMatchObject({ because, concerns: "all" });
    expect(loose.countOf("/newAccount")).toBe(1);
    loose.say("/newOrder", problem("rejectedIdentifier", "no"));
    await authority.order(WISH, challenged);
    expect(loose.countOf("/newAccount")).toBe(2);
  });

  describe("that has been asked for a certificate", () => {
    let status: string;
    const wish = { ...WISH, key: makeKey() };
    const order = () => ({
      status,
      authorizations: [`${loose.url}/authorization`],
      finalize: `${loose.url}/finalize`,
      certificate: `${loose.url}/certificate`,
    });
    beforeEach(() => {
      status = "ready";
      loose.say("/newOrder", () => ({ status: 201, fields: { location: `${loose.url}/order` }, body: order() }));
      loose.say("/order", () => ({ body: order() }));
      loose.say("/authorization", { body: loose.authorization("valid") });
      loose.say("/certificate", { body: "a chain" });
      loose.say("/finalize", () => {
        status = "processing";
        return { fields: { location: `${loose.url}/order` }, body: order() };
      });
    });

    test("and takes longer than two minutes is asked for the same one again", async () => {
      expect(await outcomeOf(authority.order(wish, challenged))).toMatchObject({
        because: "the order is processing",
        concerns: "name",
      });
      status = "valid";
      expect(await authority.order(wish, challenged)).toEqual({ kind: "issued", chain: "a chain" });
      expect([loose.countOf("/newOrder"), loose.countOf("/finalize")]).toEqual([1, 1]);
    });

    test("and cannot hand it over is asked for the same one again", async () => {
      loose.say("/finalize", () => {
        status = "valid";
        return { fields: { location: `${loose.url}/order` }, body: order() };
      });
      loose.say("/certificate", problem("serverInternal", "sorry", 500));
      expect(await authority.order(wish, challenged)).toMatchObject({ concerns: "all" });
      loose.say("/certificate", { body: "a chain" });
      expect(await authority.order(wish, challenged)).toMatchObject({ kind: "issued" });
      expect(loose.countOf("/newOrder")).toBe(1);
    });

    test("and whose answer was lost is asked again", async () => {
      loose.say("/finalize", problem("serverInternal", "sorry", 500));
      expect(await authority.order(wish, challenged)).toMatchObject({ concerns: "all" });
      loose.say("/finalize", () => {
        status = "valid";
        return { fields: { location: `${loose.url}/order` }, body: order() };
      });
      expect(await authority.order(wish, challenged)).toMatchObject({ kind: "issued" });
      expect([loose.countOf("/newOrder"), loose.countOf("/finalize")]).toEqual([1, 2]);
    });

    test("and knows the name already does not check it again", async () => {
      loose.say("/finalize", () => {
        status = "valid";
        return { fields: { location: `${loose.url}/order` }, body: order() };
      });
      expect(await authority.order(wish, challenged)).toMatchObject({ kind: "issued" });
      expect(loose.countOf("/challenge")).toBe(0);
    });

    test.each([
      ["fails", problem("serverInternal", "sorry", 500)],
      ["wants fewer requests", problem("rateLimited", "slow down", 429)],
    ])("and %s when it is asked again keeps its order", async (_, refusal) => {
      loose.say("/finalize", refusal);
      await authority.order(wish, challenged);
      loose.say("/order", refusal);
      expect(await authority.order(wish, challenged)).toMatchObject({ concerns: "all" });
      status = "valid";
      loose.say("/order", () => ({ body: order() }));
      expect(await authority.order(wish, challenged)).toMatchObject({ kind: "issued" });
      expect(loose.countOf("/newOrder")).toBe(1);
    });

    test("and does not issue it says why in its own words", async () => {
      loose.say("/finalize", () => {
        status = "invalid";
        return { fields: { location: `${loose.url}/order` }, body: order() };
      });
      loose.say("/order", () => ({ body: { ...order(), error: { detail: "CAA forbids it." } } }));
      expect(await authority.order(wish, challenged)).toMatchObject({ because: "CAA forbids it", concerns: "name" });
    });

    test.each([
      ["does not know the order any more", () => loose.say("/order", problem("malformed", "no such order", 404))],
      [
        "has ended it",
        () => {
          status = "invalid";
        },
      ],
    ])("gets another order if it %s", async (_, change) => {
      await outcomeOf(authority.order(wish, challenged));
      change();
      await authority.order(wish, challenged);
      await authority.order(wish, challenged);
      expect(loose.countOf("/newOrder")).toBeGreaterThan(1);
    });

    test("and refuses the request gets another order", async () => {
      loose.say("/finalize", problem("badCSR", "no"));
      await authority.order(wish, challenged);
      await authority.order(wish, challenged);
      expect(loose.countOf("/newOrder")).toBe(2);
    });

    test("gets another order for another key", async () => {
      await outcomeOf(authority.order(wish, challenged));
      status = "ready";
      await outcomeOf(authority.order(WISH, challenged));
      expect(loose.countOf("/newOrder")).toBe(2);
    });
  });

  test("that has closed the account is asked by another one once its key is gone", async () => {
    loose.say("/newOrder", problem("unauthorized", "account is deactivated", 403));
    await authority.order(WISH, challenged);
    await authority.order(WISH, challenged);
    expect(loose.countOf("/newAccount")).toBe(2);
  });

  test("that does not know the old certificate is asked without it", async () => {
    let times = 0;
    loose.say("/newOrder", () =>
      ++times === 1 ? problem("malformed", "unknown") : problem("rejectedIdentifier", "no"),
    );
    await authority.order({ ...WISH, replaces: "a.b" }, challenged);
    const orders = loose.asked.filter(({ path }) => path === "/newOrder").map(({ payload }) => payload);
    const identifiers = [{ type: "dns", value: WISH.name }];
    expect(orders).toEqual([{ identifiers, replaces: "a.b" }, { identifiers }]);
  });

  test("that names a limit is not asked again without the old certificate", async () => {
    loose.say("/newOrder", problem("rateLimited", "too many certificates", 429));
    const outcome = await authority.order({ ...WISH, replaces: "a.b" }, challenged);
    expect(outcome).toMatchObject({ because: "the authority says rateLimited: too many certificates" });
    expect(loose.countOf("/newOrder")).toBe(1);
  });

  test("that knows nothing of renewals is not told what the order replaces", async () => {
    const { body } = loose.replies.get("/dir") as { body: object };
    loose.say("/dir", { body: { ...body, renewalInfo: undefined } });
    loose.say("/newOrder", problem("rejectedIdentifier", "no"));
    await authority.order({ ...WISH, replaces: "a.b" }, challenged);
    const orders = loose.asked.filter(({ path }) => path === "/newOrder").map(({ payload }) => payload);
    expect(orders).toEqual([{ identifiers: [{ type: "dns", value: WISH.name }] }]);
  });

  test("says when a certificate should be renewed", async () => {
    const suggestedWindow = { start: "2026-01-01T00:00:00Z", end: "2026-01-02T00:00:00Z" };
    loose.say("/renewalInfo/a.b", { body: { suggestedWindow }, fields: { "retry-after": "21600" } });
    expect(await authority.renewalInfo("a.b")).toEqual({
      window: { startAt: Date.parse(suggestedWindow.start), endAt: Date.parse(suggestedWindow.end) },
      againInMs: 6 * HOUR,
    });
    loose.say("/renewalInfo/a.b", { status: 404, body: { suggestedWindow } });
    expect(await authority.renewalInfo("a.b")).toBeNull();
    loose.say("/dir", { body: { newOrder: `${loose.url}/newOrder` } });
    await clock.advance(25 * HOUR); // the directory is read again
    expect(await authority.renewalInfo("a.b")).toBeNull();
    expect(loose.countOf("/renewalInfo/a.b")).toBe(2);
  });

  describe("says when a certificate should be renewed", () => {
    const window = { startAt: 0, endAt: HOUR };
    beforeEach(() => {
      const suggestedWindow = { start: new Date(0), end: new Date(HOUR) };
      loose.say("/renewalInfo/a.b", { body: { suggestedWindow } });
    });

    test("also if its directory's URL for that ends in a slash", async () => {
      loose.say("/dir", { body: { renewalInfo: `${loose.url}/renewalInfo/` } });
      expect(await authority.renewalInfo("a.b")).toMatchObject({ window });
    });

    test("but not of the next certificate at once if it could not be reached", async () => {
      loose.say("/dir", problem("serverInternal", "maintenance", 503));
      for (const id of ["a.b", "c.d"]) expect(await authority.renewalInfo(id)).toBeNull();
      expect(loose.countOf("/dir")).toBe(1);
    });

    test("a minute after its directory had an error", async () => {
      const directory = loose.replies.get("/dir")!;
      loose.say("/dir", problem("serverInternal", "maintenance", 503));
      expect(await authority.renewalInfo("a.b")).toBeNull();
      loose.say("/dir", directory);
      await clock.advance(60_000);
      expect(await authority.renewalInfo("a.b")).toMatchObject({ window });
    });

    test("also if the clock was ahead while its directory had an error", async () => {
      const directory = loose.replies.get("/dir")!;
      loose.say("/dir", { body: "no JSON" });
      aheadMs = 3650 * 24 * HOUR;
      expect(await authority.renewalInfo("a.b")).toBeNull();
      aheadMs = 0;
      loose.say("/dir", directory);
      expect(await authority.renewalInfo("a.b")).toMatchObject({ window });
    });

    test("also if the clock was ahead when it did not do so yet", async () => {
      const directory = loose.replies.get("/dir")!;
      loose.say("/dir", { body: {} });
      aheadMs = 3650 * 24 * HOUR;
      expect(await authority.renewalInfo("a.b")).toBeNull();
      aheadMs = 0;
      loose.say("/dir", directory);
      expect(await authority.renewalInfo("a.b")).toMatchObject({ window });
    });
  });
});

test("a server asks at once for a name that the settings have got, and again when its owner wants it", async () => {
  const directory = `${loose.url}/dir`;
  const folder = new AcmeFolder(mkdtempSync(join(TEMPORARY_ROOT, "tidemark-")), directory);
  const said: string[] = [];
  let names = ["a.test"];
  const kept = new KeptCertificates({
    options: { email: "you@example.com", directory },
    prepared: () => ({ names, folder, certificates: [], types: ["http-01"], warnings: [] }),
    challenged,
    reload: async () => true,
    say: (line) => void said.push(line),
  });
  onTestFinished(() => {
    kept.end();
    rmSync(dirname(folder.path), { recursive: true });
  });
  const isTold = (name: string, because: string) =>
    until(() => said.some((line) => line.startsWith(`there is no certificate for ${name}: ${because}`)));
  loose.say("/newAccount", problem("serverInternal", "maintenance", 503));
  kept.begin();
  await isTold("a.test", "the authority says serverInternal: maintenance");
  names = ["a.test", "b.test"];
  kept.look();
  await isTold("b.test", "the authority could not be used a short time ago");
  loose.say("/newAccount", { status: 201, fields: { location: `${loose.url}/account` } });
  loose.say("/newOrder", problem("rejectedIdentifier", "no"));
  kept.tryAgain();
  for (const name of names) await isTold(name, "the authority says rejectedIdentifier: no");
});
