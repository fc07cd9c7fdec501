import { describe, expect, test } from "vitest";
import { readFound } from "../../worker/flow/reading-bodies.ts";
import { cancelBody } from "../../worker/ports/cancel-body.ts";
import type { Ports } from "../../worker/ports/ports.ts";
import type { StoredHead } from "../../worker/rules/storing/stored-response.ts";
import { memoryBodies } from "../engine/memory/memory-bodies.ts";
import { MemoryOrigin } from "../engine/memory/memory-origin.ts";
import { DigitsInPieces } from "./from-shared-tier/digits-in-pieces.ts";
import { type Ask, PopUnderTest } from "./pop-under-test.ts";

test("a body that nobody reads is cancelled", async () => {
  let isCancelled = false;
  const body = new ReadableStream({
    cancel: () => {
      isCancelled = true;
    },
  });
  await cancelBody(body);
  expect(isCancelled).toBe(true);
});

test("a stored body that is longer than its head says is cancelled", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(2)),
    cancel: () => {
      isCancelled = true;
    },
  });
  const background = { run: () => undefined };
  const ports = { bodies: memoryBodies, reporter: { report: () => undefined } } as unknown as Ports;
  const head = { bodyBytes: 3 } as StoredHead;
  expect(await readFound({ ports, background }, { head, body })).toBeUndefined();
  expect(isCancelled).toBe(true);
});

test.each([
  ["no body", null],
  ["a body that was cut off", new ReadableStream({ start: (controller) => controller.error(new Error("cut off")) })],
])("%s is cancelled without a failure", async (_, body) => {
  expect(await cancelBody(body)).toBeUndefined();
});

describe("a body of the shared tier that no answer needs is not left open", () => {
  /** A page of 100 kB is stored, and its lease ends. Gives its streams, and asks the isolate that has it in memory, or another. */
  async function stored(cacheControl: string, isInMemory: boolean) {
    const pop = new PopUnderTest();
    const origin = new MemoryOrigin(pop.scheduler);
    const page = new DigitsInPieces(1000);
    const start = (): Ask =>
      pop.start(origin, {
        sharedTier: {
          get: async (key) => {
            const found = await pop.tier.get(key);
            return found && "body" in found ? { ...found, body: page.stream() } : found;
          },
        },
      });
    origin.reply("/a", [
      { fields: { "cache-control": cacheControl, etag: '"1"' }, body: page.whole },
      { fields: { "cache-control": cacheControl, etag: '"2"' }, body: "new" },
    ]);
    const ask = start();
    await pop.text(await pop.head(ask()));
    await pop.finish();
    await pop.scheduler.advance(61_000);
    const answer = await pop.head((isInMemory ? ask : start())());
    const text = await pop.text(answer);
    await pop.finish();
    return { page, xCache: answer.headers.get("x-cache"), text };
  }

  test("where memory has the page, too", async () => {
    const { page, xCache, text } = await stored("max-age=600", true);
    expect([xCache, text]).toEqual(["HIT", page.whole]);
    expect({ streams: page.readOfEach, open: page.open }).toEqual({ streams: [0], open: 0 });
  });

  test("where the page is stale, and the origin has a new one", async () => {
    const { page, xCache, text } = await stored("max-age=60", false);
    expect([xCache, text]).toEqual(["EXPIRED", "new"]);
    expect({ streams: page.readOfEach, open: page.open }).toEqual({ streams: [0], open: 0 });
  });
});
