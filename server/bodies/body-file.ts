import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, unlink } from "node:fs/promises";
import { join } from "node:path";

const READ_BYTES = 64 * 1024;

/** Bytes in a file without a name, so that nobody else can read it and it disappears with the process. */
export class BodyFile {
  readonly #handle: FileHandle;
  readonly #onClose: () => void;
  #writtenBytes = 0;
  #readBytes = 0;

  private constructor(handle: FileHandle, onClose: () => void) {
    this.#handle = handle;
    this.#onClose = onClose;
  }

  static async create(folder: string, onClose: () => void): Promise<BodyFile> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, randomUUID());
    const handle = await open(path, "wx+", 0o600);
    try {
      await unlink(path);
    } catch (cause) {
      await handle.close();
      throw cause;
    }
    return new BodyFile(handle, onClose);
  }

  /**
   * Appends. What goes beyond `endsAt` overwrites the file from its start, where everything has been read. The next write
   * overwrites what a failed one left.
   */
  async write(bytes: Uint8Array, endsAt = Number.POSITIVE_INFINITY): Promise<void> {
    for (let at = 0; at < bytes.byteLength; ) {
      const position = (this.#writtenBytes + at) % endsAt;
      const length = Math.min(bytes.byteLength - at, endsAt - position);
      at += (await this.#handle.write(bytes, at, length, position)).bytesWritten;
    }
    this.#writtenBytes += bytes.byteLength;
  }

  /** The next bytes; `null` at the end. */
  async read(endsAt = Number.POSITIVE_INFINITY): Promise<Uint8Array | null> {
    const unread = this.#writtenBytes - this.#readBytes;
    if (unread === 0) return null;
    const position = this.#readBytes % endsAt;
    const length = Math.min(unread, READ_BYTES, endsAt - position);
    const { bytesRead, buffer } = await this.#handle.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) throw new Error("a file of a body is shorter than what was written");
    this.#readBytes += bytesRead;
    return buffer.subarray(0, bytesRead);
  }

  /** Later writes overwrite the file from its start. */
  empty(): void {
    this.#writtenBytes = 0;
    this.#readBytes = 0;
  }

  /** To be called once. */
  close(): Promise<void> {
    return this.#handle.close().finally(this.#onClose);
  }
}
