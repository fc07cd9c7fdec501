import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import { DiskTier } from "../../server/disk/disk-tier.ts";
import type { StreamedBody } from "../../worker/ports/bodies.ts";
import type { Found } from "../../worker/ports/store.ts";
import { variantKey } from "../../worker/rules/key/cache-key.ts";
import {
  changedHead,
  isMarker,
  isNewer,
  type Stored,
  type StoredHead,
  type StoredResponse,
  type VariantMarker,
} from "../../worker/rules/storing/stored-response.ts";
import { streamOf } from "../../worker/runtime/web-bodies.ts";
import { MemoryTier } from "../../worker/store/memory-tier.ts";
import type { SharedTier } from "../../worker/store/tiered-store.ts";
import { MemorySharedTier } from "../engine/memory/memory-shared-tier.ts";
import { Scheduler } from "../engine/scheduler.ts";
import { openDisk, bodyOf as piecesOf, readWhole, temporaryFolder } from "../server/disk/disk-under-test.ts";

/** One contract for every shared tier: the platforms' and the memory engine's. */
interface Subject {
  readonly tier: SharedTier;
  settle<T>(promise: Promise<T>): Promise<T>;
}

function stored(path: string, text: string, change: Partial<StoredHead> = {}): StoredResponse {
  const body = new TextEncoder().encode(text);
  return {
    body,
    head: {
      key: `https://www.example.test${path}`,
      variant: [],
      status: 404,
      fields: ["content-type", "text/plain; charset=utf-8", "x-text", "für – 漢字 ~", "set-cookie-like", "a, b"],
      hiddenFields: ["surrogate-control", "max-age=60"],
      bodyBytes: body.byteLength,
      bodyKey: null,
      reuse: {
        staleWhileRevalidateSeconds: 5,
        staleIfErrorSeconds: null,
        validateAlways: false,
        mayServeStale: true,
        mayServeStaleOverSMaxage: true,
        immutable: true,
      },
      fetchedAt: 1_767_268_800_000,
      receivedAt: 1_767_268_800_250,
      initialAgeMs: 1500,
      freshnessSeconds: 60,
      sharedWithAuthorized: true,
      sharedWithSessions: true,
      givenPurgeKeys: ["#ä"],
      stamp: { logId: "log", seq: 7 },
      ...change,
    },
  };
}

/** Reads all of its head, because the comparison sees only plain values. */
async function whole(found: Found | undefined): Promise<Stored | undefined> {
  if (!found || isMarker(found)) return found;
  const { head, body } = found;
  return { head: changedHead(head, {}), body: body && (await bytesOf(body)) };
}

async function bytesOf(body: Uint8Array<ArrayBuffer> | StreamedBody): Promise<Uint8Array<ArrayBuffer>> {
  return body instanceof Uint8Array ? body : new Uint8Array(await new Response(streamOf(body)).arrayBuffer());
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

function contract(name: string, start: () => Promise<Subject>): void {
  describe(name, () => {
    let subject: Subject;
    const put = (entry: StoredResponse) => subject.settle(subject.tier.put(entry));
    const get = async (key: string) => whole(await subject.settle(Promise.resolve(subject.tier.get(key))));
    const bodyOf = async (key: string) =>
      new TextDecoder().decode(((await get(key)) as StoredResponse).body ?? undefined);

    beforeAll(async () => {
      subject = await start();
    });

    test("a stored response comes back whole: status, fields of any characters, times, tags, stamp and bytes", async () => {
      const entry = stored("/whole", "bytes \u0000\u00ff für 漢字");
      await put(entry);
      expect(await get(entry.head.key)).toEqual(entry);
    });

    test("an empty body is a body", async () => {
      await put(stored("/empty", ""));
      expect(await bodyOf("https://www.example.test/empty")).toBe("");
    });

    test("a later put replaces an earlier one", async () => {
      await put(stored("/twice", "old"));
      await put(stored("/twice", "newer"));
      expect(await bodyOf("https://www.example.test/twice")).toBe("newer");
    });

    test.each([
      ["http://www.example.test/apart", "another scheme"],
      ["https://m.example.test/apart", "another host"],
      ["https://www.example.test/Apart", "another case"],
      ["https://www.example.test/apart?", "another query"],
      ["https://www.example.test/apart/", "another path"],
      ["https://www.example.test/apar%74", "another escape"],
    ])("%s is not found under a key that differs in %s", async (key) => {
      await put(stored("/apart", "v1"));
      expect(await get(key)).toBeUndefined();
    });

    test("keys that differ only in the order of the query are two entries", async () => {
      await put(stored("/q?a=1&b=2", "ab"));
      await put(stored("/q?b=2&a=1", "ba"));
      expect(await bodyOf("https://www.example.test/q?a=1&b=2")).toBe("ab");
    });

    test("variants and the marker that leads to them have keys of their own", async () => {
      const key = "https://www.example.test/vary";
      const variants = ["de", "für 漢字 %20/?#", null].map((value) => variantKey(key, [["accept-language", value]]));
      const marker: VariantMarker = {
        head: { key, stamp: { logId: "log", seq: 1 }, fetchedAt: 1 },
        variants: variants.map((each) => ({
          key: each,
          fields: [],
          encoding: "br",
          fetchedAt: 1,
          freshUntil: 0,
          variesBy: [],
        })),
      };
      await subject.settle(subject.tier.put(marker));
      for (const each of variants) await put(stored("/vary", each, { key: each }));
      expect(await get(key)).toEqual(marker);
      for (const each of variants) expect(await bodyOf(each)).toBe(each);
    });

    test("a body that is stored separately comes back whole or in part, and its entry without it", async () => {
      const key = "https://www.example.test/large";
      const entry = { ...stored("/large", "0123456789", { bodyKey: `${key}\n1-a` }), body: null };
      const whole = new Blob(["0123456789"]).stream();
      await subject.settle(subject.tier.putBody(`${key}\n1-a`, whole));
      await subject.settle(subject.tier.put(entry));
      expect(await get(key)).toEqual(entry);
      const read = async (part: { first: number; last: number } | null) => {
        const body = await subject.settle(subject.tier.getBody(`${key}\n1-a`, part));
        return body && new Response(streamOf(body)).text();
      };
      expect(await read(null)).toBe("0123456789");
      expect(await read({ first: 2, last: 4 })).toBe("234");
      expect(await subject.settle(subject.tier.getBody(`${key}\n1-b`, null))).toBeUndefined();
    });

    test("a deleted entry is not found", async () => {
      const entry = stored("/deleted", "v1");
      await put(entry);
      await subject.settle(subject.tier.delete(entry.head.key));
      expect(await get(entry.head.key)).toBeUndefined();
    });

    test("an entry that was never put is not found", async () => {
      expect(await get("https://www.example.test/never")).toBeUndefined();
    });
  });
}

contract("the memory engine's shared tier", async () => ofMemory(false));

contract("the memory engine's shared tier that misses at once", async () => ofMemory(true));

function ofMemory(missesAtOnce: boolean): Subject {
  const scheduler = new Scheduler(1, 0);
  return {
    tier: new MemorySharedTier(scheduler, { lostPuts: 0, evictions: 0, missesAtOnce }),
    settle: (promise) => scheduler.settle(promise),
  };
}

contract("the disk tier", async () => {
  const { folder, janitor } = openDisk(temporaryFolder(afterAll));
  await janitor.scan();
  const now = () => 0;
  const tier = new DiskTier({ folder, janitor: janitor.connect(), now, monotonicNow: now, say: console.error });
  return {
    tier: {
      get: (key) => tier.get(key),
      put: (entry) => tier.put(entry),
      delete: (key) => tier.delete(key),
      async getBody(bodyKey, part) {
        const body = await tier.getBody(bodyKey, part);
        return body && new Blob([new Uint8Array(await readWhole(body))]).stream();
      },
      async putBody(bodyKey, body) {
        await tier.putBody(bodyKey, piecesOf([new Uint8Array(await new Response(streamOf(body)).arrayBuffer())]));
      },
    },
    settle: (promise) => promise,
  };
});

describe("the Cache API", () => {
  let runtime: EdgeRuntime;
  const call = (path: string, init?: RequestInit) => fetch(new URL(path, runtime.url), init);

  beforeAll(async () => {
    const script = await bundleWorker("test/store/shared-tier.worker.ts");
    runtime = await startEdgeRuntime({ script, variables: {}, purgeLog: false }, { port: 0 });
  });

  afterAll(() => runtime.stop());

  contract("the Cache API tier", async () => ({
    tier: {
      async put(entry) {
        const sent = isMarker(entry) || !entry.body ? entry : { head: entry.head, hex: toHex(entry.body) };
        await call("/put", { method: "POST", body: JSON.stringify(sent) });
      },
      async get(key) {
        const found = (await (await call(`/get?key=${encodeURIComponent(key)}`)).json()) as {
          head: StoredHead;
          hex?: string;
        } | null;
        if (found?.hex === undefined) return (found as Stored | null) ?? undefined;
        const body = found.head.bodyKey === null ? new Uint8Array(Buffer.from(found.hex, "hex")) : null;
        return { head: found.head, body };
      },
      async delete(key) {
        await call(`/delete?key=${encodeURIComponent(key)}`);
      },
      async putBody(bodyKey, body) {
        const bytes = await new Response(streamOf(body)).arrayBuffer();
        await call(`/body?key=${encodeURIComponent(bodyKey)}`, { method: "POST", body: bytes });
      },
      async getBody(bodyKey, part) {
        const asked = part ? `&part=${part.first}-${part.last}` : "";
        const answer = await call(`/body?key=${encodeURIComponent(bodyKey)}${asked}`);
        return answer.status === 200 ? answer.body! : undefined;
      },
    },
    settle: (promise) => promise,
  }));

  test.each(["truncate", "version"])("a damaged entry is a miss: %s", async (how) => {
    const { head, body } = stored(`/${how}`, "0123456789");
    await call("/put", { method: "POST", body: JSON.stringify({ head, hex: toHex(body!) }) });
    const get = async () => (await call(`/get?key=${encodeURIComponent(head.key)}`)).json();
    expect(await get()).toMatchObject({ head: { key: head.key }, hex: toHex(body!) });
    const entry = encodeURIComponent(`https://www.example.test/_tidemark/entry/${how}`);
    await call(`/corrupt?how=${how}&entry=${entry}`);
    expect(await get()).toBeNull();
  });

  test("a part that a cut body does not have is a miss, and no other bytes come in its place", async () => {
    const key = encodeURIComponent("https://www.example.test/cut\n1-a");
    await call(`/body?key=${key}`, { method: "POST", body: "01234" });
    const read = async (part: string) => {
      const answer = await call(`/body?key=${key}&part=${part}`);
      return [answer.status, await answer.text()];
    };
    expect([await read("2-4"), await read("5-7")]).toEqual([
      [200, "234"],
      [404, ""],
    ]);
  });
});

describe("the memory engine's shared tier fails in the same ways as the platform's", () => {
  const key = "https://www.example.test/a";
  const look = async (tier: SharedTier) => tier.get(key);

  test("a put is invisible until it is done", async () => {
    const scheduler = new Scheduler(1, 0);
    const tier = new MemorySharedTier(scheduler, { lostPuts: 0, evictions: 0 });
    const put = tier.put(stored("/a", "v1"));
    const first = await scheduler.settle(Promise.race([look(tier).then(whole), put.then(() => "put first")]));
    expect([undefined, "put first"]).toContainEqual(first);
    await scheduler.settle(put);
    expect(await whole(await scheduler.settle(look(tier)))).toEqual(stored("/a", "v1"));
  });

  test("a put may be acknowledged and store nothing", async () => {
    const scheduler = new Scheduler(1, 0);
    const tier = new MemorySharedTier(scheduler, { lostPuts: 1, evictions: 0 });
    await scheduler.settle(tier.put(stored("/a", "v1")));
    expect(await scheduler.settle(look(tier))).toBeUndefined();
  });

  test("it can answer at once only if nothing is stored", async () => {
    const scheduler = new Scheduler(1, 0);
    const tier = new MemorySharedTier(scheduler, { lostPuts: 0, evictions: 0, missesAtOnce: true });
    expect(tier.get(key)).toBeUndefined();
    await scheduler.settle(tier.put(stored("/a", "v1")));
    expect(await whole(await scheduler.settle(tier.get(key)!))).toEqual(stored("/a", "v1"));
  });

  test("an entry may be evicted at any time", async () => {
    const scheduler = new Scheduler(1, 0);
    const tier = new MemorySharedTier(scheduler, { lostPuts: 0, evictions: 1 });
    await scheduler.settle(tier.put(stored("/a", "v1")));
    expect(await scheduler.settle(look(tier))).toBeUndefined();
  });
});

describe("the memory tier", () => {
  const filled = (path: string, change: Partial<StoredHead> = {}) => stored(path, "x".repeat(1000), change);

  test("stays within its bound, and evicts the least recently used entries first", () => {
    const tier = new MemoryTier(40_000);
    for (let index = 0; index < 5; index++) tier.put(filled(`/${index}`));
    tier.get("https://www.example.test/0");
    for (let index = 5; index < 30; index++) {
      tier.put(filled(`/${index}`));
      tier.get("https://www.example.test/0");
      expect(tier.heldBytes).toBeLessThanOrEqual(40_000);
    }
    expect(tier.get("https://www.example.test/0")).toMatchObject({ head: { key: "https://www.example.test/0" } });
    expect(tier.get("https://www.example.test/1")).toBeUndefined();
    expect(tier.size).toBeGreaterThan(5);
  });

  test("does not evict all entries for one large one", () => {
    const tier = new MemoryTier(40_000);
    tier.put(filled("/small"));
    tier.put(stored("/large", "x".repeat(6000)));
    expect(tier.get("https://www.example.test/large")).toBeUndefined();
    expect(tier.get("https://www.example.test/small")).toMatchObject({
      head: { key: "https://www.example.test/small" },
    });
  });

  test("does not keep the old entry of a page that has become too large", () => {
    const tier = new MemoryTier(40_000);
    tier.put(filled("/a"));
    tier.put(stored("/a", "x".repeat(6000), { fetchedAt: 1_767_268_800_001 }));
    expect(tier.get("https://www.example.test/a")).toBeUndefined();
  });

  test("an entry that was replaced takes no memory", () => {
    const tier = new MemoryTier(40_000);
    tier.put(filled("/a"));
    const once = tier.heldBytes;
    for (let index = 1; index < 10; index++) tier.put(filled("/a", { fetchedAt: 1_767_268_800_000 + index }));
    expect({ bytes: tier.heldBytes, size: tier.size }).toEqual({ bytes: once, size: 1 });
  });

  test.each<[string, Partial<StoredHead>]>([
    ["tags", { givenPurgeKeys: Array.from({ length: 100 }, (_, index) => `#${String(index).padStart(100, "0")}`) }],
    ["fields", { fields: ["x-long", "x".repeat(10_000)] }],
  ])("the %s of pages count as memory that these take", (_, change) => {
    const tier = new MemoryTier(400_000);
    for (let index = 0; index < 100; index++) tier.put(filled(`/${index}`, change));
    expect(tier.size).toBeGreaterThan(1);
    expect(tier.size * 10_000).toBeLessThanOrEqual(400_000);
  });

  test("a late response does not replace one with a later stamp (R23)", () => {
    const tier = new MemoryTier(40_000);
    const newer = filled("/a", { stamp: { logId: "log", seq: 9 }, fetchedAt: 5 });
    const late = filled("/a", { stamp: { logId: "log", seq: 8 }, fetchedAt: 9 });
    tier.put(newer);
    tier.put(late);
    expect(tier.get(newer.head.key)).toBe(newer);
    expect(isNewer(late, filled("/a", { stamp: { logId: "other", seq: 1 } }))).toBe(false);
  });
});
