import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { byDepth } from "../../suite/depth.ts";
import { DiskUnderTest, readWhole, temporaryFolder } from "./disk-under-test.ts";
import { bodyText, entryKey, pageText } from "./dying-writer-texts.ts";

const WRITER = fileURLToPath(new URL("dying-writer.ts", import.meta.url));
const ROUNDS = byDepth({ test: 8, gate: 4, all: 15, explore: 200 });

/** Resolves to what the writer said before it ended. */
function write(folder: string, lastCall: number, round: number, where: string): Promise<string> {
  const writer = spawn(process.execPath, [WRITER, folder, String(lastCall), String(round), where], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  writer.stdout.on("data", (piece) => {
    said += piece;
  });
  return new Promise((resolve) => writer.on("close", () => resolve(said)));
}

/** Has no divisor in common with the numbers of calls. */
const STRIDE = 7;

/** The writer survives a few numbers of calls, which it does not make. */
const PLACES = [
  { where: "process", calls: 23 },
  { where: "thread", calls: 30 },
] as const;

test.each(PLACES)(
  `a $where that is killed at each of its calls to the file system leaves whole entries or none, ${ROUNDS} times`,
  {
    timeout: 10_000 + ROUNDS * 3_000,
  },
  async ({ where, calls }) => {
    const path = temporaryFolder();
    let survived = 0;
    for (let round = 0; round < ROUNDS; round++) {
      // The calls come in strides, so that a few rounds reach all parts, and each call is the last one in some round.
      const said = await write(path, (round * STRIDE) % calls, round, where);
      if (said.includes("survived")) survived++;
      const disk = await DiskUnderTest.open(path);
      const written = Array.from({ length: round + 1 }, (_, each) => String(each));
      for (let number = 0; number < 3; number++) {
        const text = await disk.textOf(entryKey(number));
        if (text !== undefined) expect(written.map(pageText)).toContain(text);
        const body = await disk.tier.getBody(`${entryKey(number)}\n${round}`, null);
        if (body) expect((await readWhole(body)).toString()).toBe(bodyText(String(round)));
      }
      // The scan has deleted the drafts of the dead, and has all other files in its index.
      expect(readdirSync(disk.folder.draftsFolder)).toEqual([]);
      expect(disk.janitor.heldBytes).toBe(disk.bytesOnDisk());
      if (said.includes("survived")) expect(await disk.textOf(entryKey(round % 3))).toBe(pageText(String(round)));
      expect(existsSync(path)).toBe(true);
    }
    expect(survived).toBeLessThan(ROUNDS / 2);
    if (ROUNDS >= calls) expect(survived).toBeGreaterThan(0);
  },
);
