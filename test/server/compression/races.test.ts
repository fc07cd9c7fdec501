import { expect, test } from "vitest";
import { encode } from "../../../server/compression/encode.ts";
import { byDepth } from "../../suite/depth.ts";
import { turns } from "../../suite/turns.ts";
import { CompressingIsolate, HeldEncode } from "./compressing-isolate.ts";

const V1 = "The first version. ".repeat(300);
const V2 = "The second version. ".repeat(300);
const BROWSER = { "accept-encoding": "br" };

/** Digits without a pattern, which codings make less than half as long. */
function digits(length: number, seed: number): string {
  let state = seed;
  let text = "";
  while (text.length < length) {
    state = (state * 48_271) % 2_147_483_647;
    text += String(state % 1_000_000).padStart(6, "0");
  }
  return text;
}

test("a page is compressed once, however many ask for it meanwhile", async () => {
  const held = new HeldEncode();
  const edge = new CompressingIsolate({ encode: held.encode });
  edge.page("/a", V1);
  const answers = await Promise.all(Array.from({ length: 50 }, () => edge.ask("/a", BROWSER)));
  await turns(20);
  for (let more = 0; more < 50; more++) answers.push(await edge.ask("/a", BROWSER));
  expect(answers.map(({ coding, text }) => [coding, text])).toEqual(answers.map(() => [null, V1]));
  expect(held.waiting).toBe(1);
  held.release();
  await edge.settled();
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ coding: "br", text: V1, xCache: "HIT" });
  expect({ made: edge.made, asked: edge.asked }).toEqual({ made: 1, asked: 1 });
});

test("a page that finds too many waiting to be compressed is compressed after a later request", async () => {
  const held = new HeldEncode();
  const edge = new CompressingIsolate({ encode: held.encode });
  const last = 2 + 256;
  for (let each = 0; each <= last; each++) {
    edge.page(`/${each}`, V1);
    await edge.ask(`/${each}`, BROWSER);
  }
  while (edge.made < last || held.waiting > 0) {
    if (held.waiting > 0) held.release();
    await turns(20);
  }
  await edge.settled();
  expect({ made: edge.made, coding: (await edge.ask("/0", BROWSER)).coding }).toEqual({ made: last, coding: "br" });
  expect(await edge.ask(`/${last}`, BROWSER)).toMatchObject({ coding: null, text: V1, xCache: "HIT" });
  await turns(20);
  held.release();
  await edge.settled();
  expect(await edge.ask(`/${last}`, BROWSER)).toMatchObject({ coding: "br", text: V1 });
});

test("if a page is purged while it is compressed, the form is never sent, not even for the page that replaces it", async () => {
  const held = new HeldEncode();
  const edge = new CompressingIsolate({ encode: held.encode });
  edge.page("/a", V1);
  await edge.ask("/a", BROWSER);
  await turns(20);
  expect(held.waiting).toBe(1);
  await edge.purge();
  edge.page("/a", V2);
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ coding: null, text: V2, xCache: "MISS" });
  await turns(20);
  expect(held.waiting).toBe(2);
  held.release(); // of the first version
  await turns(20);
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ coding: null, text: V2, xCache: "HIT" });
  held.release();
  await edge.settled();
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ coding: "br", text: V2, xCache: "HIT" });
});

test("a form that is finished after that of the newer page changes nothing", async () => {
  const held = new HeldEncode();
  const edge = new CompressingIsolate({ encode: held.encode });
  edge.page("/a", V1);
  await edge.ask("/a", BROWSER);
  await turns(20);
  await edge.clock.advance(61_000);
  edge.page("/a", V2);
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ text: V2, xCache: "EXPIRED" });
  await turns(20);
  held.release(1);
  await turns(20);
  while ((await edge.ask("/a", BROWSER)).coding === null) await turns(20);
  held.release();
  await edge.settled();
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ coding: "br", text: V2, xCache: "HIT" });
});

test("if an unsafe request removes a page while it is compressed, the page does not come back", async () => {
  const held = new HeldEncode();
  const edge = new CompressingIsolate({ encode: held.encode });
  edge.page("/a", V1);
  await edge.ask("/a", BROWSER);
  await turns(20);
  await edge.ask("/a", {}, "POST");
  expect((await edge.stats()).memory.entries).toBe(0);
  held.release();
  await edge.settled();
  expect((await edge.stats()).memory.entries).toBe(0);
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ xCache: "MISS", coding: null });
  held.release();
  await edge.settled();
});

test("a page that is confirmed while it is compressed is sent compressed with its new fields", async () => {
  const held = new HeldEncode();
  const edge = new CompressingIsolate({ encode: held.encode });
  edge.page("/a", V1, { etag: '"1"', "x-seen": "1" });
  await edge.ask("/a", BROWSER);
  await turns(20);
  await edge.clock.advance(61_000);
  edge.page("/a", V1, { etag: '"1"', "x-seen": "2" });
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ xCache: "REVALIDATED", coding: null });
  await turns(20);
  expect(held.waiting).toBe(1);
  held.release();
  await edge.settled();
  const { coding, text, fields } = await edge.ask("/a", BROWSER);
  expect({ coding, text, seen: fields["x-seen"] }).toEqual({ coding: "br", text: V1, seen: "2" });
  expect(edge.made).toBe(1);
});

/** They take more than the memory together. */
const PAGES = byDepth({ test: 150, gate: 150, all: 400 });

test("compressed forms count against the memory, and are evicted with their page", { tags: ["gate"] }, async () => {
  const memoryBytes = 4 * 1024 * 1024;
  const edge = new CompressingIsolate({ memoryBytes });
  edge.page("/a", V1);
  await edge.ask("/a");
  await edge.settled();
  const before = (await edge.stats()).memory.bytes;
  await edge.ask("/a", BROWSER);
  await edge.settled();
  const { bytes } = await edge.ask("/a", BROWSER);
  expect((await edge.stats()).memory.bytes).toBe(before + bytes.byteLength);
  await edge.ask("/a", { "accept-encoding": "gzip" });
  await edge.settled();
  const zipped = await edge.ask("/a", { "accept-encoding": "gzip" });
  expect((await edge.stats()).memory.bytes).toBe(before + bytes.byteLength + zipped.bytes.byteLength);
  await edge.ask("/a", {}, "POST");
  expect((await edge.stats()).memory).toMatchObject({ entries: 0, bytes: 0 });
  for (let page = 0; page < PAGES; page++) {
    edge.page(`/${page}`, digits(20_000, page + 1));
    await edge.ask(`/${page}`, BROWSER);
    await edge.settled();
    expect((await edge.stats()).memory.bytes).toBeLessThanOrEqual(memoryBytes);
  }
  expect((await edge.stats()).memory.bytes).toBeGreaterThan(memoryBytes / 2);
});

test("if memory has no room for a page and its compressed form, the page stays and is sent plain", async () => {
  const memoryBytes = 8 * 1024 * 1024;
  const edge = new CompressingIsolate({ memoryBytes });
  const large = digits(600_000, 1);
  edge.page("/a", large);
  await edge.ask("/a", BROWSER);
  await edge.settled();
  for (let again = 0; again < 3; again++) {
    const { xCache, coding, text } = await edge.ask("/a", BROWSER);
    expect({ xCache, coding, isWhole: text === large }).toEqual({ xCache: "HIT", coding: null, isWhole: true });
    await edge.settled();
  }
  expect(edge.made).toBe(1);
});

test("a failure is reported, the page is sent plain, and the next request has it compressed", async () => {
  let fails = true;
  const edge = new CompressingIsolate({
    encode: async (...task) => {
      if (fails) throw new Error("no memory for this");
      return encode(...task);
    },
  });
  edge.page("/a", V1);
  await edge.ask("/a", BROWSER);
  await edge.settled();
  expect(edge.failures).toEqual([new Error("no memory for this")]);
  fails = false;
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: null, text: V1 });
  await edge.settled();
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ coding: "br", text: V1 });
});

test("compressing a crawler's pages does not evict the pages that visitors read", {
  tags: ["deep"],
}, async () => {
  const held: number[] = [];
  for (const compression of [{}, null]) {
    const edge = new CompressingIsolate({ memoryBytes: 2 * 1024 * 1024, compression });
    for (let page = 0; page < 40; page++) edge.page(`/read/${page}`, digits(20_000, page + 1));
    const readAll = async () => {
      const answers = [];
      for (let page = 0; page < 40; page++) answers.push(await edge.ask(`/read/${page}`, BROWSER));
      await edge.settled();
      return answers.filter(({ xCache }) => xCache === "HIT").length;
    };
    for (let times = 0; times < 4; times++) await readAll();
    for (let page = 0; page < 300; page++) {
      edge.page(`/crawled/${page}`, digits(20_000, page + 1000));
      await edge.ask(`/crawled/${page}`, BROWSER);
      await edge.settled();
    }
    held.push(await readAll());
  }
  expect(held[1]).toBeGreaterThan(35); // control: without compression they stay
  expect(held[0]).toBe(held[1]);
});

test("a page for another Tidemark is not compressed, because that one does it", async () => {
  const edge = new CompressingIsolate();
  const child = { after: { logId: "", seq: Number.MAX_SAFE_INTEGER, isBinding: true }, isOfEditor: false };
  edge.page("/a", V1);
  expect(await edge.ask("/a", BROWSER, "GET", null, child)).toMatchObject({ coding: null, text: V1 });
  await edge.settled();
  expect(edge.made).toBe(0);
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: null, text: V1 });
  await edge.settled();
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ coding: "br", text: V1 });
});
