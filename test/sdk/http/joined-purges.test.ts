import { AsyncLocalStorage } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";
import { expect, onTestFinished, test, vi } from "vitest";
import { MAX_UNDER_WAY } from "../../../sdk/http/joined-purges.ts";
import type { Transport } from "../../../sdk/http/transport.ts";
import {
  PurgeError,
  type PurgeEvent,
  type PurgeIncomplete,
  PurgeRejected,
  type PurgeRequest,
  type Purger,
} from "../../../sdk/index.ts";
import { type Act, receiptBody, refuses } from "../fake-edge.ts";
import { purgerUnderTest } from "../purger-under-test.ts";
import { createVirtualClock, type VirtualClock } from "../virtual-clock.ts";

interface Held {
  readonly request: PurgeRequest;
  readonly endpoint: string;
  /** Lets the edge answer. */
  readonly answer: (act?: Act) => void;
}

/** A purger whose edge answers when the test says so. */
function heldEdge(options: object = { endpoint: "https://www.example.test" }, clock?: VirtualClock) {
  const held: Held[] = [];
  const transport: Transport = {
    fetch: (url, { body, signal }) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        const request = JSON.parse(String(body)) as PurgeRequest;
        const counted = { ...receiptBody.accepted, tags: request.tags?.length ?? 0, urls: request.urls?.length ?? 0 };
        const answer = ({ status = 200, headers = {}, json }: Act = { json: { ...receiptBody, accepted: counted } }) =>
          resolve(Response.json(json, { status, headers }) as never);
        held.push({ request, endpoint: new URL(url).origin, answer });
      }),
    close: async () => undefined,
  };
  const purger = purgerUnderTest(
    { retries: 0, ...options },
    { openTransport: () => transport, ...(clock && { clock }) },
  );
  return { purger, held };
}

/** Lets everything happen that needs no answer. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Begins as many purges as may be under way, and answers none. */
async function busy({ purger, held }: { purger: Purger; held: Held[] }): Promise<Promise<unknown>[]> {
  const calls = Array.from({ length: MAX_UNDER_WAY }, (_, at) => purger.purgeTags(`busy:${at}`));
  for (const call of calls) call.catch(() => undefined);
  await settle();
  expect(held).toHaveLength(MAX_UNDER_WAY);
  return calls;
}

/** The same for a purger with two edges. */
async function busyAtBoth({ purger, held }: { purger: Purger; held: Held[] }): Promise<void> {
  const before = held.length;
  for (let at = 0; at < MAX_UNDER_WAY; at++) purger.purgeTags(`busy:${at}`).catch(() => undefined);
  await settle();
  expect(held).toHaveLength(before + 2 * MAX_UNDER_WAY);
}

test("a thousand purges at once are a few requests, and each caller gets its receipt", async () => {
  const edge = heldEdge();
  const calls = Array.from({ length: 1_000 }, (_, at) => edge.purger.purgeTags(`song:${at}`, `song:${at}:comments`));
  for (let answered = 0; ; answered++) {
    await settle();
    if (edge.held.length === answered) break;
    edge.held[answered]!.answer();
  }
  expect(edge.held).toHaveLength(MAX_UNDER_WAY + 1);
  const named = edge.held.flatMap(({ request }) => request.tags ?? []);
  expect(named).toHaveLength(2_000);
  expect(new Set(named).size).toBe(2_000);
  const receipts = await Promise.all(calls);
  expect(receipts.every(({ accepted }) => accepted.tags === 2 && accepted.urls === 0)).toBe(true);
});

test("each caller is told of its own items, and of what the edge says of none of them", async () => {
  const edge = heldEdge();
  await busy(edge);
  const calls = [
    edge.purger.purge({ tags: ["song:1", "seen"] }),
    edge.purger.purge({ tags: ["song:12"], urls: ["/a?b"] }),
    edge.purger.purge({ tags: ["song:1"], prefixes: ["/deep"] }),
  ];
  edge.held[0]!.answer();
  await settle();
  const under = (item: string, more = ".") => `No page was stored lately under ${item}${more}`;
  const ofQuery = '"/a?b" has a query or session that the site does not store.';
  const ofPrefix = '"/deep" is too deep or too long: everything below /d is purged.';
  const ofOne = under("tag:song:1", "; the nearest is tag:song:12.");
  const ofTwelve = under("tag:song:12");
  const forAll = ["Browsers may keep pages of the route /a for 9 s.", under("/%61?b=")];
  const warnings = [...forAll, ofQuery, ofPrefix, ofOne, ofTwelve];
  const one = { item: "tag:song:1", nearest: "tag:song:12" };
  const twelve = { item: "tag:song:12" };
  const changed = { item: "/%61?b=" };
  edge.held.at(-1)!.answer({ json: { ...receiptBody, warnings, unseen: [one, twelve, changed] } });
  const told = (await Promise.all(calls)).map(({ warnings, unseen }) => ({ warnings, unseen }));
  expect(told).toEqual([
    { warnings: [...forAll, ofOne], unseen: [one, changed] },
    { warnings: [...forAll, ofQuery, ofTwelve], unseen: [twelve, changed] },
    { warnings: [...forAll, ofPrefix, ofOne], unseen: [one, changed] },
  ]);
});

test("a caller of whose items the edge says nothing gets no lists", async () => {
  const edge = heldEdge();
  await busy(edge);
  const calls = [edge.purger.purgeTags("a"), edge.purger.purgeTags("b")];
  edge.held[0]!.answer();
  await settle();
  const unseen = [{ item: "tag:b" }];
  const warnings = ["No page was stored lately under tag:b."];
  edge.held.at(-1)!.answer({ json: { ...receiptBody, warnings, unseen } });
  const [a, b] = await Promise.all(calls);
  expect(a).not.toHaveProperty("warnings");
  expect(a).not.toHaveProperty("unseen");
  expect(b).toMatchObject({ warnings, unseen });
});

test("a purge alone is sent at once, as it is", async () => {
  const { purger, held } = heldEdge();
  void purger.purge({ urls: ["/a"], tags: ["b"] }, { reason: "edited" });
  await settle();
  expect(held.map(({ request }) => request)).toEqual([{ urls: ["/a"], tags: ["b"], reason: "edited", id: "id-1" }]);
});

test("only purges that differ just in their items are joined", async () => {
  const edge = heldEdge();
  await busy(edge);
  const { purger, held } = edge;
  const requests: PurgeRequest[] = [
    { tags: ["a"] },
    { tags: ["b"], urls: ["/b"] },
    { tags: ["a"], mode: "hard" },
    { tags: ["c"], mode: "soft" },
    { tags: ["d"], reason: "edited" },
    { tags: ["e"], id: "its-own" },
    { urls: ["/f"], refresh: true },
    { tags: ["g"], dryRun: true },
    { tags: ["h"], repeatAfterMs: 1_000 },
    { everything: true },
  ];
  for (const request of requests) void purger.purge(request);
  void purger.purge({ tags: ["i"] }, { deadlineMs: 60_000 });
  void purger.purge({ tags: ["j"] }, { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" });
  for (let at = 0; at < held.length; at++) {
    held[at]!.answer();
    await settle();
  }
  const sent = held.slice(MAX_UNDER_WAY).map(({ request: { id: _, ...request } }) => request);
  expect(sent).toEqual([
    { tags: ["a", "b"], urls: ["/b"] },
    ...requests.slice(3).map(({ id: _, ...rest }) => rest),
    { tags: ["i"] },
    { tags: ["j"] },
  ]);
});

test("a full purge takes no more items, and the rest becomes the next one", async () => {
  const edge = heldEdge();
  await busy(edge);
  const items = (name: string) => Array.from({ length: 6_000 }, (_, at) => `${name}:${at}`);
  for (const name of ["a", "b", "c"]) void edge.purger.purgeTags(items(name));
  for (const { answer } of edge.held.slice(0, 3)) answer();
  await settle();
  expect(edge.held.slice(MAX_UNDER_WAY).map(({ request }) => request.tags?.length)).toEqual([6_000, 6_000, 6_000]);
});

test("a purge that waits until its deadline is not sent, and says so", async () => {
  const clock = createVirtualClock();
  const edge = heldEdge({ endpoint: "https://www.example.test", deadlineMs: 1_000 }, clock);
  await busy(edge);
  const waiting = edge.purger.purgeTags("late", { deadlineMs: 500 });
  const refused = expect(waiting).rejects.toMatchObject({
    name: "PurgeTimeout",
    attempts: 0,
    message: expect.stringMatching(/^The purge was not sent to https:.* within 500 ms, because others were under way/),
  });
  clock.advance(500);
  await refused;
  edge.held[0]!.answer();
  await settle();
  expect(edge.held).toHaveLength(MAX_UNDER_WAY);
});

test("a purge whose deadline has passed is not sent, not even if its timer is late", async () => {
  const timers = createVirtualClock();
  let now = 0;
  const edge = heldEdge({ endpoint: "https://www.example.test", deadlineMs: 1_000 }, { ...timers, now: () => now });
  await busy(edge);
  const late = edge.purger.purgeTags("late");
  now = 1_000;
  edge.held[0]!.answer();
  await settle();
  expect(edge.held).toHaveLength(MAX_UNDER_WAY);
  timers.advance(1_000);
  await expect(late).rejects.toMatchObject({ code: "timeout", attempts: 0 });
});

test("the time in which a purge waits counts, for each caller of a joined purge", async () => {
  const clock = createVirtualClock();
  const edge = heldEdge({ endpoint: "https://www.example.test", deadlineMs: 1_000 }, clock);
  await busy(edge);
  const early = edge.purger.purgeTags("early");
  const refused = expect(early).rejects.toMatchObject({
    attempts: 1,
    message: expect.stringMatching(/^No answer from .* within 1000 ms \(1 attempt\)/),
  });
  clock.advance(400);
  const late = edge.purger.purgeTags("late");
  edge.held[0]!.answer();
  await settle();
  expect(edge.held.at(-1)!.request.tags).toEqual(["early", "late"]);
  clock.advance(600);
  await refused;
  edge.held.at(-1)!.answer();
  await expect(late).resolves.toMatchObject({ accepted: { tags: 1 } });
});

test("an edge that does not answer holds up no purges at another one", async () => {
  const edge = heldEdge({ endpoints: ["https://eu.example.test", "https://us.example.test"] });
  const ids = Array.from({ length: MAX_UNDER_WAY + 2 }, (_, at) => `change-${at}`);
  for (const id of ids) edge.purger.purgeTags("a", { id }).catch(() => undefined);
  for (let at = 0; at < edge.held.length; at++) {
    if (edge.held[at]!.endpoint === "https://eu.example.test") edge.held[at]!.answer();
    await settle();
  }
  const idsAt = (endpoint: string) =>
    edge.held.filter((each) => each.endpoint === endpoint).map((each) => each.request.id);
  expect(idsAt("https://eu.example.test")).toEqual(ids);
  expect(idsAt("https://us.example.test")).toEqual(ids.slice(0, MAX_UNDER_WAY));
});

test("a purge that fails at one edge can be sent again with its id, even if it was joined with others", async () => {
  const edge = heldEdge({ endpoints: ["https://eu.example.test", "https://us.example.test"] });
  await busyAtBoth(edge);
  const calls = ["a", "b"].map((tag) => edge.purger.purgeTags(tag).catch((error: unknown) => error));
  for (const { answer } of edge.held.slice()) answer();
  await settle();
  const joined = edge.held.slice(2 * MAX_UNDER_WAY);
  expect(joined.map(({ request }) => request.tags)).toEqual([
    ["a", "b"],
    ["a", "b"],
  ]);
  joined[0]!.answer();
  joined[1]!.answer(refuses("unavailable"));
  const failed = (await Promise.all(calls)) as PurgeIncomplete[];
  const requests = failed.flatMap(({ failures }) => failures.map(({ request }) => request));
  expect(requests.map(({ tags }) => tags)).toEqual([["a"], ["b"]]);
  // Each id is for one purge only.
  expect(new Set([...requests, ...joined.map(({ request }) => request)].map(({ id }) => id)).size).toBe(4);

  // Sent again, each goes alone, with an id that the edge that accepted it does not know. From now on the id stays.
  await busyAtBoth(edge);
  const again = requests.map((request) => edge.purger.purge(request).catch((error: unknown) => error));
  const sentBefore = edge.held.length;
  for (const { answer } of edge.held.slice()) answer();
  await settle();
  const sent = edge.held.slice(sentBefore);
  expect(sent.map(({ request }) => request)).toEqual(requests.flatMap((request) => [request, request]));
  for (const { endpoint, answer } of sent) answer(endpoint.includes("us.") ? refuses("unavailable") : undefined);
  const failedAgain = (await Promise.all(again)) as PurgeIncomplete[];
  expect(failedAgain.flatMap(({ failures }) => failures.map(({ request }) => request))).toEqual(requests);
});

test("a caller's invalid item fails only that caller", async () => {
  const edge = heldEdge();
  await busy(edge);
  const [right, wrong] = [edge.purger.purgeUrls("/a"), edge.purger.purgeUrls("https://elsewhere.test/")];
  wrong.catch(() => undefined);
  const wrongItem = refuses("invalid", {
    detail: "urls[1] is on another site",
    errors: [{ path: "urls[1]", message: "…" }],
  });
  for (let at = 0; at < edge.held.length; at++) {
    const { request, answer } = edge.held[at]!;
    answer(request.urls?.includes("https://elsewhere.test/") ? wrongItem : undefined);
    await settle();
  }
  await expect(right).resolves.toMatchObject({ accepted: { urls: 1 } });
  await expect(wrong).rejects.toThrow(PurgeRejected);
  expect(edge.held.slice(MAX_UNDER_WAY).map(({ request }) => request.urls)).toEqual([
    ["/a", "https://elsewhere.test/"],
    ["/a"],
    ["https://elsewhere.test/"],
  ]);
});

test("the callers of refused items are sent alone, and the others together, without later callers", async () => {
  const edge = heldEdge();
  await busy(edge);
  const isWrong = (url: string) => url.startsWith("https:");
  const urls = Array.from({ length: 100 }, (_, at) => (at % 40 === 20 ? `https://elsewhere.test/${at}` : `/${at}`));
  const calls = [
    ...urls.map((url) => edge.purger.purgeUrls(url)),
    edge.purger.purge({ tags: ["a"], urls: [urls[20]!, "/also"] }),
  ];
  for (const call of calls) call.catch(() => undefined);
  let later: Promise<unknown> | undefined;
  for (let at = 0; at < edge.held.length; at++) {
    const { request, answer } = edge.held[at]!;
    const named = request.urls ?? [];
    if (named.some(isWrong)) {
      later ??= edge.purger.purgeTags("later");
      const paths = named.flatMap((url, index) => (isWrong(url) ? [`urls[${index}]`] : []));
      answer(refuses("invalid", { errors: paths.map((path) => ({ path, message: "…" })) }));
    } else answer();
    await settle();
  }
  const results = await Promise.all(
    calls.map((call) =>
      call.then(
        () => "accepted",
        (error: unknown) => error,
      ),
    ),
  );
  expect(results.filter((result) => result !== "accepted")).toEqual(Array(3).fill(expect.any(PurgeRejected)));
  expect([20, 60, 100].map((at) => results[at])).toEqual(
    Array(3).fill(expect.objectContaining({ errors: [{ path: "urls[0]", message: "…" }] })),
  );
  await expect(later).resolves.toMatchObject({ accepted: { tags: 1 } });
  const sent = edge.held.slice(MAX_UNDER_WAY).map(({ request }) => [request.tags ?? [], request.urls ?? []]);
  expect(sent).toEqual(
    expect.arrayContaining([
      [["a"], [...urls, "/also"]],
      [["later"], []],
      [[], urls.filter((url) => !isWrong(url))],
      [[], [urls[20]]],
      [[], [urls[60]]],
      [["a"], [urls[20], "/also"]],
    ]),
  );
  expect(sent).toHaveLength(6);
});

test("right items do not wait for many wrong ones, of which the edge names twenty at a time", async () => {
  const edge = heldEdge();
  await busy(edge);
  const calls = Array.from({ length: 400 }, (_, at) =>
    edge.purger.purgeTags(at % 2 === 0 ? `right:${at}` : `wrong:${at}`),
  );
  let accepted = 0;
  let sentUntilThen = 0;
  for (const call of calls)
    call.then(
      () => (accepted += 1),
      () => undefined,
    );
  for (let at = 0; at < edge.held.length; at++) {
    const { request, answer } = edge.held[at]!;
    const errors = (request.tags ?? []).flatMap((tag, index) =>
      tag.startsWith("wrong") ? [{ path: `tags[${index}]`, message: "…" }] : [],
    );
    const listed = errors.length > 20 ? [...errors.slice(0, 20), { path: "", message: "and more" }] : errors;
    answer(errors.length > 0 ? refuses("invalid", { errors: listed }) : undefined);
    await settle();
    if (accepted < 200) sentUntilThen = edge.held.length - MAX_UNDER_WAY;
  }
  expect(accepted).toBe(200);
  expect((await Promise.allSettled(calls)).filter(({ status }) => status === "rejected")).toHaveLength(200);
  expect(sentUntilThen).toBeLessThan(50);
});

test("a joined purge that is refused as a whole is sent again in halves", async () => {
  const edge = heldEdge();
  await busy(edge);
  const calls = Array.from({ length: 8 }, (_, at) => edge.purger.purgeTags(`${at}`));
  for (let at = 0; at < edge.held.length; at++) {
    const { request, answer } = edge.held[at]!;
    answer((request.tags?.length ?? 0) > 2 ? refuses("too-large") : undefined);
    await settle();
  }
  await Promise.all(calls);
  expect(edge.held.slice(MAX_UNDER_WAY).map(({ request }) => request.tags?.join(" "))).toEqual([
    "0 1 2 3 4 5 6 7",
    "0 1 2 3",
    "4 5 6 7",
    "0 1",
    "2 3",
    "4 5",
    "6 7",
  ]);
});

test("the callers of a joined purge are sent alone if its refusal names no item", async () => {
  const edge = heldEdge();
  await busy(edge);
  const calls = ["0", "1", "2", "3"].map((tag) => edge.purger.purgeTags(tag));
  for (let at = 0; at < edge.held.length; at++) {
    const { request, answer } = edge.held[at]!;
    const isJoined = (request.tags?.length ?? 0) > 1;
    answer(isJoined ? refuses("invalid", { errors: [{ path: "tags", message: "…" }] }) : undefined);
    await settle();
  }
  await Promise.all(calls);
  const sent = edge.held.slice(MAX_UNDER_WAY).map(({ request }) => request.tags?.join(" "));
  expect(sent).toEqual(["0 1 2 3", "0", "1", "2", "3"]);
});

test("what a firewall in front of the edge blocks fails only its own caller", async () => {
  const edge = heldEdge();
  await busy(edge);
  const calls = ["/a", "/?q=<script>", "/b", "/c"].map((url) => edge.purger.purgeUrls(url));
  for (const call of calls) call.catch(() => undefined);
  for (let at = 0; at < edge.held.length; at++) {
    const { request, answer } = edge.held[at]!;
    const isBlocked = request.urls?.includes("/?q=<script>");
    answer(isBlocked ? { status: 403, json: { message: "Forbidden" } } : undefined);
    await settle();
  }
  const outcomes = (await Promise.allSettled(calls)).map(({ status }) => status);
  expect(outcomes).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  await expect(calls[1]).rejects.toMatchObject({ code: "unexpected-answer", status: 403 });
});

test("a purge that has waited belongs to what its caller does, and not to the purge before it", async () => {
  const task = new AsyncLocalStorage<string>();
  const edge = heldEdge();
  const begun: unknown[] = [];
  const listen = (event: unknown) => begun.push([(event as PurgeEvent).request.tags, task.getStore()]);
  tracingChannel("tidemark:purge").start.subscribe(listen);
  onTestFinished(() => void tracingChannel("tidemark:purge").start.unsubscribe(listen));
  await task.run("the tasks before", () => busy(edge));
  void task.run("its own task", () => edge.purger.purgeTags("late"));
  edge.held[0]!.answer();
  await settle();
  expect(begun.at(-1)).toEqual([["late"], "its own task"]);
});

test("any other failure fails all callers", async () => {
  const edge = heldEdge();
  await busy(edge);
  const calls = ["a", "b"].map((tag) => edge.purger.purgeTags(tag));
  for (const call of calls) call.catch(() => undefined);
  edge.held[0]!.answer();
  await settle();
  edge.held.at(-1)!.answer(refuses("unavailable"));
  for (const call of calls) await expect(call).rejects.toThrow(PurgeError);
  expect(edge.held).toHaveLength(MAX_UNDER_WAY + 1);
});

test("a caller that leaves while it waits is not sent, and the others are", async () => {
  const edge = heldEdge();
  await busy(edge);
  const leaving = new AbortController();
  const left = edge.purger.purgeTags("left", { signal: leaving.signal });
  const stays = edge.purger.purgeTags("stays", { signal: new AbortController().signal });
  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  edge.held[0]!.answer();
  await settle();
  expect(edge.held.at(-1)!.request.tags).toEqual(["stays"]);
  edge.held.at(-1)!.answer();
  await expect(stays).resolves.toMatchObject({ accepted: { tags: 1 } });
});

test("a caller that has left a joined purge before it is refused is not sent again, and the others are", async () => {
  const edge = heldEdge();
  await busy(edge);
  const leaving = new AbortController();
  const left = edge.purger.purgeTags("left", { signal: leaving.signal });
  const stays = edge.purger.purgeTags("stays");
  edge.held[0]!.answer();
  await settle();
  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  edge.held.at(-1)!.answer(refuses("too-large"));
  await settle();
  for (const { answer } of edge.held.slice(1)) answer();
  await expect(stays).resolves.toMatchObject({ accepted: { tags: 1 } });
  expect(edge.held.slice(MAX_UNDER_WAY).map(({ request }) => request.tags)).toEqual([["left", "stays"], ["stays"]]);
});

test("a joined purge continues until its last caller has left", async () => {
  const edge = heldEdge();
  await busy(edge);
  const controllers = [new AbortController(), new AbortController()] as const;
  const calls = controllers.map(({ signal }, at) => edge.purger.purgeTags(`tag:${at}`, { signal }));
  edge.held[0]!.answer();
  await settle();
  const [first, second] = calls as [Promise<unknown>, Promise<unknown>];
  controllers[0].abort(new Error("the first has left"));
  await expect(first).rejects.toThrow("the first has left");
  controllers[1].abort(new Error("the second has left"));
  await expect(second).rejects.toThrow("the second has left");
});

test("when a joined purge times out, it does not look at all of its callers for each of them", async () => {
  const clock = createVirtualClock();
  const edge = heldEdge({ endpoint: "https://www.example.test", deadlineMs: 1_000 }, clock);
  await busy(edge);
  const calls = Array.from({ length: 1_000 }, (_, at) => edge.purger.purgeTags(`song:${at}`));
  edge.held[0]!.answer();
  await settle();
  expect(edge.held.at(-1)!.request.tags).toHaveLength(1_000);
  const looks = vi.spyOn(AbortSignal.prototype, "aborted", "get");
  onTestFinished(() => looks.mockRestore());
  clock.advance(1_000);
  for (const outcome of await Promise.allSettled(calls)) expect(outcome).toMatchObject({ reason: { code: "timeout" } });
  expect(looks.mock.calls.length).toBeLessThan(10 * calls.length);
});

test("with several edges, each caller's receipt has those of all edges, with the number of its own items", async () => {
  const edge = heldEdge({ endpoints: ["https://eu.example.test", "https://us.example.test"] });
  const calls = Array.from({ length: MAX_UNDER_WAY + 2 }, (_, at) => edge.purger.purgeTags(`song:${at}`));
  for (let at = 0; at < MAX_UNDER_WAY * 2 + 2; at++) {
    await settle();
    edge.held[at]!.answer();
  }
  const receipt = await calls.at(-1)!;
  expect(receipt.accepted.tags).toBe(1);
  expect(receipt.edges?.map(({ endpoint, accepted }) => [endpoint, accepted.tags])).toEqual([
    ["https://eu.example.test", 1],
    ["https://us.example.test", 1],
  ]);
});

test("close waits for waiting purges", async () => {
  const edge = heldEdge();
  await busy(edge);
  const waiting = edge.purger.purgeTags("late");
  const closed = edge.purger.close();
  for (let at = 0; at < edge.held.length; at++) {
    edge.held[at]!.answer();
    await settle();
  }
  await expect(waiting).resolves.toMatchObject({ accepted: { tags: 1 } });
  await closed;
});
