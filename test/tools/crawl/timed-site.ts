import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { CrawlClock } from "../../../tools/requests/clock.ts";
import { listenLocally } from "../../suite/local-url.ts";

/** A time that passes only while somebody waits, and while the site takes its time for an answer. */
export class VirtualTime implements CrawlClock {
  #now = 0;
  /** The times out of requests: they end only when they are told to. */
  readonly #timeOuts: (() => void)[] = [];
  readonly #timeoutMs: number;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  now(): number {
    return this.#now;
  }

  pass(ms: number): void {
    this.#now += ms;
  }

  wait(ms: number, signal: AbortSignal): Promise<void> {
    if (ms !== this.#timeoutMs) {
      this.pass(ms);
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#timeOuts.push(resolve);
      signal.addEventListener("abort", () => resolve());
    });
  }

  /** Lets the time out of every request under way be over. */
  timeOut(): void {
    for (const resolve of this.#timeOuts.splice(0)) resolve();
  }
}

/** What a site answers, and how long that takes. `null` for never. */
export interface TimedAnswer {
  readonly status?: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly ms?: number;
}

/** A site over a real socket, on virtual time, with a record of when it was asked for what. */
export class TimedSite {
  readonly seen: { readonly target: string; readonly at: number }[] = [];
  readonly #server: Server;

  constructor(time: VirtualTime, answer: (target: string, request: IncomingMessage) => TimedAnswer | null) {
    this.#server = createServer((request, response) => {
      const target = request.url!;
      this.seen.push({ target, at: time.now() });
      const answered = answer(target, request);
      if (answered === null) return;
      const { status = 200, fields = {}, body = "", ms = 0 } = answered;
      time.pass(ms);
      response.writeHead(status, { date: new Date(0).toUTCString(), ...fields }).end(body);
    });
  }

  async start(): Promise<string> {
    return listenLocally(this.#server);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  /** When it was asked for pages: milliseconds. */
  get times(): readonly number[] {
    return this.seen.flatMap(({ target, at }) => (target === "/robots.txt" ? [] : [at]));
  }
}
