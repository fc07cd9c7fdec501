import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pageOfBytes } from "../inputs/page-of-bytes.ts";

/** How long an answer takes: long enough that all requests of a stampede arrive in the meantime. */
const ANSWERS_AFTER_MS = 500;
const BODY = pageOfBytes(1000);

/** An origin that takes a while to answer and counts its requests. */
export class SlowOrigin implements AsyncDisposable {
  readonly #server = createServer((_, response) => {
    this.#requests++;
    setTimeout(() => {
      response.writeHead(200, { "content-type": "text/html", "cache-control": "public, max-age=86400" }).end(BODY);
    }, ANSWERS_AFTER_MS);
  });
  #requests = 0;

  static async start(): Promise<SlowOrigin> {
    const origin = new SlowOrigin();
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
