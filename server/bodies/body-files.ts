import { BodyFile } from "./body-file.ts";
import { Room } from "./room.ts";

/** The files for bodies: their folder, the bytes that they may hold, and how many may be open at a time. */
export class BodyFiles {
  readonly bytes: Room;
  readonly #open: Room;
  readonly #folder: string;

  /** `mostOpen`: `null` without a limit. */
  constructor(folder: string, maxBytes: number, mostOpen: number | null) {
    this.#folder = folder;
    this.bytes = new Room(maxBytes);
    this.#open = new Room(mostOpen ?? Number.POSITIVE_INFINITY);
  }

  /** Rejects if as many are open as may be. */
  async create(): Promise<BodyFile> {
    if (!this.#open.take(1)) throw new Error("too many files of bodies are open");
    const onClose = () => this.#open.give(1);
    try {
      return await BodyFile.create(this.#folder, onClose);
    } catch (cause) {
      onClose();
      throw cause;
    }
  }
}
