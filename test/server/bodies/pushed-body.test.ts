import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { BodyFiles } from "../../../server/bodies/body-files.ts";
import { PushedBody } from "../../../server/bodies/pushed-body.ts";

import { Spool } from "../../../server/bodies/spool.ts";

function readlinkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // the one by which this folder is read
  }
}

/** A body with the record of what its source is told. */
function pushed(): { body: PushedBody; told: string[] } {
  const told: string[] = [];
  const tell = (what: string) => () => void told.push(what);
  return { body: new PushedBody(null, { pause: tell("pause"), resume: tell("resume"), cancel: tell("cancel") }), told };
}

describe("a body whose source pushes its pieces", () => {
  test.each([1, 1000, 64 * 1024 - 1])(
    "pauses its source at 64 KiB that wait in pieces of %s bytes, and resumes it when less than half waits",
    async (size) => {
      const { body, told } = pushed();
      let waiting = 0;
      for (; waiting < 64 * 1024; waiting += size) {
        expect(told).toEqual([]);
        body.push(new Uint8Array(size));
      }
      const reader = body.read();
      while (waiting >= 32 * 1024) {
        expect(told).toEqual(["pause"]);
        waiting -= (await reader.next())!.byteLength;
      }
      expect(told).toEqual(["pause", "resume"]);
    },
  );

  test.runIf(process.platform === "linux").each<[string, (body: PushedBody) => void]>([
    ["ends", (body) => body.end()],
    ["breaks off", (body) => body.fail(new Error("cut"))],
  ])("holds no file once its source %s while the reader waits", async (_, finish) => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-pushed-"));
    const { body } = pushed();
    const closed = vi.spyOn(Spool.prototype, "close");
    try {
      body.spoolIn({ files: new BodyFiles(folder, 1e6, null), maxBytes: 1e6 });
      const reader = body.read();
      for (let count = 0; count < 2; count++) body.push(new Uint8Array(70_000));
      for (let got = 0; got < 140_000; ) got += (await reader.next())!.byteLength;
      const last = reader.next().catch(() => null);
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate); // until the reader waits
      finish(body);
      expect(await last).toBeNull();
      await closed.mock.results[0]?.value;
      const open = readdirSync("/proc/self/fd").map((each) => readlinkOf(`/proc/self/fd/${each}`));
      expect(open.filter((path) => path.includes(folder))).toEqual([]);
    } finally {
      closed.mockRestore();
      rmSync(folder, { recursive: true });
    }
  });

  test("joins small pieces that wait, in their order, and gives others unchanged", async () => {
    const { body } = pushed();
    const [small, large] = [Uint8Array.of(1), new Uint8Array(4096)];
    const many = Array.from({ length: 16 }, (_, index) => Uint8Array.of(index, index));
    const all = Uint8Array.from(many.flatMap((piece) => [...piece]));
    const reader = body.read();
    const first = reader.next();
    for (const piece of [small, ...many, large, small]) body.push(piece);
    body.end();
    expect(await first).toBe(small);
    expect(await reader.next()).toEqual(all);
    expect(await reader.next()).toBe(large);
    expect(await reader.next()).toBe(small);
    expect(await reader.next()).toBeNull();
  });

  /** What is taken of one piece of `bytes` in a buffer of 100. */
  function takenOf(bytes: number): { piece: Uint8Array; whole: Uint8Array<ArrayBuffer> } {
    const { body } = pushed();
    const piece = new Uint8Array(Uint8Array.from({ length: 100 }, (_, index) => index).buffer, 100 - bytes, bytes);
    body.push(piece);
    body.end();
    const whole = body.takeWhole(bytes)!;
    expect(whole).toEqual(piece);
    expect(body.takeWhole(bytes)).toBeUndefined();
    return { piece, whole };
  }

  test("is taken whole without a copy if it is one piece and at least half of its buffer", () => {
    const { piece, whole } = takenOf(50);
    expect(whole.buffer).toBe(piece.buffer);
  });

  test("is copied out of a larger buffer, so that the buffer can be freed", () => {
    expect(takenOf(49).whole.buffer.byteLength).toBe(49);
  });

  test("is joined if it is several pieces", () => {
    const { body } = pushed();
    for (const piece of [Uint8Array.of(1, 2), Uint8Array.of(3)]) body.push(piece);
    body.end();
    expect(body.takeWhole(3)).toEqual(Uint8Array.of(1, 2, 3));
  });
});
