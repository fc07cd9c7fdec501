import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An origin in this process, on a free port of 127.0.0.1. */
export abstract class LocalOrigin implements AsyncDisposable {
  // No connection ends while a cache sends a request on it.
  readonly #server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => this.answer(request, response));

  static async start<T extends LocalOrigin>(this: new () => T): Promise<T> {
    const origin = new this();
    origin.#server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 });
    await once(origin.#server, "listening");
    return origin;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
  }

  protected abstract answer(request: IncomingMessage, response: ServerResponse): void;

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
