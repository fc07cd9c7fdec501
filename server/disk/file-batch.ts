import { type FileKind, fileBytes, writeSmallFile } from "./file-format.ts";

/** Most batches fit in here. A larger one takes twice the memory, until it does. */
const FIRST_BYTES = 64 * 1024;
/** A character of a text takes no more bytes than this. */
const MAX_CHARACTER_BYTES = 3;
/** Before each file: its size in 4 bytes, and the length of its name in 1. */
const SIZE_BYTES = 4;
const START_BYTES = SIZE_BYTES + 1;

/** Small files in one piece of memory, one after the other, each behind its name: a piece for each would cost more. */
export class FileBatch {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The entries that were added, in memory of its own. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  get names(): string[] {
    return Array.from(filesOf(this.#bytes.subarray(0, this.#length)), ({ name }) => name);
  }

  /** `name` is in ASCII. */
  add(name: string, kind: FileKind, head: string, body: Uint8Array): void {
    const at = this.#length;
    const fileAt = at + START_BYTES + name.length;
    const headBytes = MAX_CHARACTER_BYTES * head.length;
    this.#reserve(fileAt + fileBytes({ headBytes, bodyBytes: body.byteLength }));
    const bytes = this.#bytes;
    const size = writeSmallFile(bytes, fileAt, kind, head, body);
    bytes.writeUInt32LE(size, at);
    bytes[at + SIZE_BYTES] = name.length;
    bytes.write(name, at + START_BYTES, "latin1");
    this.#length = fileAt + size;
  }

  #reserve(length: number): void {
    let size = this.#bytes.length;
    if (length <= size) return;
    while (size < length) size *= 2;
    const larger = Buffer.allocUnsafeSlow(size);
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** The files of a batch: their names, and where their bytes are. */
export function* filesOf(bytes: Buffer): Iterable<{ name: string; start: number; end: number }> {
  for (let at = 0; at < bytes.length; ) {
    const nameAt = at + START_BYTES;
    const start = nameAt + bytes[at + SIZE_BYTES]!;
    const end = start + bytes.readUInt32LE(at);
    yield { name: bytes.toString("latin1", nameAt, start), start, end };
    at = end;
  }
}
