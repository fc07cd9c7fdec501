import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HeldBodies } from "../../../server/bodies/held-bodies.ts";
import { PushedBody } from "../../../server/bodies/pushed-body.ts";
import { joined } from "../../../worker/rules/storing/joined.ts";
import { byDepth } from "../../suite/depth.ts";
import { seed } from "../../suite/seed.ts";
import { until } from "../../suite/until.ts";
import { usedHeapBytes } from "../../suite/used-heap.ts";
import { openFiles } from "../open-files.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const PIECE = 50_000;
/** What waits in memory before the spool is used. */
const WAITING = 64 * KIB;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** An origin that sends pieces in which each byte tells its place, as long as it is not paused. */
class Sending {
  readonly body: PushedBody;
  isPaused = false;
  sentBytes = 0;

  readonly #bodies: HeldBodies;

  /** `maxBytes`: how much is read ahead; `null` for nothing yet. */
  constructor(bodies: HeldBodies, maxBytes: number | null) {
    this.#bodies = bodies;
    this.body = new PushedBody(null, {
      pause: () => {
        this.isPaused = true;
      },
      resume: () => {
        this.isPaused = false;
      },
      cancel: () => undefined,
    });
    if (maxBytes !== null) bodies.readAhead(this.body, maxBytes);
  }

  send(bytes: number): void {
    const from = this.sentBytes;
    this.sentBytes += bytes;
    this.body.push(Uint8Array.from({ length: bytes }, (_, each) => (from + each) % 251));
  }

  /** Sends until it is paused, because nothing can be written. */
  async sendUntilPaused(): Promise<void> {
    while (!this.isPaused) {
      this.send(PIECE);
      await new Promise(setImmediate);
    }
  }

  /** Sends until there is no room. A disk that is slower than that pauses it only for a while. */
  async sendUntilFull(isFull: () => boolean): Promise<void> {
    while (!isFull()) {
      if (!this.isPaused) this.send(PIECE);
      await new Promise(setImmediate);
    }
    await until(() => this.isPaused);
  }

  /** Sends to a reader that reads nothing, until it is paused, and lets the disk write each piece. */
  async sendAll(wholeBytes: number): Promise<void> {
    while (!this.isPaused && this.sentBytes < wholeBytes) {
      this.send(Math.min(PIECE, wholeBytes - this.sentBytes));
      await until(() => this.isPaused || this.#bodies.taken.fileBytes + WAITING + 2 * PIECE > this.sentBytes);
    }
  }
}

/** How many files below the folder are open. */
function openBelow(): number {
  return openFiles().filter((path) => path.startsWith(folder)).length;
}

/** All that comes out, to the end. */
async function allOf({ body, sentBytes }: Sending): Promise<Uint8Array> {
  const reader = body.read();
  const read: Uint8Array[] = [];
  for (let piece = await reader.next(); piece !== null; piece = await reader.next()) read.push(piece);
  return joined(read, sentBytes);
}

const expected = (bytes: number) => Uint8Array.from({ length: bytes }, (_, each) => each % 251);

test("an answer that nobody reads is received up to the limit, and then waits for its reader", {
  tags: ["deep"],
}, async () => {
  const bodies = new HeldBodies({ memoryBytes: MIB, fileBytes: 8 * MIB, mostFiles: null, folder });
  const origin = new Sending(bodies, MIB);
  await origin.sendAll(4 * MIB);
  expect(origin.sentBytes).toBeGreaterThan(0.7 * MIB);
  expect(origin.sentBytes).toBeLessThan(1.7 * MIB);
  expect(readdirSync(folder)).toEqual([]);
  expect(openBelow()).toBe(1);

  const reader = origin.body.read();
  const read: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < 4 * MIB) {
    const piece = (await reader.next())!;
    read.push(piece);
    bytes += piece.byteLength;
    if (!origin.isPaused && origin.sentBytes < 4 * MIB) origin.send(Math.min(PIECE, 4 * MIB - origin.sentBytes));
  }
  origin.body.end();
  expect(await reader.next()).toBeNull();
  expect(Buffer.compare(joined(read, bytes), expected(bytes))).toBe(0);
  expect(bodies.taken.fileBytes).toBe(0);
  expect(openBelow()).toBe(0);
});

test.each([
  { what: "the limit", fileBytes: 8 * MIB, maxBytes: MIB },
  { what: "all room", fileBytes: MIB, maxBytes: 8 * MIB },
])("an answer that waits at $what comes on with each part that its reader takes, and in no more room", async (room) => {
  const bodies = new HeldBodies({ memoryBytes: MIB, mostFiles: null, folder, ...room });
  const origin = new Sending(bodies, room.maxBytes);
  await origin.sendAll(4 * MIB);
  const reader = origin.body.read();
  const read: Uint8Array[] = [];
  let bytes = 0;
  let most = 0;
  while (bytes < 3 * MIB) {
    expect(origin.isPaused).toBe(true);
    for (const before = bytes; bytes < before + 256 * KIB; bytes += read.at(-1)!.byteLength) {
      read.push((await reader.next())!);
    }
    await until(() => !origin.isPaused);
    await origin.sendUntilFull(() => origin.sentBytes - bytes > bodies.taken.fileBytes);
    most = Math.max(most, bodies.taken.fileBytes);
  }
  expect(most).toBeLessThanOrEqual(MIB);
  origin.body.end();
  for (let piece = await reader.next(); piece !== null; piece = await reader.next()) read.push(piece);
  expect(Buffer.compare(joined(read, origin.sentBytes), expected(origin.sentBytes))).toBe(0);
  expect(bodies.taken.fileBytes).toBe(0);
  expect(openBelow()).toBe(0);
});

test("a paused answer comes on as soon as it may be read ahead, and in its order", async () => {
  const bodies = new HeldBodies({ memoryBytes: MIB, fileBytes: 8 * MIB, mostFiles: null, folder });
  const origin = new Sending(bodies, null);
  await origin.sendUntilPaused();
  bodies.readAhead(origin.body, MIB);
  expect(origin.isPaused).toBe(false);
  await origin.sendAll(600 * KIB);
  expect(origin.sentBytes).toBe(600 * KIB);
  origin.body.end();
  expect(Buffer.compare(await allOf(origin), expected(origin.sentBytes))).toBe(0);
  expect(bodies.taken.fileBytes).toBe(0);
});

test("when its reader has caught up, an answer keeps a small file for what comes next, but no large one", async () => {
  const bodies = new HeldBodies({ memoryBytes: MIB, fileBytes: 8 * MIB, mostFiles: null, folder });
  const origin = new Sending(bodies, 2 * MIB);
  const reader = origin.body.read();
  const read: Uint8Array[] = [];
  let bytes = 0;
  const take = (piece: Uint8Array | null) => {
    read.push(piece!);
    bytes += piece!.byteLength;
  };
  for (const [inFile, kept] of [
    [200 * KIB, 1],
    [900 * KIB, 0],
    [200 * KIB, 1],
  ] as const) {
    origin.send(WAITING);
    origin.send(inFile);
    await until(() => bodies.taken.fileBytes === inFile);
    while (bytes < origin.sentBytes) take(await reader.next());
    const next = reader.next();
    await until(() => bodies.taken.fileBytes === 0 && openBelow() <= kept);
    expect(openBelow()).toBe(kept);
    origin.send(1);
    take(await next);
  }
  origin.body.end();
  expect(await reader.next()).toBeNull();
  expect(Buffer.compare(joined(read, bytes), expected(origin.sentBytes))).toBe(0);
  expect(openBelow()).toBe(0);
});

test.each(["the room is taken", "no file can be written", "too many files are open"])(
  "if %s, the origin is paused, and nothing is lost",
  async (why) => {
    writeFileSync(join(folder, "taken"), "");
    const bodies = new HeldBodies({
      memoryBytes: MIB,
      fileBytes: why === "the room is taken" ? 1 : MIB,
      mostFiles: why === "too many files are open" ? 0 : null,
      folder: why === "no file can be written" ? join(folder, "taken") : folder,
    });
    const origin = new Sending(bodies, MIB);
    await origin.sendUntilPaused();
    await until(() => origin.isPaused);
    expect(origin.sentBytes).toBeLessThan(MIB);
    origin.body.end();
    expect(Buffer.compare(await allOf(origin), expected(origin.sentBytes))).toBe(0);
    expect(bodies.taken.fileBytes).toBe(0);
  },
);

test.each([
  { what: "the disk writes", fileBytes: 8 * MIB },
  { what: "they have no room there", fileBytes: 0 },
])("bytes that wait until $what take no more memory because they come one by one", async ({ fileBytes }) => {
  const origin = new Sending(new HeldBodies({ memoryBytes: MIB, fileBytes, mostFiles: null, folder }), MIB);
  const before = usedHeapBytes();
  while (!origin.isPaused) origin.send(1);
  expect(usedHeapBytes() - before).toBeLessThan(2 * MIB);
  expect(origin.sentBytes).toBeGreaterThan(256 * KIB);
  origin.body.end();
  expect(Buffer.compare(await allOf(origin), expected(origin.sentBytes))).toBe(0);
  expect(origin.body.taken).toBeLessThan(50);
});

test("an answer that nobody reads any more frees its room", async () => {
  const bodies = new HeldBodies({ memoryBytes: MIB, fileBytes: 8 * MIB, mostFiles: null, folder });
  const origin = new Sending(bodies, MIB);
  await origin.sendAll(600 * KIB);
  await origin.body.cancel();
  expect(openBelow()).toBe(0);
  expect(bodies.taken.fileBytes).toBe(0);
});

test("an answer that breaks off gives the bytes before that, and then the error", async () => {
  const origin = new Sending(new HeldBodies({ memoryBytes: MIB, fileBytes: 8 * MIB, mostFiles: null, folder }), MIB);
  await origin.sendAll(600 * KIB);
  origin.body.fail(new Error("the origin has gone"));
  const reader = origin.body.read();
  let bytes = 0;
  const readOn = async () => {
    for (;;) bytes += (await reader.next())!.byteLength;
  };
  await expect(readOn()).rejects.toThrow("the origin has gone");
  expect(bytes).toBe(600 * KIB);
});

test("in any order of sending and reading, the same bytes come out", { tags: ["gate"] }, async () => {
  const step = fc.oneof(
    fc.record({ send: fc.integer({ min: 1, max: 200_000 }) }),
    fc.constant("read" as const),
    fc.constant("wait" as const),
    fc.constant("read ahead" as const),
  );
  const room = fc.integer({ min: 0, max: 600_000 });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), room, room, async (steps, fileBytes, maxBytes) => {
      const bodies = new HeldBodies({ memoryBytes: MIB, fileBytes, mostFiles: null, folder });
      const origin = new Sending(bodies, null);
      const reader = origin.body.read();
      const read: Uint8Array[] = [];
      let bytes = 0;
      const take = (piece: Uint8Array) => {
        read.push(piece);
        bytes += piece.byteLength;
      };
      for (const each of steps) {
        if (each === "wait") await new Promise(setImmediate);
        else if (each === "read ahead") bodies.readAhead(origin.body, maxBytes);
        else if (each !== "read") origin.send(each.send);
        else if (bytes < origin.sentBytes) take((await reader.next())!);
      }
      origin.body.end();
      for (let piece = await reader.next(); piece !== null; piece = await reader.next()) take(piece);
      expect(Buffer.compare(joined(read, bytes), expected(origin.sentBytes))).toBe(0);
      expect(bodies.taken.fileBytes).toBe(0);
    }),
    { numRuns: byDepth({ test: 20, gate: 20, all: 60, explore: 500 }), seed, endOnFailure: true },
  );
});
