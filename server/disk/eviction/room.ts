import { roomOf } from "../disk-blocks.ts";
import type { DiskNote, JanitorLine } from "./janitor-line.ts";

/** Room is asked for in pieces of this size, so that small files need no call each. */
const PIECE_BYTES = 4 * 1024 * 1024;

/** One process's connection to the janitor, which keeps some room for small files. */
export class Room {
  readonly #line: JanitorLine;
  /** Room that was granted and is not used yet. */
  #spareBytes = 0;
  #asking: Promise<boolean> | null = null;

  constructor(line: JanitorLine) {
    this.#line = line;
  }

  /** Whether a file of this size may be written. If so, `used` or `unused` has to follow. */
  async take(bytes: number): Promise<boolean> {
    const room = roomOf(bytes);
    if (room > PIECE_BYTES / 4) return (await this.#line.ask(room, room)) > 0;
    while (!this.takeNow(bytes)) {
      this.#asking ??= this.#refill(room);
      if (!(await this.#asking)) return false;
    }
    return true;
  }

  /** Like `take`, if room for the file is at hand. False does not mean that the disk is full. */
  takeNow(bytes: number): boolean {
    const room = roomOf(bytes);
    if (this.#spareBytes < room) return false;
    this.#spareBytes -= room;
    return true;
  }

  /** The file is written, with this many bytes; `takenBytes` were taken for it. */
  used(file: string, bytes: number, takenBytes: number): void {
    this.#note({ kind: "put", file, bytes });
    this.#giveBack(roomOf(takenBytes) - roomOf(bytes));
  }

  /** The file is not written after all. */
  unused(takenBytes: number): void {
    this.#giveBack(roomOf(takenBytes));
  }

  /** A draft takes so many bytes more of the room that was taken for it, or fewer: before `used` or `unused`, all. */
  draft(bytes: number): void {
    if (bytes !== 0) this.#note({ kind: "draft", bytes });
  }

  hit(file: string): void {
    this.#note({ kind: "hit", file });
  }

  gone(file: string): void {
    this.#note({ kind: "gone", file });
  }

  /** A file of this size is open; `closed` has to follow. */
  opened(file: string, bytes: number): void {
    this.#note({ kind: "opened", file, bytes });
  }

  closed(file: string): void {
    this.#note({ kind: "closed", file });
  }

  /** Resolves when the janitor has taken all notes. A process that ends at once would lose the notes on their way. */
  async settled(): Promise<void> {
    await this.#line.ask(0, 0);
  }

  /** The same, and the room that is not used is given back. */
  async end(): Promise<void> {
    this.#giveBack(this.#spareBytes);
    this.#spareBytes = 0;
    await this.settled();
  }

  async #refill(room: number): Promise<boolean> {
    const granted = await this.#line.ask(room, PIECE_BYTES);
    this.#spareBytes += granted;
    this.#asking = null;
    return granted > 0;
  }

  #giveBack(bytes: number): void {
    if (bytes > 0) this.#note({ kind: "unused", bytes });
  }

  #note(note: DiskNote): void {
    this.#line.tell([note]);
  }
}
