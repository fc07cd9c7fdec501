import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** What the origin does with a request: it answers, refuses connections, or takes them and says nothing. */
export type OriginMood = "answers" | "refuses" | "hangs";

/**
 * The application behind both servers. Pages below `/short/` are fresh for a second and may be stale for a day, all others
 * are fresh for an hour; each tells how often it has been made.
 */
export class WalkOrigin implements AsyncDisposable {
  #server: Server | null = null;
  #port = 0;
  #mood: OriginMood = "answers";
  /** The requests that it works on. */
  underWay = 0;
  #made = 0;

  static async start(): Promise<WalkOrigin> {
    const origin = new WalkOrigin();
    await origin.#listen();
    return origin;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.#port}`);
  }

  async turn(mood: OriginMood): Promise<void> {
    this.#mood = mood;
    if (mood === "refuses") await this[Symbol.asyncDispose]();
    else if (this.#server === null) await this.#listen();
    if (mood !== "hangs") this.#server?.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#server = null;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }

  async #listen(): Promise<void> {
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.listen({ port: this.#port, host: "127.0.0.1", backlog: 1024 });
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.underWay++;
    response.once("close", () => this.underWay--);
    try {
      await text(request);
    } catch {
      return; // The body was cut off.
    }
    if (this.#mood === "hangs") return;
    const path = request.url!;
    const freshness = path.startsWith("/short/") ? "max-age=1, stale-if-error=86400" : "max-age=3600";
    response.setHeader("cache-control", request.method === "GET" ? freshness : "no-store");
    response.setHeader("cache-tag", "walk");
    response.end(`${path} ${++this.#made}`);
  }
}
