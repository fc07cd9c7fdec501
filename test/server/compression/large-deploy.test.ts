import { createHash } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { type Encode, encode } from "../../../server/compression/encode.ts";
import { DiskTier } from "../../../server/disk/disk-tier.ts";
import { holding } from "../../engine/held-dictionaries.ts";
import { HOST, TOKEN } from "../../engine/scenario.ts";
import { byDepth } from "../../suite/depth.ts";
import { openDisk, temporaryFolder } from "../disk/disk-under-test.ts";
import { CompressingIsolate } from "./compressing-isolate.ts";

const FILES = byDepth({ test: 50, gate: 50, all: 500 });
/** Visitors of each file at a time, with the last version, and the files for which they ask at a time. */
const VISITORS = 3;
const FILES_AT_A_TIME = 50;
/** Bodies that are coded at a time, as `MakingQueue` has it. */
const AT_A_TIME = 2;

const KIB = 1024;

interface Version {
  readonly path: string;
  readonly body: string;
}

/** A module of about 20 KB, of which a deploy changes a line. */
function moduleOf(number: number, version: number): Version {
  let state = number + 1;
  const lines = Array.from({ length: 600 }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return `export const value_${state % 977} = ${state % 1_000_003};`;
  });
  const body = [`// version ${version}`, ...lines].join("\n");
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 20);
  return { path: `/assets/module-${number}.${hash}.js`, body };
}

const BEFORE = Array.from({ length: FILES }, (_, number) => moduleOf(number, 1));
const AFTER = Array.from({ length: FILES }, (_, number) => moduleOf(number, 2));
const SITE_BYTES = AFTER.reduce((bytes, { body }) => bytes + body.length, 0);

/** A server before which a site is deployed, and deployed again with a line of each changed. */
class Deployed {
  readonly edge: CompressingIsolate;
  readonly #disk;
  #coding = 0;
  mostAtATime = 0;

  constructor(memoryBytes: number, diskBytes: number) {
    const { folder, janitor } = openDisk(temporaryFolder(), diskBytes);
    onTestFinished(() => janitor.close());
    const tier = new DiskTier({
      folder,
      janitor: janitor.connect(),
      now: () => 0,
      monotonicNow: () => 0, // No read takes long, whatever else the machine does.
      say: (line) => expect.unreachable(line),
    });
    this.#disk = { janitor, tier };
    const counting: Encode = async (...task) => {
      this.#coding++;
      this.mostAtATime = Math.max(this.mostAtATime, this.#coding);
      return encode(...task).finally(() => this.#coding--);
    };
    this.edge = new CompressingIsolate({ deltas: true, memoryBytes, disk: tier, encode: counting });
  }

  get diskBytes(): number {
    return this.#disk.janitor.usedBytes;
  }

  put(versions: readonly Version[]): void {
    const fields = { "content-type": "text/javascript", "cache-control": "public, max-age=31536000, immutable" };
    for (const { path, body } of versions) this.edge.page(path, body, fields, "if-accepted");
  }

  /** Visitors ask for all files, for some at a time. The codings in which they got them. */
  async rush(versions: readonly Version[], held: readonly Version[] | null): Promise<readonly (string | null)[]> {
    const codings: (string | null)[] = [];
    for (let from = 0; from < versions.length; from += FILES_AT_A_TIME) {
      const numbers = versions.slice(from, from + FILES_AT_A_TIME).keys();
      const asked = [...numbers].flatMap((number) =>
        Array.from({ length: VISITORS }, () => this.#ask(versions[from + number]!, held?.[from + number])),
      );
      codings.push(...(await Promise.all(asked)));
    }
    await this.edge.settled();
    await this.#disk.tier.settled();
    await this.#disk.janitor.settled();
    return codings;
  }

  async #ask({ path, body }: Version, held: Version | undefined): Promise<string | null> {
    const dictionary = held && { "available-dictionary": holding(held.body) };
    const answer = await this.edge.ask(path, { "accept-encoding": "br, dcz", ...dictionary });
    if (answer.text !== body) expect.fail(`${path} has other bytes`);
    return answer.coding;
  }

  /** The bytes of the dictionaries that are in memory, as explanations tell. */
  async dictionaryBytes(): Promise<number> {
    let bytes = 0;
    for (const [number, { path }] of AFTER.entries()) {
      for (const { body } of [BEFORE[number]!, AFTER[number]!]) {
        const fields = { "accept-encoding": "br, dcz", "available-dictionary": holding(body) };
        const asked = JSON.stringify({ url: `https://${HOST}${path}`, fields });
        const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
        const { text } = await this.edge.ask("/_tidemark/explain", headers, "POST", asked);
        const delta = (JSON.parse(text) as { steps: { step: string; because: string }[] }).steps.at(-1)!;
        expect(delta.step).toBe("delta");
        if (delta.because !== "unknown-dictionary") bytes += body.length;
      }
    }
    return bytes;
  }
}

test(`after a deploy of ${FILES} changed files each is fetched once, coded once, and made once by the version before it`, {
  tags: ["gate"],
  timeout: 120_000,
}, async () => {
  const site = new Deployed(FILES * 1024 * KIB, FILES * 512 * KIB);
  const { edge } = site;
  site.put(BEFORE);
  for (let rush = 0; rush < 3; rush++) await site.rush(BEFORE, null);
  expect({ asked: edge.asked, made: edge.made }).toEqual({ asked: FILES, made: FILES });
  const diskBytes = site.diskBytes;
  site.put(AFTER);
  await edge.purge({ prefixes: ["/assets/"] });
  // More bodies than may wait are coded when they are asked for again.
  for (let rush = 0; rush < 5; rush++) await site.rush(AFTER, BEFORE);
  expect(new Set(await site.rush(AFTER, BEFORE))).toEqual(new Set(["dcz"]));
  expect({ asked: edge.asked, made: edge.made }).toEqual({ asked: 2 * FILES, made: 3 * FILES });
  expect(site.mostAtATime).toBeLessThanOrEqual(AT_A_TIME);
  expect(edge.failures).toEqual([]);
  const { deltas, memory } = await edge.stats();
  expect(deltas.sent).toBeGreaterThanOrEqual(VISITORS * FILES);
  expect(deltas.bytes / deltas.sent).toBeLessThan(200);
  expect(memory.bytes).toBeLessThan(memory.maxBytes);
  expect(await site.dictionaryBytes()).toBe(2 * SITE_BYTES);
  // The page and the dictionary, their form as Brotli, and a delta, each with a head.
  expect(site.diskBytes - diskBytes).toBeLessThan(3 * SITE_BYTES + FILES * 4 * 4096);
});

test(`where a deploy of ${FILES} changed files does not fit, memory, dictionaries and disk keep their bounds`, {
  tags: ["gate"],
  timeout: 120_000,
}, async () => {
  const [memoryBytes, diskBytes] = [FILES * 64 * KIB, FILES * 32 * KIB];
  const site = new Deployed(memoryBytes, diskBytes);
  const { edge } = site;
  for (const [versions, held] of [
    [BEFORE, null],
    [AFTER, BEFORE],
  ] as const) {
    site.put(versions);
    await edge.purge({ prefixes: ["/assets/"] });
    for (let rush = 0; rush < 3; rush++) {
      await site.rush(versions, held);
      expect(site.diskBytes).toBeLessThanOrEqual(diskBytes);
      const { memory } = await edge.stats();
      expect(memory.bytes).toBeLessThanOrEqual(memory.maxBytes);
    }
  }
  expect(site.mostAtATime).toBeLessThanOrEqual(AT_A_TIME);
  expect(edge.failures).toEqual([]);
  const bytes = await site.dictionaryBytes();
  expect(bytes).toBeGreaterThan(memoryBytes / 32);
  expect(bytes).toBeLessThanOrEqual(memoryBytes / 8);
});
