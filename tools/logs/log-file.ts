import { createReadStream } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { OwnerError } from "#tidemark/internal";
import { CHUNK_BYTES, decompressed, foreignFormat } from "./decompressed.ts";
import { LineReader } from "./line-reader.ts";
import { LoggedRequest } from "./logged-request.ts";

/** A log that cannot be read. The message says why, for the person who named it. */
export class LogFileError extends OwnerError {
  override readonly name = "LogFileError";
}

/** The name that stands for standard input. */
export const STANDARD_INPUT = "-";

/** A longer line counts as broken, and its rest is skipped. */
const MAX_LINE_BYTES = 1024 * 1024;

/** A line with an earlier time, or with one so far ahead (`IMPOSSIBLE_TIMES`), comes from a wrong clock, and counts as broken. */
const EARLIEST_AT = Date.UTC(1995, 0, 1);
const MOST_AHEAD_MS = 86_400_000;

/** The counts of all files together. */
export interface ReadCounts {
  /** Bytes as they are on disk. */
  bytes: number;
  lines: number;
  broken: number;
  /** The broken lines that are requests at an impossible time. */
  misdated: number;
  /** The edge's own answers, which no origin and no cache would have got. */
  own: number;
  /** Requests whose lines name a host. */
  withHost: number;
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
  return {
    ...{ bytes: 0, lines: 0, broken: 0, misdated: 0, own: 0, withHost: 0, outOfOrder: 0, late: 0 },
    examples: [],
    cutOff: [],
  };
}

const MAX_EXAMPLES = 3;
const EXAMPLE_LENGTH = 100;

/** One log, which is read from its beginning, one request after another. */
export class LogFile {
  readonly path: string;
  /** The latest request that was read. */
  readonly request = new LoggedRequest();
  readonly #counts: ReadCounts;
  readonly #now: () => number;
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
    now: () => number,
    input: Readable = createReadStream(path, { highWaterMark: CHUNK_BYTES }),
  ) {
    this.path = path;
    this.#counts = counts;
    this.#now = now;
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
      if (this.#isSkipping) {
        this.#isSkipping = false;
        continue;
      }
      this.#line++;
      const lineEnd = this.#text.charCodeAt(end - 1) === 13 && end > start ? end - 1 : end;
      const line = this.#text.slice(start, lineEnd);
      const kind = this.#reader.read(line, this.request);
      if (kind === "nothing") continue;
      this.#counts.lines++;
      if (kind === "request" && this.#isPossible(this.request.at)) {
        if (this.request.host !== "") this.#counts.withHost++;
        return true;
      }
      if (kind === "request") this.#counts.misdated++;
      if (kind === "own") this.#counts.own++;
      else this.#tellBroken(line);
    }
  }

  /** Reads the next piece. Resolves to false at the end of the file. */
  async fill(): Promise<boolean> {
    if (this.#hasEnded || this.#isClosed) return false;
    let rest = this.#text.slice(this.#at);
    if (rest.length > MAX_LINE_BYTES) {
      if (!this.#isSkipping) {
        this.#line++;
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
      if (!done) {
        if (this.#line === 0) this.#refuseForeign(value);
        this.#text = rest + value.toString("latin1");
      } else this.#hasEnded = true;
    } catch (cause) {
      this.#hasEnded = true;
      if (cause instanceof LogFileError) throw cause;
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

  #refuseForeign(first: Buffer): void {
    const { name, command } = foreignFormat(first) ?? {};
    if (name === undefined) return;
    throw new LogFileError(
      `${this.path} is ${name}, which is not read. Give it as text: ${command} FILE | tidemark report -`,
    );
  }

  #isPossible(at: number): boolean {
    return at >= EARLIEST_AT && at <= this.#now() + MOST_AHEAD_MS;
  }

  #tellBroken(line: string): void {
    this.#counts.broken++;
    if (this.#counts.examples.length >= MAX_EXAMPLES) return;
    const text = Buffer.from(line.slice(0, EXAMPLE_LENGTH), "latin1").toString("latin1");
    this.#counts.examples.push({ file: this.path, line: this.#line, text });
  }
}

/** The size of all files as they are, compressed or not. Throws `LogFileError` for one that cannot be read. */
export async function bytesOf(files: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const file of files) bytes += await sizeOf(file);
  return bytes;
}

/** The size of a file on disk; 0 for standard input. */
async function sizeOf(path: string): Promise<number> {
  if (path === STANDARD_INPUT) return 0;
  try {
    const found = await stat(path);
    await access(path, constants.R_OK);
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
