import { closeSync, constants, fsyncSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";

/** The note is padded to this length, so that rewriting it needs no space on the disk. */
const NOTE_BYTES = 128;

/** The note is for the owner alone. */
const OWNERS_ALONE = 0o600;

/**
 * The log's head, noted in a file of its own after each commit. If the log is later an older one than that, because its
 * file was replaced or is damaged, the note shows it (R13). It is not synchronised with the disk each time: after a loss of
 * power it may be behind the log, which means nothing, and never ahead of it. It is shorter than a sector, so that it is
 * never torn.
 */
export class NotedHead {
  readonly #file: number;
  #isOpen = true;

  /** Opens the note for writing. `head`: what it says from now on, also after a loss of power. */
  constructor(path: string, head: Stamp) {
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT, OWNERS_ALONE);
    try {
      this.write(head);
      fsyncSync(this.#file);
      synchronizeFolder(dirname(path));
    } catch (cause) {
      closeSync(this.#file);
      throw cause;
    }
  }

  /** The last noted head; `null` if there is no note, `"damaged"` if the note has changed since it was written. */
  static read(path: string): Stamp | "damaged" | null {
    let text: string;
    try {
      text = readFileSync(path, "utf8");
    } catch (cause) {
      if ((cause as { code?: unknown }).code === "ENOENT") return null;
      throw cause;
    }
    try {
      const { logId, seq, sum } = JSON.parse(text) as Partial<Stamp> & { readonly sum?: unknown };
      if (typeof logId !== "string" || typeof seq !== "number") return "damaged";
      return sum === sumOf({ logId, seq }) ? { logId, seq } : "damaged";
    } catch {
      return "damaged";
    }
  }

  /** Leaves a note that counts as damaged, whoever has the last one open: no log passes for the one that was noted. */
  static spoil(path: string): void {
    rmSync(path, { force: true });
    writeFileSync(path, "", { mode: OWNERS_ALONE });
    synchronizeFolder(dirname(path));
  }

  write({ logId, seq }: Stamp): void {
    writeSync(this.#file, JSON.stringify({ logId, seq, sum: sumOf({ logId, seq }) }).padEnd(NOTE_BYTES), 0);
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#file);
    this.#isOpen = false;
  }
}

function sumOf({ logId, seq }: Stamp): number {
  return crc32(`${logId} ${seq}`);
}

/** Not every file system can do this. A note that is lost with the power then counts as damage, which costs fetches. */
function synchronizeFolder(path: string): void {
  const folder = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } catch {
    // As above.
  } finally {
    closeSync(folder);
  }
}
