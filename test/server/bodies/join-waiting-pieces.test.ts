import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { joinWaitingPieces } from "../../../server/bodies/join-waiting-pieces.ts";
import { byDepth } from "../../suite/depth.ts";
import { seed } from "../../suite/seed.ts";
import { turns } from "../../suite/turns.ts";

const KIB = 1024;

/** A stream into which a source pushes, with what its reader gets, and how often it asks for more. */
function pushed(highWaterMark = 64 * KIB) {
  let asked = 0;
  const stream = new Readable({
    highWaterMark,
    read: () => {
      asked++;
    },
  });
  joinWaitingPieces(stream);
  const got: Buffer[] = [];
  const take = (piece: Buffer) => void got.push(piece);
  return { stream, got, take, asked: () => asked };
}

const BYTES = Uint8Array.from({ length: 2 ** 21 }, (_, at) => at % 251);
const bytesFrom = (from: number, count: number) => BYTES.slice(from, from + count);

describe("small pieces that wait in a stream", () => {
  test("come out as few, of at most 64 KiB, whole and in their order", async () => {
    const { stream, got, take } = pushed();
    for (let at = 0; at < 60_000; at++) stream.push(bytesFrom(at, 1));
    stream.push(null);
    stream.on("data", take);
    await new Promise((resolve) => stream.on("end", resolve));
    expect(Buffer.concat(got)).toEqual(Buffer.from(bytesFrom(0, 60_000)));
    expect(got.length).toBeLessThan(10);
    for (const { buffer } of got) expect(buffer.byteLength).toBeLessThanOrEqual(64 * KIB);
  });

  test("come out when their reader goes on, though nothing comes behind them", async () => {
    const { stream, got, take } = pushed();
    stream.on("data", take);
    await turns(2);
    stream.pause();
    for (let at = 0; at < 3; at++) {
      stream.push(bytesFrom(at, 1));
      await turns(2);
    }
    stream.resume();
    await turns(2);
    expect(Buffer.concat(got)).toEqual(Buffer.from([0, 1, 2]));
  });

  test("stop the source at its limit, as others do, and let it go on once they are read", async () => {
    const { stream, take, asked } = pushed(1000);
    for (let at = 1; at < 1000; at++) expect(stream.push(bytesFrom(at, 1))).toBe(true);
    expect(stream.push(bytesFrom(0, 1))).toBe(false);
    expect(asked()).toBe(0);
    stream.on("data", take);
    await turns(2);
    const before = asked();
    expect(before).toBeGreaterThan(0);
    stream.push(bytesFrom(0, 1));
    await turns(2);
    expect(asked()).toBeGreaterThan(before);
  });
});

test("large pieces, and small ones for which a reader waits, pass as they are", async () => {
  const { stream, got, take } = pushed();
  stream.on("data", take);
  await turns(2);
  const small = Buffer.from(bytesFrom(0, 10));
  stream.push(small);
  stream.pause();
  const large = [Buffer.alloc(4 * KIB), Buffer.alloc(16 * KIB)];
  for (const piece of large) stream.push(piece);
  stream.resume();
  await turns(2);
  expect(got).toHaveLength(3);
  for (const [at, piece] of [small, ...large].entries()) expect(got[at]!.buffer).toBe(piece.buffer);
});

test("in any pieces and with any pauses, the same bytes come out", async () => {
  const step = fc.oneof(
    fc.integer({ min: 1, max: 300 }),
    fc.integer({ min: 1, max: 20 * KIB }),
    fc.constantFrom("pause" as const, "resume" as const, "wait" as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.boolean(), async (steps, isReadFirst) => {
      const { stream, got, take } = pushed();
      let sent = 0;
      if (isReadFirst) stream.on("data", take);
      for (const each of steps) {
        if (each === "wait") await turns(1);
        else if (each === "pause") stream.pause();
        else if (each === "resume") isReadFirst && stream.resume();
        else {
          stream.push(bytesFrom(sent, each));
          sent += each;
        }
      }
      if (isReadFirst && !stream.isPaused()) {
        await turns(2);
        expect(Buffer.concat(got).byteLength).toBe(sent);
      }
      stream.push(null);
      if (!isReadFirst) stream.on("data", take);
      stream.resume();
      await new Promise((resolve) => stream.on("end", resolve));
      expect(Buffer.compare(Buffer.concat(got), bytesFrom(0, sent))).toBe(0);
    }),
    { numRuns: byDepth({ test: 100, gate: 100, all: 1000 }), seed, endOnFailure: true },
  );
});
