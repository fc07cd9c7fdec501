import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readLogs } from "../../../tools/logs/read-logs.ts";
import { combinedLine, generatedLog, generatedRequests, ODD_LINES } from "../generated-log.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tidemark-logs-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, content: string | Buffer): Promise<string> {
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

/** The targets of the requests in the order in which they are read, and the counts. */
async function read(...files: readonly string[]) {
  const targets: string[] = [];
  const counts = await readLogs({ files, take: ({ target }) => targets.push(target) });
  return { targets, ...counts };
}

/** Lines for these targets, the first at this second, one a second. */
function lines(second: number, ...targets: readonly string[]): string {
  return targets
    .map((target, index) =>
      combinedLine({
        at: Date.UTC(2026, 9, 5, 0, 0, second + index),
        method: "GET",
        target,
        status: 200,
        bytes: 1,
        agent: "-",
      }),
    )
    .join("\n")
    .concat("\n");
}

describe("logs", () => {
  test("are the same plain and compressed, whatever their names say", async () => {
    const log = generatedLog({ seed: 3, requests: 3_000, days: 1 });
    const plain = await read(await file("a.log", log));
    expect(plain.targets.length).toBeGreaterThanOrEqual(3_000);
    expect(plain).toMatchObject({ lines: plain.targets.length, broken: 0, cutOff: [] });
    for (const packed of [
      gzipSync(log),
      zstdCompressSync(log),
      Buffer.concat([gzipSync(log.subarray(0, 9_000)), gzipSync(log.subarray(9_000))]),
    ]) {
      expect((await read(await file("packed.log", packed))).targets).toEqual(plain.targets);
    }
  });

  test("that were rotated are read in the order of time, in whatever order they are named", async () => {
    const [first, second, third] = [
      await file("access.log.2.gz", gzipSync(lines(0, "/1", "/2"))),
      await file("access.log.1", lines(10, "/3", "/4")),
      await file("access.log", lines(20, "/5")),
    ];
    expect((await read(third, second, first)).targets).toEqual(["/1", "/2", "/3", "/4", "/5"]);
  });

  test("of several servers are merged", async () => {
    const a = await file("a", lines(0, "/0", "/1") + lines(10, "/10", "/11") + lines(20, "/20"));
    const b = await file("b", lines(5, "/5") + lines(15, "/15", "/16") + lines(30, "/30"));
    expect((await read(b, a)).targets).toEqual(["/0", "/1", "/5", "/10", "/11", "/15", "/16", "/20", "/30"]);
  });

  test("with broken lines are read to the end, and the first of those lines are told", async () => {
    const odd = `${lines(0, "/1")}${ODD_LINES.join("\n")}\n${"x".repeat(3_000_000)}\n${lines(9, "/2")}`;
    const { targets, broken, lines: count, examples } = await read(await file("odd", Buffer.from(odd, "latin1")));
    expect(targets).toEqual(["/1", "", "", "/2"]);
    expect({ broken, count }).toEqual({ broken: 5, count: 9 });
    expect(examples.map(({ line }) => line)).toEqual([3, 4, 7]);
  });

  test("with truncated compression are read up to the cut", async () => {
    const packed = gzipSync(generatedLog({ seed: 3, requests: 20_000, days: 1 }));
    const path = await file("cut.gz", packed.subarray(0, packed.length - 1_000));
    const { targets, cutOff } = await read(path);
    expect(targets.length).toBeGreaterThan(1_000);
    expect(cutOff).toEqual([path]);
  });

  test("without a last line break, with Windows' line breaks and empty ones have all their lines", async () => {
    const [one, two] = lines(0, "/1", "/2").trim().split("\n");
    expect((await read(await file("dos", `${one}\r\n\r\n${two}`))).targets).toEqual(["/1", "/2"]);
    expect((await read(await file("empty", ""))).targets).toEqual([]);
  });

  test.each([
    ["no/such.log", "no/such.log: there is no such file"],
    [".", ". is a folder: name the logs in it, like ./access.log*"],
  ])("that cannot be read are named: %s", async (path, message) => {
    await expect(read(path)).rejects.toMatchObject({ name: "LogFileError", message });
  });
});

describe("generated traffic", () => {
  test("is the same for the same seed, in the order of time, and has all that a log has", () => {
    const settings = { seed: 5, requests: 20_000, days: 2 };
    const log = generatedLog(settings);
    expect(log.equals(generatedLog(settings))).toBe(true);
    expect(log.equals(generatedLog({ ...settings, seed: 6 }))).toBe(false);
    const requests = [...generatedRequests(settings)];
    expect(requests.every(({ at }, index) => index === 0 || at >= requests[index - 1]!.at)).toBe(true);
    for (const each of [
      "/api/search?q=hal ",
      "utm_campaign=",
      "fbclid=",
      "ExampleBot",
      '" 404 ',
      '" 503 ',
      "POST ",
      '" 304 ',
    ])
      expect(log.includes(each, 0, "latin1")).toBe(true);
    const byHour = Object.groupBy(requests, ({ at }) => Math.floor(at / 3_600_000) % 24);
    expect(byHour[14]!.length).toBeGreaterThan(byHour[2]!.length * 2);
  });
});
