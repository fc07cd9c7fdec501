import { expect, test } from "vitest";
import type { Platform } from "../../sdk/http/http-purger.ts";
import { MAX_UNDER_WAY } from "../../sdk/http/joined-purges.ts";
import type { Transport } from "../../sdk/http/transport.ts";
import {
  createPurger,
  PurgeIncomplete,
  type PurgeRequest,
  type PurgerOptions,
  PurgeUnauthorized,
} from "../../sdk/index.ts";
import { accepts, deadEndpoint, receiptBody, refuses, startFakeEdge } from "./fake-edge.ts";
import { purgerUnderTest, TOKEN } from "./purger-under-test.ts";
import { createVirtualClock } from "./virtual-clock.ts";

const receipt = (logId: string, more: object = {}) => ({
  json: { ...receiptBody, logId, token: `${logId}.7`, ...more },
});

test("A purge goes to every edge with the same id, and each edge gets its own token", async () => {
  await using eu = await startFakeEdge(accepts);
  await using us = await startFakeEdge(accepts);
  await using asia = await startFakeEdge(accepts);
  const endpoints = [
    { endpoint: new URL(eu.endpoint), token: "token-of-eu" },
    us.endpoint,
    { endpoint: `${asia.endpoint}/`, token: undefined },
  ];
  await using cdn = purgerUnderTest({ endpoints });

  await cdn.purgeTags("a", { reason: "saved" });

  const requests = [eu, us, asia].flatMap((edge) => edge.requests);
  expect(requests.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer token-of-eu",
    `Bearer ${TOKEN}`,
    `Bearer ${TOKEN}`,
  ]);
  expect(requests.map(({ body }) => body)).toEqual(
    Array.from({ length: 3 }, () => ({ tags: ["a"], reason: "saved", id: "id-1" })),
  );
});

test("One receipt settles when all edges have, and has the receipt of each", async () => {
  const clock = createVirtualClock();
  await using eu = await startFakeEdge(receipt("log-eu", { settlesInMs: 300 }));
  await using us = await startFakeEdge(receipt("log-us", { seq: 90, settlesInMs: 700, warnings: ["odd"] }));
  await using cdn = purgerUnderTest({ endpoints: [eu.endpoint, us.endpoint] }, { clock });

  const joined = await cdn.purgeTags("a");
  expect(joined).toMatchObject({ seq: 7, logId: "log-eu", token: "log-eu.7", settlesInMs: 700, warnings: ["odd"] });
  expect(joined.accepted).toEqual(receiptBody.accepted);
  expect(joined.edges).toMatchObject([
    { endpoint: eu.endpoint, seq: 7, token: "log-eu.7", settlesInMs: 300 },
    { endpoint: us.endpoint, seq: 90, token: "log-us.7", settlesInMs: 700 },
  ]);
  const settled: string[] = [];
  const all = joined.settled().then(() => settled.push("all"));
  const settledInEu = joined.edges![0]!.settled().then(() => settled.push("eu"));
  clock.advance(300);
  await settledInEu;
  await new Promise(setImmediate);
  expect(settled).toEqual(["eu"]);
  clock.advance(400);
  await all;
  expect(settled).toEqual(["eu", "all"]);
});

test("One receipt may settle sooner if the receipts of all edges that settle last may", async () => {
  for (const [inEu, inUs, may] of [
    [true, true, true],
    [undefined, true, true],
    [true, undefined, undefined],
  ]) {
    await using eu = await startFakeEdge(receipt("log-eu", { settlesInMs: 300, maySettleSooner: inEu }));
    await using us = await startFakeEdge(receipt("log-us", { settlesInMs: 700, maySettleSooner: inUs }));
    await using cdn = purgerUnderTest({ endpoints: [eu.endpoint, us.endpoint] });
    const joined = await cdn.purgeTags("a");
    expect([joined, ...joined.edges!].map(({ maySettleSooner }) => maySettleSooner)).toEqual([may, inEu, inUs]);
  }
});

test("If an edge fails, the error says which, has the receipts of the others, and can be sent again with its id", async () => {
  await using eu = await startFakeEdge(accepts, receipt("log-eu", { replayed: true }));
  await using us = await startFakeEdge(refuses("unauthorized"), accepts);
  await using cdn = purgerUnderTest({ endpoints: [eu.endpoint, us.endpoint] });

  const error = await cdn.purgeTags("a").catch((error: unknown) => error as PurgeIncomplete);

  expect(error).toBeInstanceOf(PurgeIncomplete);
  const { receipts, failures } = error as PurgeIncomplete;
  expect(error).toMatchObject({ code: "unauthorized", status: 401, retryable: false });
  expect((error as PurgeIncomplete).message).toMatch(/^1 of 2 purges failed, and 1 was accepted\./);
  expect((error as PurgeIncomplete).message).toContain(us.endpoint);
  expect(receipts).toMatchObject([{ endpoint: eu.endpoint, seq: 7 }]);
  expect(failures).toMatchObject([{ endpoint: us.endpoint, request: { tags: ["a"], id: "id-1" } }]);
  expect(failures[0]!.error).toBeInstanceOf(PurgeUnauthorized);
  await expect(cdn.purge(failures[0]!.request)).resolves.toMatchObject({ edges: [{ replayed: true }, { seq: 7 }] });
  expect([...eu.requests, ...us.requests].map(({ body }) => body.id)).toEqual(Array(4).fill("id-1"));
});

test("If one edge is away for a moment, only that edge is asked again", async () => {
  await using eu = await startFakeEdge(accepts);
  await using us = await startFakeEdge({ hangsUpAfterBytes: 0 }, refuses("unavailable"), accepts);
  await using cdn = purgerUnderTest({ endpoints: [eu.endpoint, us.endpoint] });

  await cdn.purgeTags("a");

  expect([eu.requests.length, us.requests.length]).toEqual([1, 3]);
});

test("An edge that limits the rate of purges keeps its retries, unlike one that fails", async () => {
  const limits = refuses("rate-limited");
  await using eu = await startFakeEdge(accepts);
  await using us = await startFakeEdge(limits, limits, limits, accepts);
  await using cdn = purgerUnderTest({ endpoints: [eu.endpoint, us.endpoint], retries: 1 });

  await expect(cdn.purgeTags("a")).rejects.toMatchObject({ failures: [{ endpoint: us.endpoint }] });
  await cdn.purgeTags("b");

  expect(us.requests.length).toBe(4);
});

test("If all edges are away, the error is retryable and has no receipt", async () => {
  const endpoints = [await deadEndpoint(), await deadEndpoint()];
  await using cdn = purgerUnderTest({ endpoints, retries: 1 });

  const error = await cdn.purgeTags("a").catch((error: unknown) => error);

  expect(error).toMatchObject({ name: "PurgeIncomplete", code: "unreachable", retryable: true, attempts: 4 });
  expect(error).toMatchObject({ receipts: [], failures: endpoints.map((endpoint) => ({ endpoint })) });
});

test("Aborting a call to several edges rejects with the reason", async () => {
  const leaving = new AbortController();
  const reason = new Error("left");
  await using eu = await startFakeEdge(accepts);
  await using us = await startFakeEdge({ stallsAfterBytes: 0, before: () => leaving.abort(reason) });
  await using cdn = purgerUnderTest({ endpoints: [eu.endpoint, us.endpoint] });

  await expect(cdn.purgeTags("a", { signal: leaving.signal })).rejects.toBe(reason);
});

test("A large batch for several edges has a receipt of each edge for all of its purges", async () => {
  await using eu = await startFakeEdge(receipt("eu"), receipt("eu", { seq: 8, token: "eu.8" }));
  await using us = await startFakeEdge(receipt("us", { seq: 40 }), receipt("us", { seq: 41, token: "us.41" }));
  await using cdn = purgerUnderTest({ endpoints: [eu.endpoint, us.endpoint] });
  const tags = Array.from({ length: 10_001 }, (_, index) => `song:${index}`);

  const receiptOfBatch = (await cdn.batch().tags(tags).commit({ id: "all" }))!;

  expect(receiptOfBatch).toMatchObject({ seq: 8, token: "eu.8", accepted: { tags: 2 } });
  expect(receiptOfBatch.edges?.map(({ endpoint, token }) => [endpoint, token])).toEqual([
    [eu.endpoint, "eu.8"],
    [us.endpoint, "us.41"],
  ]);
  expect(us.requests.map(({ body }) => body.id)).toEqual(["all.1", "all.2"]);
});

test("A small batch that one edge does not accept rejects with the account of both, and has the receipt of each otherwise", async () => {
  await using eu = await startFakeEdge(accepts);
  await using us = await startFakeEdge(refuses("forbidden"), accepts);
  await using cdn = purgerUnderTest({ endpoints: [eu.endpoint, us.endpoint] });

  const error = await cdn.batch((batch) => batch.tags("a")).catch((error: unknown) => error);
  const { receipt } = await cdn.batch((batch) => batch.tags("a"));

  expect(error).toMatchObject({
    name: "PurgeIncomplete",
    receipts: [{ endpoint: eu.endpoint }],
    failures: [{ endpoint: us.endpoint, error: { code: "forbidden" } }],
  });
  expect(receipt).toMatchObject({
    receipts: [{ seq: 7 }],
    edges: [{ endpoint: eu.endpoint }, { endpoint: us.endpoint }],
  });
});

test("A large batch that one edge refuses in part names the purge and the edge", async () => {
  await using eu = await startFakeEdge(accepts);
  await using us = await startFakeEdge(refuses("invalid"), accepts);
  await using cdn = purgerUnderTest({ endpoints: [eu.endpoint, us.endpoint] });
  const tags = Array.from({ length: 10_001 }, (_, index) => `song:${index}`);

  const committing = cdn.batch().tags(tags).commit({ id: "all" });
  const error = await committing.catch((error: unknown) => error as PurgeIncomplete);

  const { receipts, failures } = error as PurgeIncomplete;
  expect(failures.map(({ endpoint, request }) => [endpoint, request.id])).toEqual([[us.endpoint, "all.1"]]);
  expect(receipts.map((each) => each.edges?.length ?? (each as { endpoint?: string }).endpoint)).toEqual([
    eu.endpoint,
    2,
  ]);
});

test.each([
  ["accepts", accepts, []],
  ["refuses", refuses("invalid"), ["all.1"]],
])(
  "A large batch goes on if one edge %s its first purge, and its error names what each edge lacks",
  async (_, act, refused) => {
    await using eu = await startFakeEdge(act, accepts);
    await using us = await startFakeEdge(refuses("unauthorized"));
    await using cdn = purgerUnderTest({ endpoints: [eu.endpoint, us.endpoint] });
    const tags = Array.from({ length: 10_001 }, (_, index) => `song:${index}`);

    const committing = cdn.batch().tags(tags).commit({ id: "all" });
    const error = await committing.catch((error: unknown) => error as PurgeIncomplete);

    const { receipts, failures } = error as PurgeIncomplete;
    expect(eu.requests.map(({ body }) => body.id)).toEqual(["all.1", "all.2"]);
    expect(receipts).toMatchObject(Array(2 - refused.length).fill({ endpoint: eu.endpoint }));
    expect(failures.map(({ endpoint, request }) => [endpoint, request.id])).toEqual([
      ...refused.map((id) => [eu.endpoint, id]),
      [us.endpoint, "all.1"],
      [us.endpoint, "all.2"],
    ]);
  },
);

test("A large batch that no edge accepts stops, and its error names each edge and purge", async () => {
  await using eu = await startFakeEdge(refuses("forbidden"));
  await using us = await startFakeEdge(refuses("unauthorized"));
  await using cdn = purgerUnderTest({ endpoints: [eu.endpoint, us.endpoint] });
  const tags = Array.from({ length: 10_001 }, (_, index) => `song:${index}`);

  const committing = cdn.batch().tags(tags).commit({ id: "all" });
  const error = await committing.catch((error: unknown) => error as PurgeIncomplete);

  const { failures } = error as PurgeIncomplete;
  expect([eu.requests.length, us.requests.length]).toEqual([1, 1]);
  expect(error).toMatchObject({ attempts: 2, receipts: [] });
  expect(failures.map(({ endpoint, request, error }) => [endpoint, request.id, error.code])).toEqual([
    [eu.endpoint, "all.1", "forbidden"],
    [us.endpoint, "all.1", "unauthorized"],
    [eu.endpoint, "all.2", "forbidden"],
    [us.endpoint, "all.2", "unauthorized"],
  ]);
});

const record = {
  seq: 7,
  at: "2026-01-02T03:04:05.678Z",
  by: "shop",
  reason: null,
  mode: "hard",
  accepted: receiptBody.accepted,
  items: ["tag:a"],
  itemCount: 1,
  id: null,
  repeatOf: null,
  settled: true,
};

test("The status of a receipt is asked of each edge by its own number, and has settled if it has at all of them", async () => {
  const of = (seq: number, settled: boolean) => ({ json: { ...record, seq, settled } });
  await using eu = await startFakeEdge(accepts, of(7, true), of(7, true), of(7, true));
  await using us = await startFakeEdge(receipt("us", { seq: 90 }), of(90, false), of(90, true), refuses("not-found"));
  await using cdn = purgerUnderTest({ endpoints: [eu.endpoint, us.endpoint] });

  const receiptOfBoth = await cdn.purgeTags("a");

  await expect(cdn.status(receiptOfBoth)).resolves.toMatchObject({ seq: 7, settled: false });
  await expect(cdn.status(receiptOfBoth)).resolves.toMatchObject({ seq: 7, settled: true });
  await expect(cdn.status(receiptOfBoth)).resolves.toBeNull();
  expect(us.requests.slice(1).map(({ path }) => path)).toEqual(Array(3).fill("/_tidemark/purges/90"));
});

test("A receipt has no status if another purge has its number at one edge, because that edge's log was lost", async () => {
  const at = (time: string) => ({ json: { ...record, at: time } });
  await using eu = await startFakeEdge(accepts, at(receiptBody.at));
  const atUs = "2026-01-02T04:00:00.000Z";
  await using us = await startFakeEdge(receipt("us", { at: atUs }), at(atUs), at(receiptBody.at));
  await using cdn = purgerUnderTest({ endpoints: [eu.endpoint, us.endpoint] });

  const receiptOfBoth = await cdn.purgeTags("a");

  await expect(cdn.status(receiptOfBoth)).resolves.toMatchObject({ by: "shop", settled: true });
  await expect(cdn.status(receiptOfBoth)).resolves.toBeNull();
  const edges = receiptOfBoth.edges!.map(({ endpoint, seq }) => ({ endpoint, seq }));
  await expect(cdn.status({ seq: 7, edges })).resolves.toMatchObject({ by: "shop" });
});

test("Several edges have separate trails and numbers", async () => {
  await using cdn = purgerUnderTest({ endpoints: ["http://a.test", "http://b.test"] });

  await expect(cdn.purges()).rejects.toThrow(/^purges: each edge has its own purge log/);
  await expect(cdn.status(7)).rejects.toThrow(/^status: needs the receipt, because each edge has/);
});

const misuses = [
  {
    name: "an empty list",
    options: { endpoints: [] },
    message: /^createPurger: endpoints: name at least one edge, or leave endpoints out$/,
  },
  {
    name: "one endpoint and several",
    options: { endpoint: "http://a.test", endpoints: ["http://b.test"] },
    message: /^createPurger: endpoints: replaces endpoint; leave one of them out$/,
  },
  {
    name: "a misspelt field of an edge",
    options: { endpoints: ["http://a.test", { endpoint: "http://b.test", tokn: "x" }] },
    message: /^createPurger: endpoints\[1\]\.tokn: unknown key; did you mean token\? Known here: endpoint, token$/,
  },
  {
    name: "a number as an edge",
    options: { endpoints: [5] },
    message: /^createPurger: endpoints\[0\]: .*expected object/,
  },
];

test.for(misuses)("Making a purger with $name is a TypeError", ({ options, message }) => {
  expect(() => createPurger(options as object)).toThrow(TypeError);
  expect(() => createPurger(options as object)).toThrow(message);
});

const wrong = [
  { endpoints: ["http://a.test", "www.example.com"], message: /^The option endpoints\[1\] is not an origin\. / },
  {
    endpoints: ["http://a.test", { endpoint: "http://b.test", token: "a b" }],
    message: /^The option endpoints\[1\]\.tok/,
  },
  {
    endpoints: ["http://a.test", new URL("http://a.test")],
    message: /^The option endpoints\[1\] names the same edge as an earlier one/,
  },
];

test.for(wrong)(
  "With the endpoints $endpoints nothing is configured, and nothing is sent",
  async ({ endpoints, message }) => {
    const sent: string[] = [];
    const fetch = async (url: string) => {
      sent.push(url);
      throw new Error("never");
    };
    await using cdn = purgerUnderTest({ endpoints, fetch });

    const error = await cdn.purge({ tags: ["a"] } satisfies PurgeRequest).catch((error: unknown) => error);

    expect(error).toMatchObject({ code: "not-configured", message: expect.stringMatching(message) });
    expect(sent).toEqual([]);
  },
);

/** Two edges on virtual time: the first accepts each purge at once, and the second when the test says so. */
function lateEdge(options: PurgerOptions = {}, platform: Partial<Platform> = {}) {
  const clock = createVirtualClock();
  const held: ((answer: Response) => void)[] = [];
  const transport: Transport = {
    fetch: (url, { signal }) => {
      if (url.startsWith("https://eu.")) return Promise.resolve(Response.json(receiptBody) as never);
      return new Promise((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        held.push((answer) => resolve(answer as never));
      });
    },
    close: async () => undefined,
  };
  const endpoints = ["https://eu.example.test", "https://us.example.test"];
  const cdn = purgerUnderTest(
    { endpoints, deadlineMs: 10_000, ...options },
    { clock, openTransport: () => transport, ...platform },
  );
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  /** The outcome of a purge when so much time has passed, and the second edge has accepted the last purge or not. */
  const outcomeAfter = async (purge: Promise<unknown>, ms: number, answer?: Response) => {
    let outcome: unknown = "waits";
    purge.then(
      () => (outcome = "accepted"),
      (error: unknown) => (outcome = error),
    );
    await settle();
    clock.advance(ms);
    if (answer) held.at(-1)!(answer);
    await settle();
    return outcome;
  };
  const accepted = () => Response.json(receiptBody);
  const missed = {
    receipts: [{ endpoint: endpoints[0] }],
    failures: [{ endpoint: endpoints[1], error: { code: "timeout" } }],
  };
  return { cdn, clock, outcomeAfter, accepted, missed };
}

test("An edge that hangs holds up a purge until the deadline, and later ones for a second, until it answers again", async () => {
  const { cdn, outcomeAfter, accepted, missed } = lateEdge();
  const first = cdn.purgeTags("first");
  expect(await outcomeAfter(first, 9_999)).toBe("waits");
  expect(await outcomeAfter(first, 1)).toMatchObject(missed);

  const second = cdn.purgeTags("second");
  expect(await outcomeAfter(second, 999)).toBe("waits");
  expect(await outcomeAfter(second, 1)).toMatchObject(missed);

  expect(await outcomeAfter(cdn.purgeTags("third"), 900, accepted())).toBe("accepted");
  expect(await outcomeAfter(cdn.purgeTags("fourth"), 9_000, accepted())).toBe("accepted");

  expect(await outcomeAfter(cdn.purgeTags("fifth"), 10_000)).toMatchObject(missed);
  const refreshed = cdn.purgeUrls("/slow", { refresh: true });
  expect(await outcomeAfter(refreshed, 9_000, accepted())).toBe("accepted");
});

test("A purge that did not wait for an edge that hangs tells of itself, and names the time-out before as its cause", async () => {
  const { cdn, clock, outcomeAfter } = lateEdge();
  const first = await outcomeAfter(cdn.purgeTags("first"), 10_000);
  const others = [cdn.purgeTags("second"), cdn.purgeTags("third")].map((purge) => outcomeAfter(purge, 500));
  clock.advance(0.25);
  const missed = (await Promise.all(others)) as PurgeIncomplete[];
  const errors = missed.map(({ failures }) => failures[0]!.error);
  expect(errors[0]).not.toBe(errors[1]);
  for (const error of errors) {
    expect(error).toMatchObject({
      code: "timeout",
      message:
        "https://us.example.test did not answer within 1000 ms, and failed before. This purge goes on there, and may " +
        "happen; purge again to be sure.",
    });
    expect(error.cause).toBe((first as PurgeIncomplete).failures[0]!.error);
  }
});

test.for<[string, (edges: ReturnType<typeof lateEdge>) => Promise<unknown>, PurgerOptions, Partial<Platform>?]>([
  [
    "that failed in a way that does not pass by itself",
    ({ cdn, outcomeAfter }) => outcomeAfter(cdn.purgeTags("first"), 0, Response.json({}, { status: 501 })),
    {},
  ],
  [
    "that hung more than a minute ago",
    async ({ cdn, clock, outcomeAfter }) => {
      await outcomeAfter(cdn.purgeTags("first"), 10_000);
      clock.advance(60_000);
    },
    {},
  ],
  [
    "that has accepted a later purge since",
    async ({ cdn, outcomeAfter, accepted, missed }) => {
      const first = cdn.purgeTags("first");
      await outcomeAfter(first, 1_000);
      expect(await outcomeAfter(cdn.purgeTags("second"), 1_000, accepted())).toBe("accepted");
      expect(await outcomeAfter(first, 8_000)).toMatchObject(missed);
    },
    {},
  ],
  [
    "that a purge with a shorter deadline has waited for",
    async ({ cdn, outcomeAfter, missed }) =>
      expect(await outcomeAfter(cdn.purgeTags("first", { deadlineMs: 500 }), 500)).toMatchObject(missed),
    {},
  ],
  [
    "that only a purge with a shorter deadline has waited for in the last minute",
    async ({ cdn, clock, outcomeAfter }) => {
      await outcomeAfter(cdn.purgeTags("first"), 10_000);
      clock.advance(60_000);
      await outcomeAfter(cdn.purgeTags("second", { deadlineMs: 500 }), 500);
    },
    {},
  ],
  [
    "on a platform that ends what goes on behind an answer",
    ({ cdn, outcomeAfter }) => outcomeAfter(cdn.purgeTags("first"), 10_000),
    {},
    { limited: undefined as never },
  ],
])("A purge waits until its deadline for an edge %s", async ([, before, options, platform]) => {
  const edges = lateEdge(options, platform);
  await before(edges);
  const { cdn, outcomeAfter, accepted } = edges;
  const purge = cdn.purgeTags("last");
  expect(await outcomeAfter(purge, 9_000)).toBe("waits");
  expect(await outcomeAfter(purge, 0, accepted())).toBe("accepted");
});

test("The time-out of a purge with a shorter deadline makes no other purge wait longer", async () => {
  const { cdn, outcomeAfter, missed } = lateEdge();
  await outcomeAfter(cdn.purgeTags("first"), 10_000);
  await outcomeAfter(cdn.purgeTags("second", { deadlineMs: 500 }), 500);
  expect(await outcomeAfter(cdn.purgeTags("third"), 1_000)).toMatchObject(missed);
});

test("A purge that was never sent, because others were under way, makes no other purge wait for less", async () => {
  const { cdn, outcomeAfter, missed } = lateEdge();
  for (let at = 0; at < MAX_UNDER_WAY; at++) cdn.purgeTags("busy", { deadlineMs: 60_000 }).catch(() => undefined);
  expect(await outcomeAfter(cdn.purgeTags("first"), 10_000)).toMatchObject(missed);
  const second = cdn.purgeTags("second");
  expect(await outcomeAfter(second, 9_999)).toBe("waits");
  expect(await outcomeAfter(second, 1)).toMatchObject(missed);
});

test("If all edges hang, each purge waits until its deadline", async () => {
  const clock = createVirtualClock();
  const fetch = (_url: string, { signal }: { signal?: AbortSignal | null }) =>
    new Promise<never>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  const endpoints = ["https://eu.example.test", "https://us.example.test"];
  const openTransport = (): Transport => ({ fetch, close: async () => undefined });
  const cdn = purgerUnderTest({ endpoints, deadlineMs: 10_000 }, { clock, openTransport });
  const begin = clock.now();
  for (const tag of ["first", "second"]) {
    let endedAt: number | undefined;
    cdn.purgeTags(tag).catch(() => (endedAt = clock.now() - begin));
    for (let seconds = 0; seconds < 10; seconds++) {
      expect(endedAt).toBeUndefined();
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(1_000);
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(endedAt).toBeDefined();
  }
});
