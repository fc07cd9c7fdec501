import { type Clock, Fields, type Origin, type OriginAnswer, type OriginRequest } from "#tidemark/internal";
import { UNKNOWN_STATUS } from "../logs/logged-request.ts";
import { ZeroBody } from "./zero-body.ts";

/** A copy of a request from the log. */
export interface ReplayedRequest {
  readonly at: number;
  readonly method: string;
  readonly host: string;
  readonly target: string;
  readonly status: number;
  readonly bytes: number;
  readonly userAgent: string;
}

/** The most pages whose sizes are remembered. */
const MAX_SIZES = 200_000;

/** The origin of a log: it answers a request as it did when the log was written. */
export class LoggedOrigin implements Origin {
  readonly url: string;
  requests = 0;
  bytes = 0;
  /** The request that is being replayed. */
  current!: ReplayedRequest;
  readonly #clock: Clock;
  readonly #cacheControl: string | null;
  readonly #sizes = new Map<string, number>();
  #second = NaN;
  #date = "";

  /** `cacheControl`: its `Cache-Control` on every page; `null` for none. */
  constructor(url: string, clock: Clock, cacheControl: string | null) {
    this.url = url;
    this.#clock = clock;
    this.#cacheControl = cacheControl;
  }

  async fetch({ method, fields: asked }: OriginRequest): Promise<OriginAnswer> {
    const { status, target, bytes } = this.current;
    const isPart = status === 206 && asked.some(([name]) => name === "range");
    // If the edge has not stored a page, it fetches it, even if the visitor in the log had it, or did not get all of it.
    const isPage = status === 304 || status === UNKNOWN_STATUS || (status === 206 && !isPart);
    const answered = isPage ? 200 : status;
    const length = this.#lengthOf(target, answered, bytes);
    const fields = new Fields([
      ["date", this.#dateOf(this.#clock.now())],
      ["content-type", "text/html"],
      ["content-length", String(length)],
    ]);
    if (this.#cacheControl !== null && answered < 400) fields.set("cache-control", this.#cacheControl);
    if (isPart) fields.set("content-range", `bytes 0-${Math.max(0, length - 1)}/*`);
    const hasBody = method !== "HEAD" && length > 0 && answered !== 204;
    this.requests++;
    this.bytes += hasBody ? length : 0;
    return {
      kind: "answered",
      response: { status: answered, statusText: "", fields, body: hasBody ? new ZeroBody(length) : null },
    };
  }

  /** The date of an instant, made once a second. */
  #dateOf(now: number): string {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#date = new Date(now).toUTCString();
    }
    return this.#date;
  }

  /** Only a 200 with a body tells the length of its page. Where a log has less, the page has the length that it had before. */
  #lengthOf(target: string, status: number, bytes: number): number {
    if (status !== 200 || this.current.status !== 200 || bytes === 0) {
      return (status === 200 || bytes === 0 ? this.#sizes.get(target) : undefined) ?? bytes;
    }
    if (this.#sizes.size < MAX_SIZES || this.#sizes.has(target)) this.#sizes.set(target, bytes);
    return bytes;
  }
}
