import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pageOfBytes } from "../inputs/page-of-bytes.ts";

/** How long an answer takes. */
const ANSWERS_AFTER_MS = 40;
export const SLOW_BYTES = 1000;
const BODY = pageOfBytes(SLOW_BYTES);

/** A slow origin with a page that must not be stored. It counts its requests. */
export class SlowOrigin implements AsyncDisposable {
  readonly #server = createServer((_, response) => {
    this.#requests++;
    setTimeout(() => {
      const fields = { "content-type": "text/html", "content-length": SLOW_BYTES, "cache-control": "no-store" };
      response.writeHead(200, fields).end(BODY);
    }, ANSWERS_AFTER_MS);
  });
  #requests = 0;

  static async start(): Promise<SlowOrigin> {
    const origin = new SlowOrigin();
    origin.#server.keepAliveTimeout = 60_000; // no connection ends while a cache sends a request on it
    origin.#server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 });
    await once(origin.#server, "listening");
    return origin;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
  }

  /** How many requests have come in. */
  async requests(): Promise<number> {
    return this.#requests;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
