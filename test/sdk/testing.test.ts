import { expect, test } from "vitest";
import { PurgeRateLimited, PurgeRejected, type PurgeRequest, type Purger } from "../../sdk/index.ts";
import { createRecordingPurger } from "../../sdk/testing.ts";
import { purgeReceiptSchema } from "../../wire/purge-receipt.ts";

test("A recording purger records its requests in order", async () => {
  const recording = createRecordingPurger();
  const cdn: Purger = recording;

  await cdn.purge({ tags: ["song:42"], urls: ["/api/song/42"] }, { reason: "saved" });
  await cdn.purgeUrls("/", "/about", { refresh: true });
  await cdn.purgeTags("front", { id: "once", deadlineMs: 5 });
  await cdn.purgeEverything();

  expect(recording.calls).toEqual([
    { tags: ["song:42"], urls: ["/api/song/42"], reason: "saved" },
    { urls: ["/", "/about"], refresh: true },
    { tags: ["front"], id: "once" },
    { everything: true },
  ]);
});

test("Its receipts have the form of an edge's, count up, and have settled", async () => {
  const cdn = createRecordingPurger();

  const first = await cdn.purgeUrls("/", "/about", { refresh: true });
  const second = await cdn.purgeEverything();
  await first.settled();

  expect(purgeReceiptSchema.safeParse(first).error).toBeUndefined();
  expect(first).toMatchObject({
    seq: 1,
    settlesInMs: 0,
    accepted: { urls: 2, tags: 0, everything: false },
    refreshed: [
      { url: "/", status: 200 },
      { url: "/about", status: 200 },
    ],
  });
  expect(second).toMatchObject({ seq: 2, accepted: { urls: 0, everything: true } });
  expect(second).not.toHaveProperty("refreshed");
});

test("It records prefixes, hosts and modes, and a dry run takes no number", async () => {
  const cdn = createRecordingPurger();

  const dry = await cdn.purgePrefixes("/shop", "m.example.com/shop", { dryRun: true });
  const soft = await cdn.purgeHosts("m.example.com", { mode: "soft" });

  expect(cdn.calls).toEqual([
    { prefixes: ["/shop", "m.example.com/shop"], dryRun: true },
    { hosts: ["m.example.com"], mode: "soft" },
  ]);
  expect(purgeReceiptSchema.safeParse(dry).error).toBeUndefined();
  expect(dry).toMatchObject({ seq: 0, token: "", dryRun: true, accepted: { prefixes: 2 } });
  expect(dry.planned?.map(({ item }) => item)).toEqual(["/shop", "m.example.com/shop"]);
  expect(soft).toMatchObject({ seq: 1, dryRun: false, accepted: { hosts: 1 } });
  expect(soft).not.toHaveProperty("planned");
});

test("It fails once for each call of failNext, and records the call that fails", async () => {
  const cdn = createRecordingPurger();
  const error = new PurgeRateLimited("not so fast", { attempts: 5, retryAfterMs: 1_000 });

  cdn.failNext(error);

  await expect(cdn.purgeTags("a")).rejects.toBe(error);
  await expect(cdn.purgeTags("b")).resolves.toMatchObject({ seq: 1 });
  expect(cdn.calls).toEqual([{ tags: ["a"] }, { tags: ["b"] }]);
});

test("reset forgets the calls and the failures", async () => {
  const cdn = createRecordingPurger();
  await cdn.purgeTags("a");
  cdn.failNext(new Error("never seen"));

  cdn.reset();

  expect(cdn.calls).toEqual([]);
  await expect(cdn.purgeTags("b")).resolves.toMatchObject({ seq: 2 });
});

test("It refuses what a real purger refuses: misuse, an aborted signal, and any call once it is closed", async () => {
  const cdn = createRecordingPurger();
  const reason = new Error("left");

  await expect(cdn.purgeTags()).rejects.toThrow(/^purgeTags: tags: name at least one tag/);
  await expect(cdn.purgeTags("a", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await cdn.close();
  await expect(cdn.purgeTags("a")).rejects.toMatchObject({ code: "closed" });

  expect(cdn.calls).toEqual([]);
});

test.each<[PurgeRequest, string]>([
  [{ urls: ["/", "/song/*"] }, 'urls[1]: "/song/*": a * is not a wildcard'],
  [{ urls: ["https://*.example.com/"] }, "a * in a host is not a wildcard"],
  [{ prefixes: ["/song/*/texts"] }, "a * is not a wildcard"],
  [{ hosts: ["*.example.com"] }, "a * in a host is not a wildcard"],
  [{ urls: ["/a\\b"] }, 'urls[0]: "/a\\\\b": the path has a backslash'],
  [{ urls: ["https://user@www.example.com/"] }, "it has a user or password before the host"],
  [{ prefixes: ["/"] }, 'prefixes[0]: "/": it names no path segment'],
  [{ hosts: ["https://www.example.com"] }, 'hosts[0]: "https://www.example.com": a host is a name'],
])("It refuses what every edge refuses: %j", async (request, because) => {
  const cdn = createRecordingPurger();
  const refused = await cdn.purge(request).catch((cause) => cause);
  expect(refused).toBeInstanceOf(PurgeRejected);
  expect(refused.message).toContain(because);
  expect(cdn.calls).toEqual([]);
});
