import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync, write, writeSync } from "node:fs";
import type { Answer, Turn } from "../../worker/ports/answer.ts";
import type { ClientFields } from "../http1/client-fields.ts";
import { messageOf } from "../message-of.ts";

/** The method of bytes that were refused before they were read as a request. */
export const UNREAD_METHOD = "-";

/** One request, as the access log shows it. */
export interface AnsweredExchange {
  /** `null` on a unix socket. */
  readonly clientAddress: string | null;
  /** The name of the site on a server with several. Absent on a server with one site, or if no site has the host. */
  readonly site?: string | undefined;
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly fields: ClientFields;
  readonly answer: Pick<Answer, "status" | "fields">;
  readonly bodyBytes: number;
  /** From the head of the request to the last byte that was written: milliseconds. */
  readonly tookMs: number;
  /** False if the client or the origin hung up before the end. */
  readonly isWhole: boolean;
  /** Absent if it did not wait for the origin. */
  readonly turn?: Turn | undefined;
}

/** The part of a log that the listener uses. */
export interface ExchangeLog {
  record(exchange: AnsweredExchange): void;
}

export type AccessLogFormat = "combined" | "json";

const FLUSH_BYTES = 64 * 1024;
const FLUSH_MS = 100;
/** The most bytes that wait for a disk that is slow or full. Beyond that, lines are dropped and counted. */
const MAX_WAITING_CHARACTERS = 8 * 1024 * 1024;
/** While the file cannot be written, it is tried again after this time. Milliseconds. */
const TRY_AGAIN_MS = 1000;
/** A pipe that is full is written again after this time: a reader may empty its 64 KiB in less. Milliseconds. */
const PIPE_AGAIN_MS = 2;
/** So long the end of the process waits for the reader of a full pipe. Milliseconds. */
const PIPE_CLOSE_MS = 1000;
/** No process takes longer to write its lines, on a busy machine either. Milliseconds. */
const LOOK_AGAIN_MS = 250;

const STANDARD_OUTPUT = "/dev/stdout";
const STANDARD_OUTPUT_FILE = 1;
const LINE_FEED = 10;
/** Linux writes so many bytes to a pipe together, or none of them. */
const PIPE_BUF = 4096;
/** The same for a unix socket, such as the journal's, with the usual buffer of 208 KiB. */
const SOCKET_BYTES = 32 * 1024;
const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDWR, O_WRONLY } = constants;

/** The call that writes, so that a test can simulate a full disk. */
export type WriteCall = (
  file: number,
  bytes: Uint8Array,
  from: number,
  length: number,
  position: null,
  done: (error: NodeJS.ErrnoException | null, written: number) => void,
) => void;

/**
 * The access log: nginx's combined format with `X-Cache` and the time in seconds appended, or one JSON object a line.
 * Lines are collected and written every 100 ms or 64 KiB, and never hold up an answer. Several processes append to one
 * file or pipe, whole lines each time. Where the reader of a pipe is slow, other lines may cut a line beyond 4096 bytes,
 * or any in another user's pipe on standard output. While the file cannot be written, lines wait in memory, up to a bound.
 */
export class AccessLog implements ExchangeLog {
  readonly #path: string;
  readonly #format: AccessLogFormat;
  readonly #warn: (line: string) => void;
  readonly #namesSites: boolean;
  readonly #writeCall: WriteCall | undefined;
  /** `null` while it cannot be opened. */
  #file: OpenFile | null;
  #waiting = "";
  /** The earlier bytes that are being written, or could not be. */
  #unwritten: Buffer | null = null;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isFailing = false;
  /** Whether the last attempt that failed met a pipe whose reader is slow. */
  #isPipeFull = false;
  #dropped = 0;
  /** How many dropped lines the owner has been told of. */
  #droppedAndTold = 0;

  /** `path` may be `/dev/stdout`. `namesSites`: there are several. */
  constructor(
    path: string,
    format: AccessLogFormat,
    warn: (line: string) => void,
    writeCall?: WriteCall,
    namesSites = false,
  ) {
    this.#path = path;
    this.#namesSites = namesSites;
    this.#format = format;
    this.#warn = warn;
    this.#writeCall = writeCall;
    this.#file = this.#tryToOpen();
  }

  /** How many lines were dropped because the disk did not keep up, was full for too long, or had not taken them at the end. */
  get dropped(): number {
    return this.#dropped;
  }

  record(exchange: AnsweredExchange): void {
    if (this.#waiting.length + (this.#unwritten?.byteLength ?? 0) > MAX_WAITING_CHARACTERS) {
      this.#dropped++;
      return;
    }
    if (this.#format === "json") this.#waiting += jsonLine(exchange, this.#namesSites);
    // The site comes first, like the host in Apache's vhost_combined.
    else this.#waiting += (this.#namesSites ? `${exchange.site ?? "-"} ` : "") + combinedLine(exchange);
    if (this.#waiting.length >= FLUSH_BYTES && this.#unwritten === null) void this.flush();
    else this.#flushAfter(FLUSH_MS);
  }

  /** Tries to write the waiting lines. Resolves once they are written, or have failed and will be tried again. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#writing) await this.#writing;
    this.#writing = this.#writeAll();
    await this.#writing;
    this.#writing = undefined;
  }

  /**
   * Opens the file again after it was moved away: waiting lines go to the new file. If that fails, it resolves to false, the
   * owner is told, and lines still go to the old file if there is one.
   */
  async reopen(): Promise<boolean> {
    while (this.#writing) await this.#writing;
    try {
      const file = openFile(this.#path);
      if (this.#file) closeFile(this.#file);
      this.#file = file;
      return true;
    } catch (cause) {
      // Without an old file the owner was told that it cannot be written.
      if (this.#file) {
        this.#warn(
          `The access log ${this.#path} cannot be reopened, so the server still writes the old file: ${messageOf(cause)}`,
        );
      }
      return false;
    }
  }

  /** Writes the waiting lines, within about a second, and counts the others as dropped. */
  async close(): Promise<void> {
    do await this.flush();
    while (this.#waiting !== "" && this.#unwritten === null); // lines that came while it wrote
    for (let ms = 0; this.#unwritten && this.#isPipeFull && ms < PIPE_CLOSE_MS; ms += PIPE_AGAIN_MS) {
      await new Promise((resolve) => setTimeout(resolve, PIPE_AGAIN_MS));
      await this.flush();
    }
    clearTimeout(this.#timer);
    this.#tellOfDropped();
    this.#dropped += linesIn((this.#unwritten?.toString("latin1") ?? "") + this.#waiting);
    this.#unwritten = null;
    this.#waiting = "";
    this.#tellOfDropped("the server stopped before they could be written");
    if (this.#file) closeFile(this.#file);
  }

  #flushAfter(ms: number): void {
    this.#timer ??= setTimeout(() => void this.flush(), ms).unref();
  }

  /** The bytes that could not be written come first, then the lines since. */
  async #writeAll(): Promise<void> {
    if (this.#unwritten) await this.#write(this.#unwritten);
    if (this.#unwritten || this.#waiting === "") return;
    this.#unwritten = Buffer.from(this.#waiting, "latin1");
    this.#waiting = "";
    await this.#write(this.#unwritten);
  }

  /** Leaves the bytes that could not be written in `#unwritten`. */
  async #write(lines: Buffer): Promise<void> {
    this.#file ??= this.#tryToOpen();
    const file = this.#file;
    if (file === null) return;
    const bytes = (await isTorn(file)) ? Buffer.concat([Buffer.of(LINE_FEED), lines]) : lines;
    const writeCall = this.#writeCall ?? file.writeCall;
    let from = 0;
    try {
      while (from < bytes.byteLength) {
        const length = pieceEnd(bytes, from, file.pieceBytes) - from;
        from += await new Promise<number>((resolve, reject) => {
          writeCall(file.descriptor, bytes, from, length, null, (error, written) =>
            error ? reject(error) : resolve(written),
          );
        });
      }
      this.#unwritten = null;
      this.#worked();
    } catch (cause) {
      const error = cause as NodeJS.ErrnoException;
      // In a file, the line that was cut is written again as a whole.
      const kept = file.hasEnd && from > 0 ? bytes.lastIndexOf(LINE_FEED, from - 1) + 1 : from;
      this.#unwritten = from === 0 ? lines : bytes.subarray(kept);
      if (error.code === "EPIPE") this.#giveUpPipe(file);
      this.#failed(error);
    }
  }

  /** Nobody reads this pipe any more, and the next reader may come to another one in its place. */
  #giveUpPipe(file: OpenFile): void {
    closeFile(file);
    this.#file = null;
  }

  #tryToOpen(): OpenFile | null {
    try {
      return openFile(this.#path);
    } catch (cause) {
      this.#failed(cause as NodeJS.ErrnoException);
      return null;
    }
  }

  #failed({ code, message }: NodeJS.ErrnoException): void {
    // A pipe whose reader is slow is no fault of the log. It has room again soon.
    this.#isPipeFull = code === "EAGAIN";
    // Lines that came during the attempt have set the timer.
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushAfter(this.#isPipeFull ? PIPE_AGAIN_MS : TRY_AGAIN_MS);
    if (this.#isFailing || this.#isPipeFull) return;
    this.#isFailing = true;
    this.#warn(`The access log ${this.#path} cannot be written: ${message}. Its lines wait in memory.`);
  }

  #worked(): void {
    this.#tellOfDropped();
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#warn(`The access log ${this.#path} can be written again.`);
  }

  #tellOfDropped(because = "the memory for waiting lines was full"): void {
    const lines = this.#dropped - this.#droppedAndTold;
    if (lines === 0) return;
    this.#droppedAndTold = this.#dropped;
    this.#warn(`The access log ${this.#path} lost ${lines} ${lines === 1 ? "line" : "lines"}, because ${because}.`);
  }
}

interface OpenFile {
  readonly descriptor: number;
  /** A regular file, whose end can be read. */
  readonly hasEnd: boolean;
  /** At most so much is written at once, except for a line that is longer. */
  readonly pieceBytes: number;
  readonly writeCall: WriteCall;
}

function openFile(path: string): OpenFile {
  if (path === STANDARD_OUTPUT) return openStandardOutput();
  const kind = statSync(path, { throwIfNoEntry: false });
  // Reading from a pipe or a device would disturb it.
  const hasEnd = kind?.isFile() ?? true;
  const access = hasEnd ? O_RDWR : O_WRONLY;
  // Without O_NONBLOCK, the process would stand still until somebody reads the pipe.
  const descriptor = openSync(path, access | O_APPEND | O_CREAT | O_NONBLOCK);
  return { descriptor, hasEnd, ...writingTo(kind) };
}

/** A pipe is opened again, because its writes may block otherwise. A socket of the service manager cannot be. */
function openStandardOutput(): OpenFile {
  const kind = fstatSync(STANDARD_OUTPUT_FILE);
  const asItIs = { descriptor: STANDARD_OUTPUT_FILE, hasEnd: false };
  if (!kind.isFIFO()) return { ...asItIs, ...writingTo(kind) };
  try {
    return { descriptor: openSync(STANDARD_OUTPUT, O_WRONLY | O_NONBLOCK), hasEnd: false, ...writingTo(kind) };
  } catch {
    // It belongs to another user. In pieces, a busy process would write its lines too slowly, one in each turn.
    return { ...asItIs, pieceBytes: Number.POSITIVE_INFINITY, writeCall: write };
  }
}

function writingTo(kind: Stats | undefined): Pick<OpenFile, "pieceBytes" | "writeCall"> {
  if (kind?.isFIFO()) return { pieceBytes: PIPE_BUF, writeCall: writeAtOnce };
  return { pieceBytes: kind?.isSocket() ? SOCKET_BYTES : Number.POSITIVE_INFINITY, writeCall: write };
}

/** Does not wait for the event loop after each piece: a busy process would write its lines too slowly. */
const writeAtOnce: WriteCall = (file, bytes, from, length, position, done) => {
  try {
    done(null, writeSync(file, bytes, from, length, position));
  } catch (cause) {
    done(cause as NodeJS.ErrnoException, 0);
  }
};

function closeFile({ descriptor }: OpenFile): void {
  if (descriptor !== STANDARD_OUTPUT_FILE) closeSync(descriptor);
}

/**
 * Whether the disk has become full within a line, of this process or another: that line ends there. The end may also be
 * a line that another process is just writing, so the file is read a second time.
 */
async function isTorn(file: OpenFile): Promise<boolean> {
  const end = endWithinLine(file);
  if (end === null) return false;
  await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  return endWithinLine(file) === end;
}

/** Where the file ends, if it does so within a line; `null` if not. */
function endWithinLine({ descriptor, hasEnd }: OpenFile): number | null {
  if (!hasEnd) return null;
  try {
    const { size } = fstatSync(descriptor);
    const last = Buffer.alloc(1);
    return size > 0 && readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] !== LINE_FEED ? size : null;
  } catch {
    return null; // the next write shows whether the file can be written
  }
}

/** Where the piece that begins at `from` ends: behind the last line that it has room for, and behind one line at least. */
function pieceEnd(lines: Buffer, from: number, pieceBytes: number): number {
  if (lines.byteLength - from <= pieceBytes) return lines.byteLength;
  const lastEnd = lines.lastIndexOf(LINE_FEED, from + pieceBytes - 1) + 1;
  return lastEnd > from ? lastEnd : lines.indexOf(LINE_FEED, from) + 1;
}

function linesIn(text: string): number {
  return text.split("\n").length - 1;
}

/** `$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`, and more. */
function combinedLine({ clientAddress, method, target, version, fields, answer, bodyBytes, tookMs }: AnsweredExchange) {
  const request = method === UNREAD_METHOD ? method : `${method} ${target} HTTP/${version}`;
  const referer = quoted(fields.get("referer"));
  const agent = quoted(fields.get("user-agent"));
  const head = `${clientAddress ?? "unix:"} - - [${logTime()}] "${escaped(request)}" ${answer.status} ${bodyBytes}`;
  return `${head} ${referer} ${agent} ${answer.fields.get("x-cache") ?? "-"} ${(tookMs / 1000).toFixed(3)}\n`;
}

function jsonLine(
  { clientAddress, site, method, target, version, fields, answer, bodyBytes, tookMs, isWhole, turn }: AnsweredExchange,
  namesSite: boolean,
) {
  const line = {
    time: new Date().toISOString(),
    ...(namesSite && { site: site ?? null }),
    client: clientAddress,
    method,
    target,
    protocol: `HTTP/${version}`,
    host: fields.get("host"),
    status: answer.status,
    bytes: bodyBytes,
    referer: fields.get("referer"),
    userAgent: fields.get("user-agent"),
    xCache: answer.fields.get("x-cache"),
    detail: detailOf(answer.fields.get("cache-status")),
    ms: Math.round(tookMs * 1000) / 1000,
    whole: isWhole,
    ...(turn && { queue: { client: turn.client, ms: turn.waitedMs, turn: turn.hasCome } }),
  };
  // The file is written in latin1.
  return `${JSON.stringify(line).replace(/[^\x20-\x7e]/g, unicodeEscape)}\n`;
}

/** The edge's own member of `Cache-Status` is the last one, and ends with its `detail`, if it has one. */
const DETAIL = /; detail=(?:"((?:[^"\\]|\\.)*)"|([^",;\s]+))$/;

function detailOf(cacheStatus: string | null): string | null {
  const [, text, token] = (cacheStatus && DETAIL.exec(cacheStatus)) || [];
  return text?.replace(/\\(.)/g, "$1") ?? token ?? null;
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function quoted(text: string | null): string {
  return text === null ? '"-"' : `"${escaped(text)}"`;
}

/** Escapes as nginx does, so that no client can end a field or a line with what it sends. */
function escaped(text: string): string {
  return text.replace(/["\\]|[^\x20-\x7e]/g, (character) => {
    return `\\x${(character.charCodeAt(0) & 0xff).toString(16).toUpperCase().padStart(2, "0")}`;
  });
}

let second = 0;
let timeText = "";

/** The local time as nginx writes it, made once a second. */
function logTime(): string {
  const now = new Date();
  const current = Math.floor(now.getTime() / 1000);
  if (current === second) return timeText;
  second = current;
  const two = (number: number) => String(number).padStart(2, "0");
  const offset = -now.getTimezoneOffset();
  const zone = `${offset < 0 ? "-" : "+"}${two(Math.floor(Math.abs(offset) / 60))}${two(Math.abs(offset) % 60)}`;
  const day = `${two(now.getDate())}/${MONTHS[now.getMonth()]}/${now.getFullYear()}`;
  timeText = `${day}:${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())} ${zone}`;
  return timeText;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
