import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bytesOf, LogFile, noCounts } from "../../../tools/logs/log-file.ts";
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

/** When the logs are read. */
const NOW = Date.UTC(2026, 9, 10);
const DAY_MS = 86_400_000;

/** The targets of the requests in the order in which they are read, and the counts. */
async function read(...files: readonly string[]) {
  const targets: string[] = [];
  const counts = await readLogs({ files, take: ({ target }) => targets.push(target), now: () => NOW });
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

/** A zstd frame of so many bytes that says nothing. */
function skippable(length: number): Buffer {
  const frame = Buffer.alloc(length);
  frame.writeUInt32LE(0x184d2a50, 0);
  frame.writeUInt32LE(length - 8, 4);
  return frame;
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

  test("of several zstd frames are read to the end, wherever the pieces of the file end", async () => {
    const log = generatedLog({ seed: 3, requests: 3_000, days: 1 });
    const frames = [log.subarray(0, 9_000), log.subarray(9_000, 9_100), log.subarray(9_100)].map((part) =>
      zstdCompressSync(part),
    );
    const { targets } = await read(await file("plain.log", log));
    const whole = await read(await file("frames.log", Buffer.concat(frames)));
    expect(whole).toMatchObject({ targets, broken: 0, cutOff: [] });
    const afterOther = await read(await file("skipped.log", Buffer.concat([skippable(12), ...frames])));
    expect(afterOther).toMatchObject({ targets, broken: 0, cutOff: [] });
    // The first read is of 512 KiB: the second frame begins at its end, or has only its first two bytes in it.
    for (const inFirst of [0, 2]) {
      const filler = skippable(512 * 1024 - frames[0]!.length - inFirst);
      const path = await file("split.log", Buffer.concat([frames[0]!, filler, ...frames.slice(1)]));
      expect(await read(path)).toMatchObject({ targets, broken: 0, cutOff: [] });
    }
  });

  test("whose last zstd frame is truncated are read up to the cut", async () => {
    const [first, second] = [zstdCompressSync(lines(0, "/1")), zstdCompressSync(lines(1, "/2"))];
    for (const length of [2, second.length - 1]) {
      const path = await file("cut.zst", Buffer.concat([first, second.subarray(0, length)]));
      expect(await read(path)).toMatchObject({ targets: ["/1"], cutOff: [path] });
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

  test("that are named twice, by a link, too, are read once", async () => {
    const log = await file("named.log", lines(0, "/1", "/2"));
    await symlink("named.log", join(folder, "link.log"));
    expect(await read(log, join(folder, "link.log"), join(folder, ".", "named.log"), log)).toMatchObject({
      targets: ["/1", "/2"],
      lines: 2,
    });
  });

  test("of several servers are merged", async () => {
    const a = await file("a", lines(0, "/0", "/1") + lines(10, "/10", "/11") + lines(20, "/20"));
    const b = await file("b", lines(5, "/5") + lines(15, "/15", "/16") + lines(30, "/30"));
    expect((await read(b, a)).targets).toEqual(["/0", "/1", "/5", "/10", "/11", "/15", "/16", "/20", "/30"]);
  });

  test("from pipes are opened once, so that nothing of them is lost", async () => {
    const [a, b] = ["a.pipe", "b.pipe"].map((name) => join(folder, name));
    execFileSync("mkfifo", [a!, b!]);
    const [{ targets }] = await Promise.all([
      read(b!, await file("c.log", lines(2, "/2")), a!),
      writeFile(a!, lines(0, "/0", "/1")),
      writeFile(b!, lines(3, "/3", "/4")),
    ]);
    expect(targets).toEqual(["/0", "/1", "/2", "/3", "/4"]);
  });

  test("are the same in pieces of one byte, as a pipe may have them", async () => {
    const inBytes = async (bytes: Buffer) => {
      const input = Readable.from([...bytes].map((byte) => Buffer.of(byte)));
      const log = new LogFile("-", noCounts(), () => NOW, input);
      const targets: string[] = [];
      do while (log.next()) targets.push(log.request.target);
      while (await log.fill());
      return targets;
    };
    const text = Buffer.from(lines(0, "/1", "/2"));
    for (const packed of [text, gzipSync(text), zstdCompressSync(text)])
      expect(await inBytes(packed)).toEqual(["/1", "/2"]);
    expect(await inBytes(Buffer.alloc(0))).toEqual([]);
    await expect(inBytes(Buffer.from("fd377a585a000004e6d6b446", "hex"))).rejects.toThrow(
      "- is xz, which is not read.",
    );
  });

  test("with broken lines are read to the end, and the first of those lines are told", async () => {
    const odd = `${lines(0, "/1")}${ODD_LINES.join("\n")}\n${"x".repeat(3_000_000)}\n${lines(9, "/2")}`;
    const { targets, broken, lines: count, examples } = await read(await file("odd", Buffer.from(odd, "latin1")));
    expect(targets).toEqual(["/1", "", "", "/2"]);
    expect({ broken, count }).toEqual({ broken: 5, count: 9 });
    expect(examples.map(({ line }) => line)).toEqual([3, 4, 7]);
  });

  test("with a line that is too long tell its place, and those of the lines behind it", async () => {
    const { targets, examples } = await read(
      await file("long", `${lines(0, "/1")}${"x".repeat(3_000_000)}\nbroken\n${lines(9, "/2")}`),
    );
    expect(targets).toEqual(["/1", "/2"]);
    expect(examples).toMatchObject([{ line: 2 }, { line: 3, text: "broken" }]);
  });

  test("count lines with impossible times as broken: before 1995, and more than a day ahead", async () => {
    const at = (instant: number, target: string) => lines((instant - Date.UTC(2026, 9, 5)) / 1000, target);
    const log = [
      at(0, "/1970"),
      at(Date.UTC(1995, 0, 1) - 1000, "/1994"),
      at(Date.UTC(1995, 0, 1), "/1995"),
      at(NOW + DAY_MS, "/tomorrow"),
      at(NOW + DAY_MS + 1000, "/later"),
    ].join("");
    const { targets, lines: count, broken, examples } = await read(await file("clocks", log));
    expect(targets).toEqual(["/1995", "/tomorrow"]);
    expect({ count, broken }).toEqual({ count: 5, broken: 3 });
    expect(examples.map(({ line }) => line)).toEqual([1, 2, 5]);
  });

  test.each(["1e25", "1e22", '"20261005135530"', '"20261005135530123"', "20261005135530"])(
    "count a line as broken whose time is the number %s",
    async (time) => {
      const log = `{"time":${time},"status":200,"request_uri":"/a"}\n${lines(0, "/1")}`;
      expect(await read(await file("numbers", log))).toMatchObject({ targets: ["/1"], broken: 1 });
    },
  );

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

  test.each([
    ["xz", Buffer.from("fd377a585a000004e6d6b446", "hex"), "xzcat"],
    ["bzip2", Buffer.from("425a6839314159265359aabb", "hex"), "bzcat"],
    ["zip", Buffer.from("504b030414000800", "hex"), "unzip -p"],
    ["UTF-16", Buffer.from(`\ufeff${lines(0, "/1")}`, "utf16le"), "iconv -f UTF-16 -t UTF-8"],
  ])("of a format that is not read are named, with what makes them a log: %s", async (name, bytes, command) => {
    const [foreign, log] = [await file(name, bytes), await file("log", lines(0, "/1"))];
    const message = `${foreign} is ${name}, which is not read. Give it as text: ${command} FILE | tidemark report -`;
    await expect(read(foreign)).rejects.toMatchObject({ name: "LogFileError", message });
    await expect(read(log, foreign)).rejects.toMatchObject({ name: "LogFileError", message });
  });

  // Root may read everything.
  test.skipIf(process.getuid?.() === 0)("that this user may not read are named before any is read", async () => {
    const path = await file("forbidden", lines(0, "/1"));
    await chmod(path, 0);
    await expect(bytesOf([path])).rejects.toMatchObject({ message: `${path}: this user may not read it` });
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
