import { expect, test } from "vitest";
import { TOKEN } from "../../engine/scenario.ts";
import { MachineUnderTest, settle, type WorkerOfMachine } from "../cache-lock/machine-under-test.ts";

const SITE = { origin: { url: "http://origin.internal", concurrency: 1, queue: { maxMs: 5_000, maxWaiting: 9 } } };

/** Two workers, each of which has its only request at the origin. */
async function startBusy(): Promise<{ machine: MachineUnderTest; one: WorkerOfMachine; other: WorkerOfMachine }> {
  const machine = await MachineUnderTest.start();
  const [one, other] = [await machine.worker(SITE), await machine.worker(SITE)];
  void one.ask("/slow");
  void other.ask("/slower");
  await machine.hasAsked(2);
  return { machine, one, other };
}

/** The same, and a request waits for its turn at one worker. Another one for that page came two seconds later. */
async function startFollowed() {
  const { machine, one } = await startBusy();
  const leading = one.ask("/a");
  await settle();
  await machine.clock.advance(2_000);
  const following = one.ask("/a");
  await settle();
  return { machine, one, leading, following };
}

test("who waits for a fetch that gets no turn is logged as turned away, too", async () => {
  const { machine, one, leading, following } = await startFollowed();
  await machine.clock.advance(3_000);
  expect([(await leading).status, (await following).status]).toEqual([503, 503]);
  expect(one.turns).toEqual([
    { client: "other", waitedMs: 5_000, hasCome: false },
    { client: "other", waitedMs: 3_000, hasCome: false },
  ]);
});

test("who waits for a fetch until that has its turn is logged as waiting, too; who comes later is not", async () => {
  const { machine, one, leading, following } = await startFollowed();
  await machine.clock.advance(1_000);
  machine.asked[0]!.answer("slow");
  await machine.hasAsked(3);
  await machine.clock.advance(1);
  const late = one.ask("/a");
  await settle();
  await machine.clock.advance(1_000);
  machine.asked[2]!.answer("v1");
  expect((await Promise.all([leading, following, late])).map(({ text }) => text)).toEqual(["v1", "v1", "v1"]);
  expect(one.turns).toEqual([
    { client: "other", waitedMs: 3_000, hasCome: true },
    { client: "other", waitedMs: 1_000, hasCome: true },
  ]);
});

test("who has waited for a fetch of another worker that gets no turn waits on for the rest of the time", async () => {
  const { machine, one, other } = await startBusy();
  const leading = one.ask("/a");
  await settle();
  const first = other.ask("/a");
  await settle();
  await machine.clock.advance(2_000);
  const late = other.ask("/b");
  const later = one.ask("/b");
  await settle();
  await machine.clock.advance(3_000);
  await settle();
  await machine.clock.advance(0);
  expect([(await leading).status, (await first).status]).toEqual([503, 503]);
  await machine.clock.advance(2_000);
  await settle();
  await machine.clock.advance(0);
  expect([(await late).status, (await later).status]).toEqual([503, 503]);
  expect(machine.paths).toEqual(["/slow", "/slower"]);
  expect(other.turns.map(({ waitedMs }) => waitedMs)).toEqual([5_000, 5_000]);
});

test("an editor does not wait in the place of another worker's visitor, but in one that is better", async () => {
  const { machine, one, other } = await startBusy();
  const { text } = await one.ask(
    "/_tidemark/purge",
    { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    "POST",
    JSON.stringify({ tags: ["a"] }),
  );
  const visitor = one.ask("/a");
  await settle();
  const before = other.ask("/b");
  await settle();
  const editor = other.ask("/a", { "tidemark-after": JSON.parse(text).token });
  await settle();
  machine.asked[1]!.answer("slower");
  await settle();
  expect(machine.paths).toEqual(["/slow", "/slower", "/a"]);
  machine.asked[2]!.answer("v1");
  expect((await editor).text).toBe("v1");
  await settle();
  machine.asked[0]!.answer("slow");
  for (let turn = 0; turn < 3; turn++) {
    await settle();
    for (const each of machine.asked.slice(3)) each.answer("v1");
  }
  expect([(await visitor).text, (await before).text]).toEqual(["v1", "v1"]);
});

test("who has waited for a fetch of another worker that gets no turn gets what a third has stored meanwhile", async () => {
  const { machine, one, other } = await startBusy();
  const third = await machine.worker(SITE);
  const leading = one.ask("/a");
  await settle();
  const following = other.ask("/a");
  await settle();
  const refresh = third.ask("/a", { "tidemark-refresh": TOKEN });
  await machine.hasAsked(3);
  machine.asked[2]!.answer("v1");
  expect((await refresh).text).toBe("v1");
  await settle();
  await machine.clock.advance(5_000);
  await settle();
  expect((await leading).status).toBe(503);
  expect((await following).text).toBe("v1");
});
