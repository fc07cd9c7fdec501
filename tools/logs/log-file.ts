import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { PassThrough, type Readable, type Transform } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { OwnerError } from "#tidemark/internal";
import { LineReader } from "./line-reader.ts";
import { LoggedRequest } from "./logged-request.ts";

/** A log that cannot be read. The message says why, for the person who named it. */
export class LogFileError extends OwnerError {
  override readonly name = "LogFileError";
}

/** The name that stands for standard input. */
export const STANDARD_INPUT = "-";

const CHUNK_BYTES = 512 * 1024;

/** A longer line counts as broken, and its rest is skipped. */
const MAX_LINE_BYTES = 1024 * 1024;

/** The counts of all files together. */
export interface ReadCounts {
  /** Bytes as they are on disk. */
  bytes: number;
  lines: number;
  broken: number;
  /** The first broken lines, with their places. */
  readonly examples: { readonly file: string; readonly line: number; readonly text: string }[];
  /** Lines that are older than an earlier one, and how many of these came too late to be sorted: see `TimeOrder`. */
  outOfOrder: number;
  late: number;
  /** Files that ended too early, like a compressed file that is still being written. */
  readonly cutOff: string[];
}

/** Nothing has been read yet. */
export function noCounts(): ReadCounts {
  return { bytes: 0, lines: 0, broken: 0, examples: [], outOfOrder: 0, late: 0, cutOff: [] };
}

const MAX_EXAMPLES = 3;
const EXAMPLE_LENGTH = 100;

/** One log, which is read from its beginning, one request after another. */
export class LogFile {
  readonly path: string;
  /** The latest request that was read. */
  readonly request = new LoggedRequest();
  readonly #counts: ReadCounts;
  readonly #reader = new LineReader();
  readonly #source: Readable;
  readonly #pieces: AsyncIterator<Buffer>;
  #text = "";
  #at = 0;
  #line = 0;
  #isSkipping = false;
  #hasEnded = false;
  #isClosed = false;

  constructor(
    path: string,
    counts: ReadCounts,
    input: Readable = createReadStream(path, { highWaterMark: CHUNK_BYTES }),
  ) {
    this.path = path;
    this.#counts = counts;
    this.#source = input;
    this.#pieces = decompressed(input, (bytes) => {
      counts.bytes += bytes;
    })[Symbol.asyncIterator]();
  }

  /** Reads the next request from the text in memory. Returns false if there are no more lines. */
  next(): boolean {
    for (;;) {
      let end = this.#text.indexOf("\n", this.#at);
      if (end < 0) {
        if (!this.#hasEnded || this.#at >= this.#text.length) return false;
        end = this.#text.length;
      }
      const start = this.#at;
      this.#at = end + 1;
      this.#line++;
      if (this.#isSkipping) {
        this.#isSkipping = false;
        continue;
      }
      const lineEnd = this.#text.charCodeAt(end - 1) === 13 && end > start ? end - 1 : end;
      const line = this.#text.slice(start, lineEnd);
      const kind = this.#reader.read(line, this.request);
      if (kind === "nothing") continue;
      this.#counts.lines++;
      if (kind === "request") return true;
      this.#tellBroken(line);
    }
  }

  /** Reads the next piece. Resolves to false at the end of the file. */
  async fill(): Promise<boolean> {
    if (this.#hasEnded || this.#isClosed) return false;
    let rest = this.#text.slice(this.#at);
    if (rest.length > MAX_LINE_BYTES) {
      if (!this.#isSkipping) {
        this.#counts.lines++;
        this.#tellBroken(rest);
      }
      this.#isSkipping = true;
      rest = "";
    }
    this.#at = 0;
    this.#text = rest;
    try {
      const { value, done } = await this.#pieces.next();
      // One character per byte, so that bytes that are not UTF-8 stay unchanged.
      if (!done) this.#text = rest + value.toString("latin1");
      else this.#hasEnded = true;
    } catch (cause) {
      this.#hasEnded = true;
      if (isMissing(cause)) throw new LogFileError(`${this.path}: ${missingInWords(cause)}`, { cause });
      if (!this.#isClosed) this.#counts.cutOff.push(this.path);
    }
    return !this.#hasEnded || this.#text.length > 0;
  }

  /** Stops reading, even while it waits for more. */
  close(): void {
    this.#isClosed = true;
    this.#source.destroy();
  }

  #tellBroken(line: string): void {
    this.#counts.broken++;
    if (this.#counts.examples.length >= MAX_EXAMPLES) return;
    const text = Buffer.from(line.slice(0, EXAMPLE_LENGTH), "latin1").toString("latin1");
    this.#counts.examples.push({ file: this.path, line: this.#line, text });
  }
}

/** The size of a file on disk; 0 for standard input. Throws `LogFileError` if there is no such file. */
export async function sizeOf(path: string): Promise<number> {
  if (path === STANDARD_INPUT) return 0;
  try {
    const found = await stat(path);
    if (found.isDirectory())
      throw new LogFileError(`${path} is a folder: name the logs in it, like ${path}/access.log*`);
    return found.size;
  } catch (cause) {
    if (cause instanceof LogFileError || !isMissing(cause)) throw cause;
    throw new LogFileError(`${path}: ${missingInWords(cause)}`, { cause });
  }
}

function isMissing(cause: unknown): cause is NodeJS.ErrnoException {
  return (
    cause instanceof Error &&
    ["ENOENT", "EACCES", "EISDIR", "EPERM", "ENOTDIR"].includes(String((cause as NodeJS.ErrnoException).code))
  );
}

function missingInWords({ code }: NodeJS.ErrnoException): string {
  if (code === "ENOENT" || code === "ENOTDIR") return "there is no such file";
  return code === "EISDIR" ? "it is a folder" : "this user may not read it";
}

/** The pieces of a log, decompressed. The first bytes tell the compression, not the name. */
async function* decompressed(input: Readable, count: (bytes: number) => void): AsyncGenerator<Buffer> {
  let decoder: Transform | null = null;
  let failure: unknown;
  const iterator = input[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const first = await iterator.next();
  if (first.done) return;
  count(first.value.length);
  decoder = decoderFor(first.value);
  if (decoder === null) {
    yield first.value;
    for (let piece = await iterator.next(); !piece.done; piece = await iterator.next()) {
      count(piece.value.length);
      yield piece.value;
    }
    return;
  }
  const output = decoder.pipe(new PassThrough({ highWaterMark: CHUNK_BYTES }));
  decoder.on("error", (cause) => {
    failure = cause;
    output.end();
  });
  const feeding = feed(first.value, iterator, decoder, count).catch((cause: unknown) => {
    failure = cause;
    output.end();
  });
  for await (const piece of output) yield piece as Buffer;
  await feeding;
  if (failure !== undefined) throw failure;
}

async function feed(
  first: Buffer,
  rest: AsyncIterator<Buffer>,
  decoder: Transform,
  count: (bytes: number) => void,
): Promise<void> {
  for (let piece: IteratorResult<Buffer> = { value: first }; !piece.done; piece = await rest.next()) {
    if (piece.value !== first) count(piece.value.length);
    if (decoder.destroyed) return;
    if (!decoder.write(piece.value)) {
      await new Promise<void>((resolve) => {
        decoder.once("drain", resolve);
        decoder.once("close", resolve);
      });
    }
  }
  decoder.end();
}

function decoderFor(first: Buffer): Transform | null {
  if (first[0] === 0x1f && first[1] === 0x8b) return createGunzip({ chunkSize: CHUNK_BYTES });
  if (first.length >= 4 && first.readUInt32LE(0) === 0xfd2fb528)
    return createZstdDecompress({ chunkSize: CHUNK_BYTES });
  return null;
}
