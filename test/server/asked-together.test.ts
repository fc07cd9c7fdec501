import { expect, test } from "vitest";
import { Turns } from "../../package/turns.ts";
import { AskedTogether } from "../../server/asked-together.ts";
import type { PurgeRecord } from "../../worker/ports/purge-log.ts";
import { HeldAnswers } from "../../worker/purges/log/held-answers.ts";
import { Scheduler } from "../engine/scheduler.ts";

test("what is asked at the same time, or while an answer is under way, is asked together, and each once", async () => {
  const asked: (readonly number[])[] = [];
  const together = new AskedTogether(async (keys: readonly number[]) => {
    asked.push(keys);
    return new Map(keys.filter((key) => key < 9).map((key) => [key, `answer ${key}`]));
  });
  const about = async (key: number) => (await together.ask(key)).get(key) ?? null;
  const first = [1, 2, 1, 9].map(about);
  await Promise.resolve();
  const rest = [1, 3].map(about);
  expect(await Promise.all([...first, ...rest])).toEqual([
    ...["answer 1", "answer 2", "answer 1", null],
    ...["answer 1", "answer 3"],
  ]);
  expect(asked).toEqual([
    [1, 2, 9],
    [1, 3],
  ]);
});

test("more than may be asked at once is asked in several turns, in order, and what is too large alone", async () => {
  const asked: (readonly number[])[] = [];
  const first = Promise.withResolvers<void>();
  const together = new AskedTogether(
    async (sizes: readonly number[]) => {
      asked.push(sizes);
      if (asked.length === 1) await first.promise;
    },
    { turns: new Turns(2), most: 10, sizeOf: (size) => size },
  );
  const answers = [6, 5, 4, 3, 11, 10].map((size) => together.ask(size));
  await answers.at(-1); // the first turn is still taken
  expect(asked).toEqual([[6], [5, 4], [3], [11], [10]]);
  first.resolve();
  await answers[0];
});

test("a question that fails fails for all who have asked it, and not for the next", async () => {
  let fails = true;
  const together = new AskedTogether(async (keys: readonly number[]) => {
    if (fails) throw new Error("out of reach");
    return new Map(keys.map((key) => [key, "found"]));
  });
  for (const outcome of await Promise.allSettled([together.ask(1), together.ask(2)])) {
    expect(outcome.status).toBe("rejected");
  }
  fails = false;
  expect(await together.ask(1)).toEqual(new Map([[1, "found"]]));
});

test("a thousand answers that are held take two statements at most, however many notices come at once", async () => {
  const scheduler = new Scheduler(1, 0);
  const asked: (readonly number[])[] = [];
  const together = new AskedTogether(async (seqs: readonly number[]) => {
    asked.push(seqs);
    const unsettled: Partial<PurgeRecord> = { at: 0, settled: false, settlesInMs: 60_000 };
    return new Map(seqs.map((seq) => [seq, { ...unsettled, seq } as PurgeRecord]));
  });
  const held = new HeldAnswers({ find: async (seq) => (await together.ask(seq)).get(seq) ?? null }, scheduler);
  for (let index = 0; index < 1000; index++) void held.find(1 + (index % 2), 25_000);
  await scheduler.advance(0);
  asked.length = 0;
  for (let notice = 0; notice < 100; notice++) held.noteSettled();
  await scheduler.advance(0);
  expect(asked.length).toBeLessThanOrEqual(2);
  expect(asked[0]).toEqual([1, 2]);
});
