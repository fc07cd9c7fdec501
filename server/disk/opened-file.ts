import { type DiskFiles, readAll } from "./disk-files.ts";
import {
  blockCount,
  type FileKind,
  fileBytes,
  isTableOf,
  PREFIX_BYTES,
  type Prefix,
  readHead,
  readPrefix,
} from "./file-format.ts";

/** The size of the first read of a file whose size is not known. Most files fit. */
const FIRST_READ_BYTES = 64 * 1024;
const TORN: Prefix = { kind: "entry", headBytes: 0, bodyBytes: 0, headSum: 0, tableSum: 0 };

/** A file of the cache that is open, and whose prefix and head have been read. */
export class OpenedFile {
  readonly fd: number;
  readonly prefix: Prefix;
  readonly #files: DiskFiles;
  /** The beginning of the file; `undefined` if it is torn. */
  readonly #start: Buffer | undefined;

  private constructor(files: DiskFiles, fd: number, prefix: Prefix, start: Buffer | undefined) {
    this.fd = fd;
    this.prefix = prefix;
    this.#files = files;
    this.#start = start;
  }

  /** `firstBytes`: how much is read at first. If that is the whole file, it is not copied again. */
  static async open(
    files: DiskFiles,
    path: string,
    kind: FileKind,
    firstBytes = FIRST_READ_BYTES,
  ): Promise<OpenedFile> {
    const fd = await files.open(path, "r");
    try {
      const first = Buffer.allocUnsafeSlow(firstBytes);
      const read = await files.read(fd, first, firstBytes, 0);
      const start = first.subarray(0, read);
      const prefix = readPrefix(start, kind);
      if (!prefix) return new OpenedFile(files, fd, TORN, undefined);
      const missing = PREFIX_BYTES + prefix.headBytes - read;
      if (missing <= 0) return new OpenedFile(files, fd, prefix, start);
      const rest = Buffer.allocUnsafe(missing);
      await readAll(files, fd, rest, missing, read);
      return new OpenedFile(files, fd, prefix, Buffer.concat([start, rest]));
    } catch (cause) {
      files.closeNow(fd);
      throw cause;
    }
  }

  get isTorn(): boolean {
    return this.#start === undefined;
  }

  /** The head's text; `undefined` if it is torn. */
  get head(): string | undefined {
    return this.#start && readHead(this.#start, this.prefix);
  }

  /** All bytes; `undefined` if the file is shorter than its prefix says. */
  async readWhole(): Promise<Buffer | undefined> {
    if (this.#start === undefined) return undefined;
    const size = fileBytes(this.prefix);
    if (this.#start.length === size && this.#start.buffer.byteLength === size) return this.#start;
    const bytes = Buffer.allocUnsafeSlow(size);
    this.#start.copy(bytes);
    const rest = bytes.subarray(Math.min(this.#start.length, size));
    const read = await readAll(this.#files, this.fd, rest, rest.length, this.#start.length);
    return read < rest.length ? undefined : bytes;
  }

  /** The checksums of the body's blocks; `undefined` if they are torn. */
  async readTable(): Promise<Buffer | undefined> {
    const { prefix } = this;
    const table = Buffer.alloc(4 * blockCount(prefix.bodyBytes));
    const read = await readAll(this.#files, this.fd, table, table.length, fileBytes(prefix) - table.length);
    return read === table.length && isTableOf(prefix, table) ? table : undefined;
  }

  close(): void {
    this.#files.closeNow(this.fd);
  }
}
