import { expect, test } from "vitest";
import { MakingQueue } from "../../../server/compression/making-queue.ts";

/** Work that ends when it is told. */
function heldWork() {
  const begun: PromiseWithResolvers<void>[] = [];
  const work = () => {
    const gate = Promise.withResolvers<void>();
    begun.push(gate);
    return gate.promise;
  };
  return { begun, work };
}

test("two bodies are compressed at a time, and the others in their order of arrival", async () => {
  const queue = new MakingQueue();
  const { begun, work } = heldWork();
  const ended: number[] = [];
  const runs = [0, 1, 2, 3].map((number) => queue.run(1, work)!.then(() => ended.push(number)));
  expect(begun).toHaveLength(2);
  begun[1]!.resolve();
  await runs[1];
  expect(begun).toHaveLength(3);
  begun[0]!.resolve();
  await runs[0];
  expect(begun).toHaveLength(4);
  begun[3]!.resolve();
  begun[2]!.resolve();
  await Promise.all(runs);
  expect(ended.slice(0, 2)).toEqual([1, 0]);
});

test("a body that arrives just when another ends does not overtake those that wait", async () => {
  const queue = new MakingQueue();
  const { begun, work } = heldWork();
  const runs = [0, 1, 2].map(() => queue.run(1, work)!);
  let late: Promise<void> | undefined;
  void begun[0]!.promise.then(() => {
    late = queue.run(1, work)!;
  });
  begun[0]!.resolve();
  await runs[0];
  await runs[0];
  expect(begun).toHaveLength(3);
  for (const gate of begun) gate.resolve();
  await Promise.all(runs);
  begun[3]!.resolve();
  await late;
});

test("failed work passes its turn to the next", async () => {
  const queue = new MakingQueue();
  const failures = [0, 1, 2].map(() => queue.run(1, () => Promise.reject(new Error("failed"))));
  for (const failure of failures) await expect(failure).rejects.toThrow("failed");
  expect(await queue.run(1, async () => "done")).toBe("done");
});

test("beyond 256 bodies or 32 MiB waiting, more work is refused", async () => {
  const { begun, work } = heldWork();
  const byNumber = new MakingQueue();
  const runs = Array.from({ length: 258 }, () => byNumber.run(1, work));
  expect(runs).not.toContain(null);
  expect(byNumber.run(1, work)).toBe(null);
  const byBytes = new MakingQueue();
  for (let each = 0; each < 2; each++) byBytes.run(8 * 1024 ** 2, work);
  const waiting = [8, 8, 8, 8].map((mib) => byBytes.run(mib * 1024 ** 2, work));
  expect(waiting).not.toContain(null);
  expect(byBytes.run(1, work)).toBe(null);
  // Room comes with the next turn.
  begun[2]!.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect(byBytes.run(1, work)).not.toBe(null);
});
