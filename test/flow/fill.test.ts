import { describe, expect, test } from "vitest";
import { type Fill, FillBudget, PIECE_OVERHEAD_BYTES, startFill } from "../../worker/flow/storing/fill.ts";
import { streamOf } from "../../worker/runtime/web-bodies.ts";
import { memoryBodies } from "../engine/memory/memory-bodies.ts";

const ports = {
  bodies: memoryBodies,
  clock: { wait: () => ({ over: new Promise<void>(() => undefined), cancel: () => undefined }) },
};

function bodyOf(...chunks: string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
      controller.close();
    },
  });
}

/** What pieces of so many bytes in all take of the budget. */
const held = (bytes: number, pieces: number) => bytes + pieces * PIECE_OVERHEAD_BYTES;

const textOf = ({ body }: Fill) => new Response(streamOf(body!)).text();

/** Lets everything happen that waits for nothing. */
const turn = () => new Promise(setImmediate);

describe("a fill", () => {
  test("a fill beyond the limit of simultaneous fills is not stored", () => {
    const budget = new FillBudget(100, 2);
    const [first, second, third] = [budget.open(0), budget.open(0), budget.open(0)];
    expect([first.take(1), second.take(1), third.take(1)]).toEqual([true, true, false]);
    first.close();
    third.close();
    expect(budget.open(0).take(1)).toBe(true);
  });

  test("also counts against the isolates' shared budget until it ends or a minute has passed", () => {
    const whole = new FillBudget(10, 3);
    const [shop, blog] = [new FillBudget(8, 256, whole), new FillBudget(8, 256, whole)];
    const [first, second] = [shop.open(0), blog.open(0)];
    expect([first.take(8), first.take(1), second.take(3), second.take(2)]).toEqual([true, false, false, true]);
    expect([whole.heldBytes, shop.heldBytes, blog.heldBytes]).toEqual([10, 8, 2]);
    const [third, fourth] = [shop.open(0), shop.open(0)];
    first.close();
    expect(fourth.take(1)).toBe(false); // one too many for the whole
    expect([third.take(8), whole.heldBytes]).toEqual([true, 10]);
    shop.open(60_001); // also ends what the other one has held for too long
    expect([whole.heldBytes, blog.heldBytes]).toEqual([0, 0]);
  });

  test("ends before a slow client has read a byte, but each piece counts until the client has it", async () => {
    const whole = new FillBudget(1 << 20, 256);
    const budget = new FillBudget(1 << 20, 256, whole);
    const fill = startFill(bodyOf("01234", "5678", "9"), 10, 50, budget.open(0), ports);
    expect(await fill.read).toMatchObject({ kind: "whole", bytes: new TextEncoder().encode("0123456789") });
    const reader = memoryBodies.read(fill.body!);
    for (const waits of [held(10, 3), held(5, 2), held(1, 1)]) {
      expect([budget.heldBytes, whole.heldBytes]).toEqual([waits, waits]);
      await reader.next();
      await turn();
    }
    expect(await reader.next()).toBeNull();
    await fill.delivered;
    expect([budget.heldBytes, whole.heldBytes]).toEqual([0, 0]);
  });

  test("of which nothing is stored gives back what the client has, and counts what waits for it", async () => {
    const budget = new FillBudget(held(15, 3), 256);
    const fill = startFill(bodyOf("01234", "56789", "abcde", "fghij"), null, 50, budget.open(0), ports);
    expect(await fill.read).toEqual({ kind: "over-budget" });
    const reader = memoryBodies.read(fill.body!);
    for (const waits of [held(15, 3), held(10, 2), held(5, 1)]) {
      expect(budget.heldBytes).toBe(waits);
      await reader.next();
      await turn();
    }
    expect(Buffer.from((await reader.next())!).toString()).toBe("fghij");
    expect(await reader.next()).toBeNull();
    expect(budget.heldBytes).toBe(0);
  });

  test("that takes part of a body before it is cut off gives back what the client has", async () => {
    const budget = new FillBudget(1 << 20, 256);
    const origin = new TransformStream<Uint8Array, Uint8Array>();
    const writer = origin.writable.getWriter();
    const fill = startFill(origin.readable, null, 50, budget.open(0), ports);
    const reader = memoryBodies.read(fill.body!);
    for (const text of ["before, ", "after"]) await writer.write(new TextEncoder().encode(text));
    await reader.next();
    await turn();
    expect(budget.heldBytes).toBe(held(13, 2));
    await writer.abort(new Error("gone"));
    expect(await fill.read).toEqual({ kind: "cut-off" });
    expect(budget.heldBytes).toBe(held(5, 1));
    await expect(reader.next().then(() => reader.next())).rejects.toThrow("gone");
    await fill.delivered;
    expect(budget.heldBytes).toBe(0);
  });

  test("continues when the client leaves, and frees its bytes", async () => {
    const budget = new FillBudget(1 << 20, 256);
    const fill = startFill(bodyOf("01234", "56789"), 10, 50, budget.open(0), ports);
    await fill.body!.cancel();
    expect(await fill.read).toMatchObject({ kind: "whole" });
    await fill.delivered;
    expect(budget.heldBytes).toBe(0);
  });

  test("that does not fit beside the others is streamed without being stored", async () => {
    const budget = new FillBudget(held(12, 2), 256);
    const first = startFill(bodyOf("0123456789"), 10, 50, budget.open(0), ports);
    const second = startFill(bodyOf("abc", "def"), 6, 50, budget.open(0), ports);
    expect(await second.read).toEqual({ kind: "over-budget" });
    expect(await textOf(second)).toBe("abcdef");
    expect(await first.read).toMatchObject({ kind: "whole" });
    expect(budget.heldBytes).toBeLessThanOrEqual(held(12, 2));
  });

  test("of many small pieces counts the memory that they hold, not only their bytes", async () => {
    const budget = new FillBudget(held(3, 3), 256);
    expect(await startFill(bodyOf("a", "b", "c"), 3, 50, budget.open(0), ports).read).toMatchObject({
      kind: "whole",
    });
    const { read } = startFill(bodyOf("d"), 1, 50, budget.open(0), ports);
    expect([await read, budget.heldBytes]).toEqual([{ kind: "over-budget" }, held(3, 3)]);
  });

  test("whose client reads nothing for a minute is abandoned, and then holds nothing", async () => {
    const budget = new FillBudget(1 << 20, 256);
    const slow = startFill(bodyOf("0123456789"), 10, 50, budget.open(0), ports);
    expect(await slow.read).toMatchObject({ kind: "whole" });
    budget.open(60_000).close();
    expect(budget.heldBytes).toBe(held(10, 1));
    budget.open(60_001).close();
    await slow.delivered;
    expect(budget.heldBytes).toBe(0);
    await expect(textOf(slow)).rejects.toThrow("read nothing for a minute");
  });

  test.each([
    ["its isolate begins", (budget: FillBudget) => budget],
    ["all isolates of the process begin", (budget: FillBudget) => new FillBudget(1 << 20, 256, budget)],
  ])("whose client reads a piece a minute delivers everything, whatever other fills %s", async (_, of) => {
    const budget = new FillBudget(1 << 20, 256);
    const texts = ["a", "b", "c", "d", "e"];
    const slow = startFill(bodyOf(...texts), 5, 50, of(budget).open(0), ports);
    expect(await slow.read).toMatchObject({ kind: "whole" });
    const reader = memoryBodies.read(slow.body!);
    for (const [index, text] of texts.entries()) {
      expect(Buffer.from((await reader.next())!).toString()).toBe(text);
      await turn();
      budget.open((index + 1) * 60_000).close();
    }
    expect(await reader.next()).toBeNull();
    await slow.delivered;
    expect(budget.heldBytes).toBe(0);
  });

  test("of a body too large to store frees its bytes once the client has them, and is not cut off", async () => {
    const budget = new FillBudget(1 << 20, 256);
    const fill = startFill(bodyOf("01234", "56789", "abcde", "fghij"), null, 9, budget.open(0), ports);
    expect(await fill.read).toEqual({ kind: "too-large" });
    expect(budget.heldBytes).toBe(held(5, 1));
    const reader = memoryBodies.read(fill.body!);
    for (const text of ["01234", "56789"]) expect(Buffer.from((await reader.next())!).toString()).toBe(text);
    await turn();
    expect(budget.heldBytes).toBe(0);
    for (const now of [60_001, 120_002, 180_003]) budget.open(now).close();
    for (const text of ["abcde", "fghij"]) expect(Buffer.from((await reader.next())!).toString()).toBe(text);
    expect(await reader.next()).toBeNull();
  });

  test("of a body too large to store is abandoned after a minute if its client reads nothing", async () => {
    const budget = new FillBudget(1 << 20, 256);
    const fill = startFill(bodyOf("01234", "56789"), null, 9, budget.open(0), ports);
    expect(await fill.read).toEqual({ kind: "too-large" });
    budget.open(60_001).close();
    expect(budget.heldBytes).toBe(0);
    await expect(textOf(fill)).rejects.toThrow("read nothing for a minute");
  });

  test("whose origin sends nothing for a minute is not stored, and the client gets all of it", async () => {
    const budget = new FillBudget(1 << 20, 256);
    const origin = new TransformStream<Uint8Array, Uint8Array>();
    const writer = origin.writable.getWriter();
    const fill = startFill(origin.readable, null, 50, budget.open(0), ports);
    const text = textOf(fill);
    await writer.write(new TextEncoder().encode("before, "));
    await turn();
    budget.open(1_000).close();
    expect(budget.heldBytes).toBe(held(8, 1));
    budget.open(61_001).close();
    expect([await fill.read, budget.heldBytes]).toEqual([{ kind: "over-budget" }, 0]);
    await writer.write(new TextEncoder().encode("after"));
    await writer.close();
    expect(await text).toBe("before, after");
    expect(budget.heldBytes).toBe(0);
  });

  test("that was abandoned no longer counts against the budget", async () => {
    const budget = new FillBudget(1 << 20, 256);
    const share = budget.open(0);
    budget.open(60_001).close();
    expect(share.take(1)).toBe(false);
  });

  test("whose request has died without giving back its bytes is forgotten after a minute", async () => {
    const budget = new FillBudget(held(10, 1), 256);
    budget.open(0).take(held(10, 1));
    const early = startFill(bodyOf("abc"), 3, 50, budget.open(60_000), ports);
    expect(await early.read).toEqual({ kind: "over-budget" });
    const late = startFill(bodyOf("abc"), 3, 50, budget.open(60_001), ports);
    expect(await late.read).toMatchObject({ kind: "whole" });
  });

  test.each([
    ["fewer bytes than announced", 11],
    ["more bytes than announced", 9],
  ])("of %s is cut off, and the client sees an error", async (_, length) => {
    const fill = startFill(bodyOf("0123456789"), length, 50, new FillBudget(1 << 20, 256).open(0), ports);
    expect(await fill.read).toEqual({ kind: "cut-off" });
    await expect(new Response(streamOf(fill.body!)).text()).rejects.toThrow("of");
  });

  test("of exactly the limit is stored, and one of a byte more is not", async () => {
    const at = (maxBytes: number) => {
      const fill = startFill(bodyOf("01234", "56789"), null, maxBytes, new FillBudget(1 << 20, 256).open(0), ports);
      void new Response(streamOf(fill.body!)).text();
      return fill.read;
    };
    expect(await at(10)).toMatchObject({ kind: "whole" });
    expect(await at(9)).toEqual({ kind: "too-large" });
  });

  test("without a body is complete, unless a body was announced, and leaves its place at once", async () => {
    const budget = new FillBudget(1, 1);
    expect(await startFill(null, null, 1, budget.open(0), ports).read).toMatchObject({ kind: "whole" });
    expect(await startFill(null, 5, 1, budget.open(0), ports).read).toEqual({ kind: "cut-off" });
    expect(budget.open(0).take(1)).toBe(true);
  });
});
