import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, get, type IncomingMessage } from "node:http";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CacheFolder } from "../../../../server/disk/cache-folder.ts";
import { byDepth } from "../../../suite/depth.ts";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { until } from "../../../suite/until.ts";
import { noise } from "../../disk/disk-under-test.ts";
import { ServerProcess } from "../running-server.ts";

const MIB = 1024 * 1024;
const NOISE = Buffer.from(noise(MIB));

const LARGE_MIB = byDepth({ test: 32, gate: 32, all: 256, explore: 1024 });
/** What one download may add to the memory of a worker, at its peak. */
const MAX_GROWTH_BYTES = 100 * MIB;

/** The pieces of a body of so many bytes. No two are the same. */
function* piecesOf(bytes: number): Iterable<Buffer> {
  for (let number = 0; number * MIB < bytes; number++) yield pieceAt(number, Math.min(MIB, bytes - number * MIB));
}

function pieceAt(number: number, bytes: number): Buffer {
  const piece = Buffer.from(NOISE.subarray(0, bytes));
  for (let at = 0; at < Math.min(4, bytes); at++) piece[at] = number >>> (8 * at);
  return piece;
}

function digestOf(pieces: Iterable<Buffer>): string {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

/** As it is now, or as its peak was. */
function memoryBytes(process: string, which: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${process}/status`, "utf8");
  return Number(new RegExp(`^${which}:\\s+(\\d+) kB`, "m").exec(status)![1]) * 1024;
}

interface Download {
  readonly xCache: string;
  readonly cacheStatus: string;
  readonly bytes: number;
  readonly digest: string;
}

/** Reads an answer without holding it. */
async function download(url: URL, fields: Readonly<Record<string, string>> = {}): Promise<Download> {
  const [answer] = (await once(get(url, { headers: fields, agent: false }), "response")) as [IncomingMessage];
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    bytes += piece.length;
    hash.update(piece);
  }
  const { "x-cache": xCache, "cache-status": cacheStatus } = answer.headers;
  return { xCache: String(xCache), cacheStatus: String(cacheStatus), bytes, digest: hash.digest("hex") };
}

describe("a large body before tidemark serve", { timeout: 120_000 }, () => {
  /** Answers `/BYTES`, and notes each request for the whole. */
  const origin = createServer(async (request, response) => {
    if (request.headers.range !== undefined) return void response.writeHead(416).end(); // Parts are for the cache alone.
    const bytes = Number(request.url!.slice(1));
    asked.push(request.url!);
    response.writeHead(200, { "cache-control": "max-age=600", "content-length": bytes });
    await pipeline(piecesOf(bytes), response).catch(() => undefined); // a client may leave
  });
  const asked: string[] = [];
  let folder: string;
  let server: ServerProcess;
  let address: URL;

  beforeAll(() => listenLocally(origin));
  beforeEach(() => {
    asked.length = 0;
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  });
  afterEach(async () => {
    expect(await server.stop()).toBe(0);
    rmSync(folder, { recursive: true });
  });
  afterAll(() => void origin.close());

  async function start(disk: string, limits: object = {}): Promise<void> {
    const config = { origin: localUrl(origin), limits };
    writeFileSync(join(folder, "site.config.mjs"), `export default ${JSON.stringify(config)};\n`);
    const cache = CacheFolder.open(join(folder, "cache", "pages"));
    const orphan = cache.pathOf(cache.nameOf("no entry", "br"));
    writeFileSync(orphan, "a coded form without its entry");
    const bounds = ["--workers", "1", "--memory", "32MiB", "--disk", disk, "--cache", "cache"];
    const args = ["--config", "site.config.mjs", "--listen", "127.0.0.1:0", ...bounds];
    server = new ServerProcess(folder, args, { TIDEMARK_HOSTS: "*" });
    address = await server.address();
    if (disk === "0") return;
    // Until it has looked through its folder, a server has less room. Then it deletes forms of pages that it does not have.
    await until(() => !existsSync(orphan));
  }

  const ask = (bytes: number, fields = {}) => download(new URL(`/${bytes}`, address), fields);
  const digests = new Map<number, string>();
  const isRight = (bytes: number) => {
    const digest = digests.get(bytes) ?? digestOf(piecesOf(bytes));
    digests.set(bytes, digest);
    return { bytes, digest };
  };

  /** The entry is written behind the answer that has brought its body. */
  const isStored = (bytes: number) => until(async () => (await ask(bytes, { range: "bytes=0-0" })).xCache === "HIT");

  async function expectStored(bytes: number): Promise<void> {
    expect(await ask(bytes)).toMatchObject({ xCache: "MISS", ...isRight(bytes) });
    await isStored(bytes);
    expect(await ask(bytes)).toMatchObject({ xCache: "HIT", ...isRight(bytes) });
    expect(asked.filter((path) => path === `/${bytes}`)).toHaveLength(1);
  }

  async function expectNotStored(bytes: number, cacheStatus: RegExp): Promise<void> {
    for (let times = 1; times <= 3; times++) {
      const answer = { xCache: "MISS", cacheStatus: expect.stringMatching(cacheStatus), ...isRight(bytes) };
      expect(await ask(bytes)).toMatchObject(answer);
      expect(asked.filter((path) => path === `/${bytes}`)).toHaveLength(times);
    }
  }

  test("is stored up to seven sixteenths of what pages have of the disk, and not beyond", {
    tags: ["deep"],
  }, async () => {
    await start("64MiB");
    const bound = (60 * MIB * 7) / 16; // bodies of requests have a sixteenth
    await expectStored(bound - 128 * 1024);
    await expectNotStored(bound + 1, /detail=too-large$/);
  });

  test("is stored with its head up to storeBytes, however small the disk is", { tags: ["deep"] }, async () => {
    await start("12MiB");
    const { cacheStatus } = await ask(7 * MIB);
    expect(cacheStatus).toMatch(/; stored$/);
    await expectNotStored(9 * MIB, /detail=too-large$/);
  });

  test("is stored up to largeBytes, if the config has it", { tags: ["deep"] }, async () => {
    await start("64MiB", { largeBytes: 10 * MIB });
    await expectStored(10 * MIB);
    await expectNotStored(10 * MIB + 1, /detail=too-large$/);
  });

  test("is answered whole where the config allows more than the disk has room for", { tags: ["deep"] }, async () => {
    await start("64MiB", { largeBytes: "1GiB" });
    await expectStored(28 * MIB); // half of what pages have, with its head and checksums
    await expectNotStored(33 * MIB, /; stored$/);
  });

  test("is not stored without a disk, whatever the config allows, and the answer says so", async () => {
    await start("0", { largeBytes: "1GiB" });
    await expectNotStored(9 * MIB, /detail=too-large$/);
  });

  test.skipIf(platform() !== "linux")(
    `of ${LARGE_MIB} MiB comes and is served again, in parts, too, at flat memory`,
    { timeout: 300_000 },
    async () => {
      await start("4GiB");
      const worker = (await server.prints(/worker-1 \(process (\d+)\) accepts/))[1]!;
      await expectStored(16 * MIB);
      const before = memoryBytes(worker, "VmRSS");
      const bytes = LARGE_MIB * MIB;
      await expectStored(bytes);
      const last = await ask(bytes, { range: `bytes=${bytes - MIB}-` });
      expect(last).toMatchObject({ xCache: "HIT", bytes: MIB, digest: digestOf([pieceAt(LARGE_MIB - 1, MIB)]) });
      expect(memoryBytes(worker, "VmHWM") - before).toBeLessThan(MAX_GROWTH_BYTES);
    },
  );
});
