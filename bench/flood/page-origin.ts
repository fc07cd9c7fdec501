import type { IncomingMessage, ServerResponse } from "node:http";
import { LocalOrigin } from "../processes/local-origin.ts";

/** An application server: its number of workers, and the time that each takes for a page. */
const WORKERS = 10;
const PAGE_MS = 200;

/** A site that makes 50 pages a second, and records its simultaneous requests. `/login` sets a session. */
export class PageOrigin extends LocalOrigin {
  /** The most requests that it had at a time, in work or waiting for a worker. */
  mostAtOnce = 0;
  readonly #waiting: ServerResponse[] = [];
  #working = 0;
  #sessions = 0;

  protected override answer({ url }: IncomingMessage, response: ServerResponse): void {
    response.setHeader("cache-control", url === "/login" ? "no-store" : "public, max-age=3600");
    if (url === "/login")
      response.setHeader("set-cookie", `session=${`${this.#sessions++}`.padStart(24, "0")}; Path=/`);
    this.#waiting.push(response);
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#waiting.length + this.#working);
    this.#work();
  }

  /** Drops waiting requests, and restarts the counts. */
  forget(): void {
    for (const response of this.#waiting.splice(0)) response.destroy();
    this.mostAtOnce = 0;
  }

  #work(): void {
    while (this.#working < WORKERS && this.#waiting.length > 0) {
      const response = this.#waiting.shift()!;
      this.#working++;
      setTimeout(() => {
        response.end("page");
        this.#working--;
        this.#work();
      }, PAGE_MS);
    }
  }
}
