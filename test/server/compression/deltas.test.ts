import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { encode } from "../../../server/compression/encode.ts";
import { collectGarbage } from "../../../server/program/collect-garbage.ts";
import { holding } from "../../engine/held-dictionaries.ts";
import { turns } from "../../suite/turns.ts";
import { DiskUnderTest, temporaryFolder } from "../disk/disk-under-test.ts";
import { CompressingIsolate, HeldEncode, SharedLog } from "./compressing-isolate.ts";

/** A script as long as a small bundle, with a line of its own. Those of another seed have nothing in common with it. */
function script(line: string, length = 20_000, seed = 11): string {
  let state = seed;
  let text = `${line}\n`;
  while (text.length < length) {
    state = (state * 48_271) % 2_147_483_647;
    text += `const v${state % 9_973} = ${state};\n`;
  }
  return text;
}

const V1 = script("version 1");
const V2 = script("version 2");
/** For pages. An eighth as much is for dictionaries. */
const ROOM_FOR_26_VERSIONS = 4 * 1024 * 1024;
const HOLDS_V1 = { "accept-encoding": "br, dcz", "available-dictionary": holding(V1) };

async function afterDeploy(edge: CompressingIsolate): Promise<void> {
  edge.page("/app.4f3a9c1d.js", V1);
  edge.page("/app.91bc04fe.js", V2);
  await edge.ask("/app.4f3a9c1d.js", { "accept-encoding": "br" });
  await edge.settled();
}

test("a delta is made once, however many ask for it meanwhile, and each request is answered at once", async () => {
  const edge = new CompressingIsolate({ deltas: true });
  await afterDeploy(edge);
  const made = edge.made;
  const answers = await Promise.all(Array.from({ length: 50 }, () => edge.ask("/app.91bc04fe.js", HOLDS_V1)));
  await edge.settled();
  expect(new Set(answers.map(({ text }) => text))).toEqual(new Set([V2]));
  expect(answers.map(({ coding }) => coding)).not.toContain("dcz");
  for (let more = 0; more < 50; more++) {
    expect(await edge.ask("/app.91bc04fe.js", HOLDS_V1)).toMatchObject({ coding: "dcz", text: V2, xCache: "HIT" });
  }
  await edge.settled();
  expect(edge.made - made).toBe(2); // as Brotli, and by the dictionary
  expect(edge.failures).toEqual([]);
});

test("a delta is much smaller than the whole as Brotli, and the stats say what that saves", async () => {
  const edge = new CompressingIsolate({ deltas: true });
  await afterDeploy(edge);
  await edge.ask("/app.91bc04fe.js", HOLDS_V1);
  await edge.settled();
  const whole = await edge.ask("/app.91bc04fe.js", { "accept-encoding": "br" });
  const delta = await edge.ask("/app.91bc04fe.js", HOLDS_V1);
  expect([whole.coding, delta.coding]).toEqual(["br", "dcz"]);
  expect(delta.bytes.length).toBeLessThan(whole.bytes.length / 10);
  const { deltas } = await edge.stats();
  expect(deltas).toEqual({ sent: 1, bytes: delta.bytes.length, savedBytes: whole.bytes.length - delta.bytes.length });
});

test("a delta that is finished after a purge of everything is never sent", async () => {
  const held = new HeldEncode();
  const edge = new CompressingIsolate({ deltas: true, encode: held.encode });
  edge.page("/a", V1, { "content-type": "text/html" });
  await edge.ask("/a");
  await edge.settled();
  await edge.clock.advance(61_000);
  edge.page("/a", V2, { "content-type": "text/html" });
  await edge.ask("/a", { ...HOLDS_V1, "accept-encoding": "dcz" });
  while (held.waiting === 0) await turns(20);
  await edge.purge();
  held.release();
  await turns(20);
  for (let asks = 0; asks < 3; asks++) {
    expect(await edge.ask("/a", { ...HOLDS_V1, "accept-encoding": "dcz" })).toMatchObject({ coding: null, text: V2 });
    await turns(20);
  }
  await edge.settled();
});

test("a page whose own version has left the memory of dictionaries gets deltas again once it is read from disk", async () => {
  const { tier } = await DiskUnderTest.open(temporaryFolder());
  const edge = new CompressingIsolate({ deltas: true, disk: tier, memoryBytes: ROOM_FOR_26_VERSIONS });
  const deploy = async (name: string, body: string) => {
    edge.page(`/app.${name}.js`, body, { "cache-control": "max-age=3600" });
    await edge.ask(`/app.${name}.js`);
    await edge.settled();
    await edge.clock.advance(1_000);
  };
  await deploy("91bc04fe", V2);
  for (let version = 10; version < 40; version++) await deploy(`a1b2c3${version}`, script(`version ${version}`));
  await deploy("4f3a9c1d", V1);
  await edge.clock.advance(60_000);
  const codings = [];
  for (let asks = 0; asks < 3; asks++) {
    const { coding, text } = await edge.ask("/app.91bc04fe.js", HOLDS_V1);
    expect(text).toBe(V2);
    codings.push(coding);
    await edge.settled();
  }
  // The first answer has its version read, and the second has the delta made.
  expect(codings).toEqual([null, "br", "dcz"]);
});

test("all pages of a route with one pattern get deltas by each other, as many as memory has room for", async () => {
  const edge = new CompressingIsolate({ deltas: { match: "/docs/*" } });
  const bodies = Array.from({ length: 24 }, (_, at) => script(`page ${at}`));
  const visit = async (to: number, from = (to + 23) % 24) => {
    const fields = { "accept-encoding": "br, dcz", "available-dictionary": holding(bodies[from]!) };
    const { coding, text } = await edge.ask(`/docs/${to}`, fields);
    expect(text).toBe(bodies[to]);
    await edge.settled();
    await edge.clock.advance(1);
    return coding;
  };
  for (const [at, body] of bodies.entries()) edge.page(`/docs/${at}`, body);
  for (let round = 0; round < 2; round++) for (const at of bodies.keys()) await visit(at);
  const codings = [];
  for (const at of bodies.keys()) codings.push(await visit(at));
  expect(codings).toEqual(bodies.map(() => "dcz"));
});

test("a delta that is hardly smaller than the page as Brotli is made once, and kept neither in memory nor on disk", async () => {
  const disk = await DiskUnderTest.open(temporaryFolder());
  const edge = new CompressingIsolate({ deltas: true, disk: disk.tier });
  edge.page("/chunk-4f3a9c1d.js", V1);
  edge.page("/chunk-91bc04fe.js", script("another file", 20_000, 12));
  for (const path of edge.pages.keys()) {
    await edge.ask(path, { "accept-encoding": "br" });
    await edge.settled();
  }
  const used = async () => {
    await disk.settled();
    return { bytes: (await edge.stats()).memory.bytes, files: disk.paths() };
  };
  const [made, before] = [edge.made, await used()];
  for (let asks = 0; asks < 3; asks++) {
    expect((await edge.ask("/chunk-91bc04fe.js", HOLDS_V1)).coding).toBe("br");
    await edge.settled();
  }
  expect(edge.made - made).toBe(1);
  expect(await used()).toEqual(before);
});

test("a replaced page leaves memory with all its forms, although its bytes stay a dictionary", async () => {
  const bodies = new Map<string, WeakRef<Uint8Array>>();
  const edge = new CompressingIsolate({
    deltas: true,
    encode: (...task) => {
      bodies.set(Buffer.from(task[1]).toString(), new WeakRef(task[1]));
      return encode(...task);
    },
  });
  for (const body of [V1, V2]) {
    edge.page("/a", body, { "content-type": "text/html" });
    await edge.purge({ urls: ["/a"] });
    for (let asks = 0; asks < 3; asks++) {
      await edge.ask("/a", HOLDS_V1);
      await edge.settled();
    }
  }
  expect((await edge.ask("/a", HOLDS_V1)).coding).toBe("dcz");
  await setImmediate(); // A new reference keeps its object until then.
  collectGarbage();
  expect([V1, V2].map((body) => bodies.get(body)!.deref() !== undefined)).toEqual([false, true]);
});

test("a version that has left the memory of dictionaries takes no memory, although its page is held", async () => {
  let dictionary: WeakRef<Uint8Array> | undefined;
  const edge = new CompressingIsolate({
    deltas: true,
    memoryBytes: ROOM_FOR_26_VERSIONS,
    encode: (...task) => {
      if (task[3]) dictionary = new WeakRef(task[3].bytes);
      return encode(...task);
    },
  });
  await afterDeploy(edge);
  await edge.ask("/app.91bc04fe.js", HOLDS_V1);
  await edge.settled();
  await setImmediate();
  collectGarbage();
  expect(dictionary!.deref()?.length).toBe(V1.length);
  for (let version = 10; version < 40; version++) {
    edge.page(`/app.a1b2c3${version}.js`, script(`version ${version}`));
    await edge.clock.advance(1);
    await edge.ask(`/app.a1b2c3${version}.js`);
    await edge.settled();
  }
  await setImmediate();
  collectGarbage();
  expect(dictionary!.deref() === undefined).toBe(true);
  expect((await edge.ask("/app.4f3a9c1d.js", { "accept-encoding": "br" })).xCache).toBe("HIT");
});

test("deltas count against the memory of their page", async () => {
  const edge = new CompressingIsolate({ deltas: true });
  await afterDeploy(edge);
  await edge.ask("/app.91bc04fe.js", { "accept-encoding": "br" });
  await edge.settled();
  const before = (await edge.stats()).memory.bytes;
  await edge.ask("/app.91bc04fe.js", HOLDS_V1);
  await edge.settled();
  const delta = await edge.ask("/app.91bc04fe.js", HOLDS_V1);
  expect(delta.coding).toBe("dcz");
  expect((await edge.stats()).memory.bytes - before).toBe(delta.bytes.length);
});

test("of the deltas on disk, memory holds as many of a page as of those that are made", async () => {
  const { tier } = await DiskUnderTest.open(temporaryFolder());
  const shared = { deltas: true as const, disk: tier, log: new SharedLog() };
  const edge = new CompressingIsolate(shared);
  const versions = Array.from({ length: 36 }, (_, version) => script(`version ${version}`, 4000));
  const names = versions.map((_, version) => `/app.a1b2c3${10 + version}.js`);
  const deltasOf = async (asked: CompressingIsolate) => {
    const bytes = [];
    for (const version of versions.slice(0, -1)) {
      const fields = { "accept-encoding": "dcz", "available-dictionary": holding(version) };
      let answer = await asked.ask(names.at(-1)!, fields);
      for (let asks = 0; asks < 3 && answer.coding !== "dcz"; asks++) {
        await asked.settled();
        answer = await asked.ask(names.at(-1)!, fields);
      }
      expect(answer).toMatchObject({ coding: "dcz", text: versions.at(-1) });
      bytes.push(answer.bytes.length);
      await asked.settled();
      await asked.clock.advance(1);
    }
    return bytes;
  };
  for (const [version, text] of versions.entries()) {
    edge.page(names[version]!, text, { "cache-control": "max-age=3600" });
    await edge.ask(names[version]!);
    await edge.settled();
    await edge.clock.advance(1);
  }
  await deltasOf(edge);

  const other = new CompressingIsolate(shared);
  await other.ask(names.at(-1)!);
  await other.settled();
  const before = (await other.stats()).memory.bytes;
  const bytes = await deltasOf(other);
  expect(other.made).toBe(0);
  expect(bytes).toHaveLength(35);
  const ofNewest = bytes.slice(-32).reduce((sum, each) => sum + each);
  expect((await other.stats()).memory.bytes - before).toBe(ofNewest);
});

test("another Tidemark that asks for its visitors gets the origin's fields, and no delta", async () => {
  const edge = new CompressingIsolate({ deltas: true });
  await afterDeploy(edge);
  const child = { after: { logId: "", seq: 0 } } as never;
  for (let asks = 0; asks < 3; asks++) {
    const answer = await edge.ask("/app.91bc04fe.js", HOLDS_V1, "GET", null, child);
    expect(answer).toMatchObject({ coding: null, text: V2 });
    expect(answer.fields["use-as-dictionary"]).toBeUndefined();
    await edge.settled();
  }
});

test("if no route has deltas, no request looks for a dictionary, and no body is hashed", async () => {
  const edge = new CompressingIsolate();
  await afterDeploy(edge);
  const before = edge.made;
  for (let asks = 0; asks < 3; asks++) {
    const { fields } = await edge.ask("/app.91bc04fe.js", HOLDS_V1);
    expect(fields.vary).toBe("Accept-Encoding");
    await edge.settled();
  }
  expect(edge.made - before).toBe(1);
  expect(edge.hashed).toBe(0);
});
