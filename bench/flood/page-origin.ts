import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An application server: its number of workers, and the time that each takes for a page. */
const WORKERS = 10;
const PAGE_MS = 200;

/** A site that makes 50 pages a second, and records its simultaneous requests. `/login` sets a session. */
export class PageOrigin implements AsyncDisposable {
  /** The most requests that it had at a time, in work or waiting for a worker. */
  mostAtOnce = 0;
  readonly #waiting: ServerResponse[] = [];
  #working = 0;
  #sessions = 0;
  readonly #server = createServer(({ url }, response) => {
    response.setHeader("cache-control", url === "/login" ? "no-store" : "public, max-age=3600");
    if (url === "/login")
      response.setHeader("set-cookie", `session=${`${this.#sessions++}`.padStart(24, "0")}; Path=/`);
    this.#waiting.push(response);
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#waiting.length + this.#working);
    this.#work();
  });

  static async start(): Promise<PageOrigin> {
    const origin = new PageOrigin();
    origin.#server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 });
    await once(origin.#server, "listening");
    return origin;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
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

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
