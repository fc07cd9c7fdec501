import { Pool } from "undici";
import type { Purged } from "../../simulation/history.ts";
import { FETCH_FIELD, VALIDATION_FIELD } from "../../simulation/log/answer-numbers.ts";
import { bodyOf } from "./day-origin.ts";
import { kindOf } from "./day-pages.ts";
import type { DayRecord } from "./day-record.ts";
import type { VirtualTime } from "./virtual-time.ts";

export const HOST = "www.example.com";
export const SHOP = "shop.example.com";

/** What a visitor asks. */
export interface Visit {
  readonly target: string;
  readonly method?: "GET" | "HEAD" | "POST";
  /** The visitor's session. */
  readonly sid?: string | undefined;
  readonly language?: string;
  /** The value of a field that the site does not know. */
  readonly experiment?: string | undefined;
  readonly range?: readonly [first: number, last: number] | undefined;
  /** The purge whose token the request carries. */
  readonly after?: { readonly token: string; readonly purge: Purged } | undefined;
}

/** A call of the control plane and its answer. */
export interface ControlAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The visitors of one worker, over its socket, and the owner's programs. */
export class DayVisitors {
  readonly #pool: Pool;
  readonly #time: VirtualTime;
  readonly #record: DayRecord;
  readonly #token: string;
  readonly #name: string;
  readonly #since: number;
  #asked = 0;
  /** Requests without an answer yet. */
  underWay = 0;

  constructor(name: string, socketPath: string, token: string, time: VirtualTime, record: DayRecord) {
    this.#name = name;
    this.#since = time.elapsed;
    this.#token = token;
    this.#time = time;
    this.#record = record;
    this.#pool = new Pool("http://localhost", {
      socketPath,
      connections: 64,
      keepAliveTimeout: 30_000,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** Resolves to the `X-Cache` of a page. Never rejects: what goes wrong is in the record. */
  async visit(visit: Visit): Promise<string | null> {
    const { target, method = "GET", sid = null, language = "en", experiment, range, after } = visit;
    const request = `${this.#name} ${++this.#asked}: ${method} ${target}`;
    const arrivedAt = this.#time.elapsed;
    this.#record.asked(request, target);
    this.#record.count("visits");
    this.underWay++;
    try {
      const answer = await this.#pool.request({
        path: target,
        method,
        headers: {
          host: target.startsWith("/shop/") ? SHOP : HOST,
          "accept-language": language,
          ...(sid !== null && { cookie: `sid=${sid}` }),
          ...(experiment !== undefined && { "x-experiment": experiment }),
          ...(range && { range: `bytes=${range[0]}-${range[1]}` }),
          ...(after && { "tidemark-after": after.token }),
        },
      });
      const body = Buffer.from(await answer.body.arrayBuffer());
      const fields = answer.headers as Readonly<Record<string, string>>;
      const numbers = [fields[FETCH_FIELD], fields[VALIDATION_FIELD]].map(Number);
      const [fetch, validation] = numbers as [number, number];
      const xCache = fields["x-cache"] ?? null;
      this.#record.count(String(xCache));
      this.#record.count(`${method} ${answer.statusCode}`);
      if (method === "POST") {
        if (answer.statusCode >= 500) this.#record.failedToAnswer(request, target, arrivedAt);
        return null;
      }
      if (answer.statusCode >= 500 || Number.isNaN(fetch) || Number.isNaN(validation)) {
        if (answer.statusCode < 500) this.#record.broke(`${request} got ${answer.statusCode}, and no page`);
        else this.#record.failedToAnswer(`${request} (${answer.statusCode})`, target, arrivedAt);
        return null;
      }
      this.#check(request, visit, answer.statusCode, body, fields.etag ?? "");
      const identity = sid;
      const seen = { request, arrivedAt, xCache, identity, language, after: after?.purge ?? null };
      this.#record.answered({ ...seen, fetch, validation, workerSince: this.#since });
      return xCache;
    } catch (cause) {
      this.#record.broke(`${request} was not answered: ${String((cause as Error).message)}`);
      return null;
    } finally {
      this.underWay--;
      this.#record.ended(request);
    }
  }

  /** Asks the control plane. */
  async call(method: "GET" | "POST", path: string, body?: object, token = this.#token): Promise<ControlAnswer> {
    this.underWay++;
    this.#record.count("calls");
    try {
      const answer = await this.#pool.request({
        path: `/_tidemark/${path}`,
        method,
        headers: { host: HOST, authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: body ? JSON.stringify(body) : null,
      });
      const text = await answer.body.text();
      const isJson = answer.headers["content-type"]?.includes("json");
      return { status: answer.statusCode, body: isJson ? JSON.parse(text) : {} };
    } finally {
      this.underWay--;
    }
  }

  async leave(): Promise<void> {
    await this.#pool.destroy();
  }

  /** The same once all have their answers. */
  async leaveWhenDone(): Promise<void> {
    await this.#pool.close();
  }

  /** The bytes are those of the version that the tag names, and no others. */
  #check(request: string, visit: Visit, status: number, body: Buffer, tag: string): void {
    const { target, method, range } = visit;
    const version = Number(/^(?:W\/)?"(\d+)-/.exec(tag)?.[1]);
    const kind = kindOf(target)!;
    if (method === "HEAD") return;
    const whole = bodyOf(target, version, kind.bytes);
    const expected = range && status === 206 ? whole.subarray(range[0], range[1] + 1) : whole;
    if (!body.equals(expected)) this.#record.broke(`${request} got other bytes than those of ${tag}`);
  }
}
