import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import type { PopNotes } from "../../worker/ports/store.ts";
import { MemoryNotes } from "../engine/memory/memory-notes.ts";
import { Scheduler } from "../engine/scheduler.ts";

/** One contract for a PoP's notes: the platform's and the memory engine's. */
function contract(name: string, start: () => Promise<PopNotes>): void {
  describe(name, () => {
    let notes: PopNotes;

    beforeAll(async () => {
      notes = await start();
    });

    test("a note that was never written is not found", async () => {
      expect(await notes.read("nothing")).toBeNull();
    });

    test("bytes come back unchanged, from none to 64 KiB", async () => {
      for (const bytes of [new Uint8Array(0), Uint8Array.from({ length: 65_536 }, (_, at) => at % 256)]) {
        await notes.write("bytes", bytes);
        expect(Buffer.from((await notes.read("bytes"))!).equals(bytes)).toBe(true);
      }
    });

    test("a later note replaces an earlier one of the same name only", async () => {
      await notes.write("one", Uint8Array.of(1));
      await notes.write("one", Uint8Array.of(2));
      await notes.write("other", Uint8Array.of(3));
      expect([...(await notes.read("one"))!]).toEqual([2]);
      expect([...(await notes.read("other"))!]).toEqual([3]);
    });
  });
}

contract("notes in memory", async () => {
  const scheduler = new Scheduler(1, 0);
  const notes = new MemoryNotes(scheduler);
  return {
    read: (name) => scheduler.settle(notes.read(name)),
    write: (name, bytes) => scheduler.settle(notes.write(name, bytes)),
  };
});

describe("in the Workers runtime", () => {
  let runtime: EdgeRuntime;

  beforeAll(async () => {
    const script = await bundleWorker(fileURLToPath(new URL("./pop-notes.worker.ts", import.meta.url)));
    runtime = await startEdgeRuntime({ script, variables: {} }, { port: 0 });
  });

  afterAll(() => runtime.stop());

  const notesOf = (of: string): PopNotes => ({
    read: async (name) => {
      const answer = await fetch(new URL(`/${of}/${name}`, runtime.url));
      return answer.status === 200 ? new Uint8Array(await answer.arrayBuffer()) : null;
    },
    write: async (name, bytes) => {
      await fetch(new URL(`/${of}/${name}`, runtime.url), { method: "POST", body: Uint8Array.from(bytes) });
    },
  });

  contract("notes in the Cache API", async () => notesOf("log-1"));

  test("isolates that are bound to another log have their own notes", async () => {
    await notesOf("log-1").write("view", Uint8Array.of(1));
    expect(await notesOf("log-2").read("view")).toBeNull();
    expect(await notesOf("log-1").read("view")).toEqual(Uint8Array.of(1));
  });
});

describe("notes in memory fail in the same ways as the platform's", () => {
  const written = async (treachery: Partial<ConstructorParameters<typeof MemoryNotes>[1]>) => {
    const scheduler = new Scheduler(1, 0);
    const notes = new MemoryNotes(scheduler, { lost: 0, overlooked: 0, stale: 0, ...treachery });
    for (const value of [1, 2]) await scheduler.settle(notes.write("note", Uint8Array.of(value)));
    const note = await scheduler.settle(notes.read("note"));
    return note && [...note];
  };

  test.each([
    ["honest", {}, [2]],
    ["lost", { lost: 1 }, null],
    ["overlooked", { overlooked: 1 }, null],
    ["stale", { stale: 1 }, [1]],
  ] as const)("a note may be %s", async (_, treachery, seen) => {
    expect(await written(treachery)).toEqual(seen);
  });

  test("a note cannot be seen before its write is done", async () => {
    const scheduler = new Scheduler(1, 0);
    const notes = new MemoryNotes(scheduler);
    const writing = notes.write("note", Uint8Array.of(1));
    const early = notes.read("note");
    expect(await scheduler.settle(early)).toBeNull();
    await scheduler.settle(writing);
    expect(await scheduler.settle(notes.read("note"))).toEqual(Uint8Array.of(1));
  });
});
