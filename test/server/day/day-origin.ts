import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { FETCH_FIELD, VALIDATION_FIELD } from "../../simulation/log/answer-numbers.ts";
import { kindOf, type PageKind, tagsOf } from "./day-pages.ts";
import type { DayRecord } from "./day-record.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** What is wrong with the origin. */
export type OriginFault = "refuses" | "hangs" | "errors";

/** The origin of the day. It numbers its answers, and records each: it is the witness of what visitors get. */
export class DayOrigin {
  fault: OriginFault | null = null;
  readonly #path: string;
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #record: DayRecord;
  readonly #hanging = new Set<ServerResponse>();
  #server: Server | null = null;

  constructor(path: string, time: VirtualTime, random: () => number, record: DayRecord) {
    this.#path = path;
    this.#time = time;
    this.#random = random;
    this.#record = record;
  }

  async comeUp(): Promise<void> {
    this.fault = null;
    this.#record.isOriginGone = false;
    for (const response of this.#hanging) response.destroy();
    this.#hanging.clear();
    if (this.#server) return;
    const server = createServer((request, response) => this.#answer(request, response));
    server.keepAliveTimeout = 0;
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#path, resolve));
  }

  async fail(fault: OriginFault): Promise<void> {
    this.fault = fault;
    if (fault !== "refuses") return;
    this.#record.isOriginGone = true;
    await this.goDown();
  }

  async goDown(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    server?.closeAllConnections();
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const target = request.url!;
    request.resume();
    if (this.fault === "hangs") {
      this.#hanging.add(response);
      response.on("close", () => {
        this.#hanging.delete(response);
        this.#record.failed(target);
      });
      return;
    }
    const kind = kindOf(target);
    const latencyMs = 5 + this.#random() ** 4 * 400;
    const sentAt = this.#time.elapsed;
    const order = this.#record.nextOrder();
    if (this.fault === "errors" || !kind || this.#random() < kind.failing) {
      setTimeout(() => {
        this.#record.failed(target);
        response.writeHead(503, { "content-length": 0 }).end();
      }, latencyMs);
      return;
    }
    if (request.method === "POST") {
      setTimeout(() => response.writeHead(200, { "cache-control": "no-store", "content-length": 0 }).end(), latencyMs);
      return;
    }
    const version = Math.floor(sentAt / kind.changesEveryMs);
    const identity = /sid=(\w+)/.exec(request.headers.cookie ?? "")?.[1] ?? null;
    const language = kind.hasLanguages ? (request.headers["accept-language"] ?? "en") : null;
    setTimeout(() => {
      const fetched = this.#record.fetched({
        ...{ target, tags: tagsOf(target), order, sentAt, version, identity, language },
        audience: kind.audience,
        freshMs: kind.freshMs,
        staleWhileRevalidateMs: kind.staleWhileRevalidateMs,
        staleIfErrorMs: kind.staleIfErrorMs,
      });
      this.#send(request, response, kind, fetched);
    }, latencyMs);
  }

  #send(request: IncomingMessage, response: ServerResponse, kind: PageKind, fetched: Fetch): void {
    const { target, version, language, identity, number } = fetched;
    const isPersonal = kind.audience !== "all";
    const tag = `"${version}-${language ?? ""}-${isPersonal ? identity : ""}"`;
    const fields = {
      "cache-control": kind.cacheControl,
      "content-type": "text/html; charset=utf-8",
      "cache-tag": fetched.tags.join(","),
      etag: tag,
      [VALIDATION_FIELD]: number,
      ...(kind.hasLanguages && { vary: "Accept-Language" }),
    };
    if (request.headers["if-none-match"] === tag) {
      response.writeHead(304, fields).end();
      return;
    }
    const body = bodyOf(target, version, kind.bytes);
    response.writeHead(kind.status, { ...fields, [FETCH_FIELD]: number, "content-length": body.length });
    response.end(request.method === "HEAD" ? undefined : body);
  }
}

type Fetch = ReturnType<DayRecord["fetched"]>;

/** The same for the same version of a page, and unlike all others. */
export function bodyOf(target: string, version: number, bytes: number): Buffer {
  const body = Buffer.alloc(bytes, "day ");
  body.write(`${target} ${version} `);
  return body;
}
