import { closeSync, openSync, write, writeSync } from "node:fs";
import type { Answer } from "../../worker/ports.ts";
import type { ClientFields } from "./client-fields.ts";

/** One request, as the access log tells of it. */
export interface AnsweredExchange {
  /** `null` on a unix socket. */
  readonly clientAddress: string | null;
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
}

/** What the listener needs of a log. */
export interface ExchangeLog {
  record(exchange: AnsweredExchange): void;
}

export type AccessLogFormat = "combined" | "json";

const FLUSH_BYTES = 64 * 1024;
const FLUSH_MS = 100;
/** What waits for a disk that does not keep up. Then lines are dropped and counted. */
const MAX_WAITING_CHARACTERS = 8 * 1024 * 1024;

/**
 * The access log: nginx's combined format with `X-Cache` and the time in seconds appended, or one JSON object a line.
 * Lines are collected and written every 100 ms or 64 KiB, and never hold up an answer.
 */
export class AccessLog implements ExchangeLog {
  readonly #path: string;
  readonly #format: AccessLogFormat;
  readonly #warn: (line: string) => void;
  #file: number;
  #waiting = "";
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #dropped = 0;

  /** Throws if the file cannot be opened. `path` may be `/dev/stdout`. */
  constructor(path: string, format: AccessLogFormat, warn: (line: string) => void) {
    this.#path = path;
    this.#format = format;
    this.#warn = warn;
    this.#file = openSync(path, "a");
  }

  /** How many lines were dropped because the disk did not keep up. */
  get dropped(): number {
    return this.#dropped;
  }

  record(exchange: AnsweredExchange): void {
    if (this.#waiting.length > MAX_WAITING_CHARACTERS) {
      this.#dropped++;
      return;
    }
    this.#waiting += this.#format === "json" ? jsonLine(exchange) : combinedLine(exchange);
    if (this.#waiting.length >= FLUSH_BYTES) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Writes what waits. Resolves once it is written. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#writing) await this.#writing;
    if (this.#waiting === "") return;
    const lines = this.#waiting;
    this.#waiting = "";
    this.#writing = this.#write(Buffer.from(lines, "latin1"));
    await this.#writing;
    this.#writing = undefined;
  }

  /** Opens the file anew, after it was moved away. What waits goes to the new one. */
  async reopen(): Promise<void> {
    while (this.#writing) await this.#writing;
    const file = openSync(this.#path, "a");
    closeSync(this.#file);
    this.#file = file;
  }

  async close(): Promise<void> {
    await this.flush();
    closeSync(this.#file);
  }

  /** For the last moment of a process: what waits is written before this returns. */
  flushNow(): void {
    if (this.#waiting !== "") writeSync(this.#file, this.#waiting, null, "latin1");
    this.#waiting = "";
  }

  #write(bytes: Buffer): Promise<void> {
    return new Promise((resolve) => {
      const rest = (from: number) => {
        write(this.#file, bytes, from, bytes.byteLength - from, null, (error, written) => {
          if (error) this.#warn(`The access log ${this.#path} cannot be written: ${error.message}`);
          if (error || from + written >= bytes.byteLength) resolve();
          else rest(from + written);
        });
      };
      rest(0);
    });
  }
}

/** `$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`, and more. */
function combinedLine({ clientAddress, method, target, version, fields, answer, bodyBytes, tookMs }: AnsweredExchange) {
  const request = `${method} ${target} HTTP/${version}`;
  const referer = quoted(fields.get("referer"));
  const agent = quoted(fields.get("user-agent"));
  const head = `${clientAddress ?? "unix:"} - - [${logTime()}] "${escaped(request)}" ${answer.status} ${bodyBytes}`;
  return `${head} ${referer} ${agent} ${answer.fields.get("x-cache") ?? "-"} ${(tookMs / 1000).toFixed(3)}\n`;
}

function jsonLine({
  clientAddress,
  method,
  target,
  version,
  fields,
  answer,
  bodyBytes,
  tookMs,
  isWhole,
}: AnsweredExchange) {
  const line = {
    time: new Date().toISOString(),
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
    ms: Math.round(tookMs * 1000) / 1000,
    whole: isWhole,
  };
  // The file is written in latin1.
  return `${JSON.stringify(line).replace(/[^\x20-\x7e]/g, unicodeEscape)}\n`;
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function quoted(text: string | null): string {
  return text === null ? '"-"' : `"${escaped(text)}"`;
}

/** As nginx escapes: nobody can end a field or a line by what is sent. */
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
