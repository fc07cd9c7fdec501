import { type Dispatcher, errors } from "undici";
import { openAgent } from "#tidemark/internal";
import type { CrawlClock } from "./clock.ts";
import { networkErrorText } from "./network-error.ts";

/** An answer, read to its end. */
export interface HttpAnswer {
  readonly kind: "answered";
  readonly status: number;
  /** A field by its name in lower case; several lines of one field are joined. */
  readonly field: (name: string) => string | null;
  /** From the request, on an open connection, to the head of the answer: milliseconds. */
  readonly headMs: number;
  readonly bytes: number;
  /** The body, if it was to be kept and was not too long. */
  readonly body: Buffer | null;
}

/** No answer, or one that was cut off. */
export interface NoAnswer {
  readonly kind: "failed";
  readonly because: string;
  /** Whether no byte of an answer has arrived. */
  readonly isSilent: boolean;
  /** Whether that is because a kept connection was closed, or may be. The request may be sent again: RFC 9112 §9.3.1. */
  readonly connectionWasOver: boolean;
}

export interface HttpClientOptions {
  readonly clock: CrawlClock;
  /** The connections to one place. */
  readonly connections: number;
  /** The time for an answer with its body, including a new connection if one is needed: milliseconds. */
  readonly timeoutMs: number;
  readonly fields: Readonly<Record<string, string>>;
}

export interface GetOptions {
  readonly signal: AbortSignal;
  /** Replaces fields of the client. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Keeps a body of up to this many bytes. Default 0: it is read and discarded. */
  readonly keepBytes?: number;
}

const RESET: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

/** Sends GET requests over kept connections, follows no redirects, and measures each request. */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #agent: Dispatcher;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    const { connections, timeoutMs } = options;
    this.#agent = openAgent({
      connections,
      connect: { timeout: timeoutMs },
      headersTimeout: 0, // the timeout of the whole request applies
      bodyTimeout: 0,
    });
  }

  async get(url: URL, { signal, fields, keepBytes = 0 }: GetOptions): Promise<HttpAnswer | NoAnswer> {
    const { clock, timeoutMs } = this.#options;
    const exchange = new Exchange(clock, keepBytes);
    const headers = { ...this.#options.fields, ...fields };
    const done = new AbortController();
    const interrupt = () => exchange.abort("it was interrupted");
    signal.addEventListener("abort", interrupt);
    if (signal.aborted) interrupt();
    clock.wait(timeoutMs, done.signal).then(() => {
      if (!done.signal.aborted) exchange.abort(`no whole answer came within ${timeoutMs / 1000} s`);
    });
    try {
      const { origin, pathname, search } = url;
      this.#agent.dispatch({ origin, method: "GET", path: pathname + search, headers }, exchange);
      return await exchange.outcome;
    } finally {
      done.abort();
      signal.removeEventListener("abort", interrupt);
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly outcome: Promise<HttpAnswer | NoAnswer>;
  readonly #resolve: (outcome: HttpAnswer | NoAnswer) => void;
  readonly #clock: CrawlClock;
  readonly #keepBytes: number;
  #controller: Dispatcher.DispatchController | undefined;
  #aborted: string | undefined;
  #sentAt = 0;
  #head: { status: number; headers: Record<string, string | string[]>; headMs: number } | undefined;
  #bytes = 0;
  #kept: Buffer[] = [];

  constructor(clock: CrawlClock, keepBytes: number) {
    const { promise, resolve } = Promise.withResolvers<HttpAnswer | NoAnswer>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#clock = clock;
    this.#keepBytes = keepBytes;
  }

  abort(because: string): void {
    this.#aborted = because;
    this.#fail(because);
    this.#controller?.abort(new Error(because));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted !== undefined) controller.abort(new Error(this.#aborted));
    this.#sentAt = this.#clock.now();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[]>,
  ): void {
    if (status >= 200) this.#head = { status, headers, headMs: this.#clock.now() - this.#sentAt };
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes <= this.#keepBytes) this.#kept.push(piece);
    else this.#kept = [];
  }

  onResponseEnd(): void {
    const { status, headers, headMs } = this.#head!;
    this.#resolve({
      kind: "answered",
      status,
      field: (name) => headers[name]?.toString() ?? null,
      headMs,
      bytes: this.#bytes,
      body: this.#keepBytes > 0 && this.#bytes <= this.#keepBytes ? Buffer.concat(this.#kept) : null,
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    const isKept = error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0;
    // A reset does not say which connection it was.
    const wasKept = isKept || RESET.has((error as NodeJS.ErrnoException).code ?? "");
    this.#fail(
      this.#head === undefined ? (networkErrorText(error) ?? error.message) : "the answer was cut off",
      wasKept,
    );
  }

  #fail(because: string, wasKept = false): void {
    const isSilent = this.#head === undefined;
    this.#resolve({ kind: "failed", because, isSilent, connectionWasOver: isSilent && wasKept });
  }
}
