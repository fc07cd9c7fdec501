import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HeldBodies } from "../../../server/bodies/held-bodies.ts";
import { nodeBody } from "../../../server/bodies/node-body.ts";
import { makePipe } from "../../../server/bodies/pipe.ts";
import type { StreamedBody } from "../../../worker/ports/bodies.ts";
import { joined } from "../../../worker/rules/storing/joined.ts";
import { byDepth } from "../../suite/depth.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const NOTHING = { memoryBytes: 0, fileBytes: 0 };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const roomy = () => new HeldBodies({ memoryBytes: MIB, fileBytes: 8 * MIB, mostFiles: null, folder });

/** Pieces of these sizes, in which each byte tells its place. */
function pieces(sizes: readonly number[]): Uint8Array[] {
  let at = 0;
  return sizes.map((size) => Uint8Array.from({ length: size }, () => at++ % 251));
}

async function readAll(body: StreamedBody): Promise<Uint8Array> {
  const reader = nodeBody(body).read();
  const read: Uint8Array[] = [];
  for (let piece = await reader.next(); piece !== null; piece = await reader.next()) read.push(piece);
  return joined(
    read,
    read.reduce((sum, { byteLength }) => sum + byteLength, 0),
  );
}

/** Lets a client send these pieces, and then end well. */
function sent(all: readonly Uint8Array[], announced: number | null = null): StreamedBody {
  const { readable, writable } = makePipe(announced);
  const write = async () => {
    for (const piece of all) await writable.write(piece);
    await writable.close();
  };
  write().catch(() => undefined);
  return readable;
}

describe("a request's body", () => {
  test("is held until its last byte has arrived, and then has a length", async () => {
    const bodies = roomy();
    const { readable, writable } = makePipe(null);
    let isHere = false;
    const held = bodies.hold(readable, MIB).then((body) => {
      isHere = true;
      return body;
    });
    for (const piece of pieces([1, 1, 1])) await writable.write(piece);
    expect(isHere).toBe(false);
    await writable.close();
    expect(nodeBody(await held).lengthBytes).toBe(3);
    expect(await readAll(await held)).toEqual(pieces([3])[0]);
    expect(bodies.taken).toEqual(NOTHING);
  });

  test("of many single bytes takes at most twice their number of bytes of memory, or 256", async () => {
    const bodies = roomy();
    const { readable, writable } = makePipe(null);
    const held = bodies.hold(readable, MIB);
    for (let count = 1; count <= 1000; count++) {
      await writable.write(Uint8Array.of(1));
      expect(bodies.taken.memoryBytes).toBeLessThanOrEqual(Math.max(256, 2 * count));
    }
    await writable.close();
    await (await held).cancel();
    expect(bodies.taken).toEqual(NOTHING);
  });

  test("that is larger than 64 KiB is in a file without a name", async () => {
    const bodies = roomy();
    const all = pieces([60 * KIB, 10 * KIB, 200 * KIB, 1]);
    const held = await bodies.hold(sent(all), MIB);
    expect(bodies.taken.fileBytes).toBeGreaterThanOrEqual(270 * KIB);
    expect(bodies.taken.memoryBytes).toBeLessThanOrEqual(64 * KIB);
    expect(readdirSync(folder)).toEqual([]);
    expect(await readAll(held)).toEqual(joined(all, 270 * KIB + 1));
    expect(bodies.taken).toEqual(NOTHING);
  });

  test("that breaks off is an error, and then takes no memory", async () => {
    const bodies = roomy();
    const { readable, writable } = makePipe(null);
    const held = bodies.hold(readable, MIB);
    await writable.write(new Uint8Array(100 * KIB));
    await writable.abort(new Error("the client has left"));
    await expect(held).rejects.toThrow("the client has left");
    expect(bodies.taken).toEqual(NOTHING);
  });

  test.each([
    { why: "that announces more than may be held", sizes: [1000, 25], maxBytes: 1024, announced: 1025 },
    {
      why: "that turns out to be longer than may be held",
      sizes: [1000, 24, 1, 70_000],
      maxBytes: 1024,
      announced: null,
    },
    {
      why: "for which the memory and the disk have no room",
      sizes: [60_000, 200_000, 5],
      maxBytes: MIB,
      announced: null,
    },
  ])("$why is passed on as it arrives, with every byte", async ({ sizes, maxBytes, announced }) => {
    const bodies = new HeldBodies({ memoryBytes: 70 * KIB, fileBytes: 100_000, mostFiles: null, folder });
    const { readable, writable } = makePipe(announced);
    const held = bodies.hold(readable, maxBytes);
    const all = pieces(sizes);
    const wholeBytes = sizes.reduce((sum, size) => sum + size, 0);
    const written = (async () => {
      for (const piece of all) await writable.write(piece);
      await held; // It is given before its end.
      await writable.close();
    })();
    const body = await held;
    expect(nodeBody(body).lengthBytes).toBe(announced);
    expect(await readAll(body)).toEqual(joined(all, wholeBytes));
    await written;
    expect(bodies.taken).toEqual(NOTHING);
  });

  test("is also passed on if no file can be written", async () => {
    writeFileSync(join(folder, "taken"), "");
    const bodies = new HeldBodies({ memoryBytes: MIB, fileBytes: MIB, mostFiles: null, folder: join(folder, "taken") });
    const all = pieces([60 * KIB, 60 * KIB, 60 * KIB]);
    expect(await readAll(await bodies.hold(sent(all), MIB))).toEqual(joined(all, 180 * KIB));
    expect(bodies.taken).toEqual(NOTHING);
  });

  test("is held in a file again once files can be written, however many could not", async () => {
    const taken = join(folder, "taken");
    writeFileSync(taken, "");
    const bodies = new HeldBodies({ memoryBytes: MIB, fileBytes: MIB, mostFiles: 2, folder: taken });
    const hold = () => bodies.hold(sent(pieces([100 * KIB])), MIB);
    for (let tries = 0; tries < 2; tries++) await (await hold()).cancel();
    rmSync(taken);
    const held = await hold();
    expect(nodeBody(held).lengthBytes).toBe(100 * KIB);
    await held.cancel();
    expect(bodies.taken).toEqual(NOTHING);
  });

  test("is passed on as it arrives while as many files are open as may be, and is held once one of these is closed", async () => {
    const bodies = new HeldBodies({ memoryBytes: MIB, fileBytes: MIB, mostFiles: 1, folder });
    const pieceOf = () => pieces([100 * KIB]);
    const first = await bodies.hold(sent(pieceOf()), MIB);
    const second = await bodies.hold(sent(pieceOf()), MIB);
    expect(nodeBody(first).lengthBytes).toBe(100 * KIB);
    expect(nodeBody(second).lengthBytes).toBeNull();
    await first.cancel();
    expect(nodeBody(await bodies.hold(sent(pieceOf()), MIB)).lengthBytes).toBe(100 * KIB);
    expect(await readAll(second)).toEqual(joined(pieceOf(), 100 * KIB));
  });

  test("that nobody reads to its end frees everything once it is cancelled", async () => {
    const bodies = roomy();
    const held = await bodies.hold(sent(pieces([300 * KIB])), MIB);
    const reader = nodeBody(held).read();
    await reader.next();
    await reader.cancel();
    await held.cancel();
    expect(bodies.taken).toEqual(NOTHING);
  });

  test("that is passed on as it arrives keeps its client waiting no more once it is cancelled", async () => {
    const bodies = roomy();
    const { readable, writable } = makePipe(null);
    const held = bodies.hold(readable, KIB);
    const sending = (async () => {
      for (;;) await writable.write(new Uint8Array(64 * KIB));
    })();
    await (await held).cancel(new Error("the origin is gone"));
    await expect(sending).rejects.toThrow();
    expect(bodies.taken).toEqual(NOTHING);
  });
});

test("in any pieces and with any room, the same bytes come out, and everything is freed", {
  tags: ["gate"],
}, async () => {
  const size = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 90 * KIB }));
  const room = fc.record({
    memory: fc.integer({ max: 200 * KIB, min: 0 }),
    file: fc.integer({ max: 300 * KIB, min: 0 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(size, { maxLength: 12 }),
      room,
      fc.boolean(),
      fc.integer({ min: 1, max: 400 * KIB }),
      async (sizes, { memory, file }, tells, maxBytes) => {
        const bodies = new HeldBodies({ memoryBytes: memory, fileBytes: file, mostFiles: null, folder });
        const all = pieces(sizes);
        const bytes = sizes.reduce((sum, each) => sum + each, 0);
        const held = await bodies.hold(sent(all, tells ? bytes : null), maxBytes);
        expect(await readAll(held)).toEqual(joined(all, bytes));
        expect(bodies.taken).toEqual(NOTHING);
      },
    ),
    { numRuns: byDepth({ test: 15, gate: 15, all: 50 }), endOnFailure: true },
  );
});
