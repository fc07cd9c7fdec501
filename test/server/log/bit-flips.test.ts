import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LogFile } from "../../../server/log/log-file.ts";
import { PurgeView } from "../../../worker/purges/view/purge-view.ts";
import type { Stamp, StoredHead } from "../../../worker/rules/storing/stored-response.ts";
import { chances } from "../../engine/chances.ts";
import { purge } from "../../purges/log/a-purge.ts";
import { byDepth } from "../../suite/depth.ts";
import { seed } from "../../suite/seed.ts";

const DRAWS = byDepth({ test: 30, gate: 30, all: 400, explore: 20_000 });
/** In memory it need not wait for a disk. */
const PLACE = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const FILES = ["purge-log.sqlite", "purge-log.sqlite-wal", "purge-log.head"];
const STOPPED_FILES = ["purge-log.sqlite", "purge-log.head"];
const MODES = ["hard", "soft", "invalidate"] as const;

/** A page that was stored just before a purge of it, which has settled. */
interface OldPage {
  readonly key: string;
  readonly stamp: Stamp;
}

/** A folder as its server left it, by the names of the files. */
interface LeftLog {
  readonly files: ReadonlyMap<string, Buffer>;
  readonly head: Stamp;
  readonly pages: readonly OldPage[];
}

let folder: string;
let ids = 0;
let replaced: string[];

beforeAll(() => {
  folder = mkdtempSync(join(PLACE, "tidemark-log-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function open(path: string): LogFile {
  return new LogFile({
    folder: path,
    clocks: { now: () => 1_000_000_000, elapsed: () => 0 },
    newId: () => `log-${++ids}`,
    grant: { leaseMs: 1000, longestViewAgeMs: 1000 },
    onReplaced: (why) => replaced.push(why),
  });
}

/** Purges in each of several lives of a server, the last of which ends in this way. */
function left(purgesOfLives: readonly number[], end: "killed" | "stopped"): LeftLog {
  replaced = [];
  const path = mkdtempSync(join(folder, "living-"));
  const pages: OldPage[] = [];
  for (const [life, purges] of purgesOfLives.entries()) {
    const file = open(path);
    for (let number = 0; number < purges; number++) {
      const key = `#${life}-${number}`;
      const stamp = file.use((log) => log.head);
      const repeatAfterMs = number % 8 === 7 ? 3_600_000 : null;
      const mode = MODES[number % MODES.length]!;
      file.use((log) => log.append(purge([key, `${key}-too`], { id: key, mode, repeatAfterMs })));
      file.noteHead();
      file.useWithoutSync((log) => log.settleUpTo(log.head));
      pages.push({ key, stamp });
    }
    const isLast = life === purgesOfLives.length - 1;
    const head = file.use((log) => log.head);
    if (isLast && end === "killed") cpSync(path, `${path}-left`, { recursive: true });
    file.close();
    if (!isLast) continue;
    if (end === "stopped") cpSync(path, `${path}-left`, { recursive: true });
    const names = readdirSync(`${path}-left`);
    expect(names.toSorted()).toEqual((end === "killed" ? FILES : STOPPED_FILES).toSorted());
    return { files: new Map(names.map((name) => [name, readFileSync(join(`${path}-left`, name))])), head, pages };
  }
  throw new Error("a log has at least one life");
}

/** Starts the next server on these files. Returns what it would serve that was purged, and whether another log began. */
function restarted(files: ReadonlyMap<string, Buffer>, { head, pages }: LeftLog) {
  replaced = [];
  const path = mkdtempSync(join(folder, "next-"));
  for (const [name, bytes] of files) writeFileSync(join(path, name), bytes);
  const file = open(path);
  try {
    const view = new PurgeView(64 * 1024);
    const delta = file.use((log) => log.read(null, 1000));
    view.apply(delta);
    const served = pages.filter(({ key, stamp }) => {
      const stored = { key: "http://h/", stamp, givenPurgeKeys: [key] } as unknown as StoredHead;
      return view.check(stored, true) === "not-purged";
    });
    const isSame = delta.logId === head.logId;
    if (isSame) expect(delta.to).toBe(head.seq); // otherwise a number would name two purges
    return { isSame, served };
  } finally {
    file.close();
    rmSync(path, { recursive: true });
  }
}

describe.each([
  ["a log that was killed in its first life", [5], "killed"],
  ["a log that was killed in its third life", [40, 3, 4], "killed"],
  ["a log whose write-ahead log has begun anew", [250], "killed"],
  ["a log that was stopped", [60], "stopped"],
] as const)("%s", (_, lives, end) => {
  let log: LeftLog;
  beforeAll(() => {
    log = left(lives, end);
  });

  test("control: goes on as the same log, and knows of every purge", () => {
    expect(restarted(log.files, log)).toEqual({ isSame: true, served: [] });
    expect(replaced).toEqual([]);
  });

  if (end === "killed") {
    test("is another log if one bit is flipped in its write-ahead log and one in the note of its head", () => {
      const flipped = new Map(log.files);
      // The last frame holds what was committed last, and the note is that of the last purge.
      const wal = Buffer.from(log.files.get("purge-log.sqlite-wal")!);
      wal[100]! ^= 1;
      const head = Buffer.from(log.files.get("purge-log.head")!);
      head[head.indexOf('"seq":') + 6]! ^= 1;
      flipped.set("purge-log.sqlite-wal", wal).set("purge-log.head", head);
      expect(restarted(flipped, log)).toEqual({ isSame: false, served: [] });
      expect(replaced).toEqual([expect.stringContaining("purge-log.head beside it is damaged")]);
    });
  }

  test(`serves nothing purged, and says so if another log begins, whichever bits are flipped (${DRAWS} draws, TEST_SEED=${seed})`, {
    timeout: 30_000 + DRAWS * 100,
  }, () => {
    const random = chances(seed);
    const below = (count: number) => Math.floor(random() * count);
    let others = 0;
    for (let draw = 0; draw < DRAWS; draw++) {
      const flipped = new Map(log.files);
      const bits: string[] = [];
      for (let flips = 1 + below(2); flips > 0; flips--) {
        const name = [...flipped.keys()][below(flipped.size)]!;
        const bytes = Buffer.from(flipped.get(name)!);
        let at = below(bytes.length);
        // Most of the bytes are zeros that nobody reads.
        for (let tries = 0; tries < 8 && bytes[at] === 0; tries++) at = below(bytes.length);
        const bit = below(8);
        bytes[at]! ^= 1 << bit;
        flipped.set(name, bytes);
        bits.push(`bit ${bit} of byte ${at} of ${name}`);
      }
      const { isSame, served } = restarted(flipped, log);
      expect(served, bits.join(", ")).toEqual([]);
      if (isSame) expect(replaced, bits.join(", ")).toEqual([]);
      else expect(replaced, bits.join(", ")).toHaveLength(1);
      if (!isSame) others++;
    }
    expect(others).toBeGreaterThan(0);
  });
});
