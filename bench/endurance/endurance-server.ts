import { rawRequest } from "../load/raw-request.ts";
import { tidemark } from "../peers/tidemark.ts";
import { ServerProcess } from "../processes/server-process.ts";
import { StaticOrigin } from "../rivals/static-origin.ts";

export const SMALL_BYTES = 1000;
export const MEDIUM_BYTES = 10_000;
export const LARGE_BYTES = 20_000_000;
const TOKEN = "bench-token-0123456789-abcdefghij";

/** The server under test, in front of its own origin. Each row has a new one. */
export class EnduranceServer implements AsyncDisposable {
  readonly origin: StaticOrigin;
  readonly #server: ServerProcess;

  private constructor(origin: StaticOrigin, server: ServerProcess) {
    this.origin = origin;
    this.#server = server;
  }

  static async start(command: string, workers: number): Promise<EnduranceServer> {
    const origin = await StaticOrigin.start([SMALL_BYTES, MEDIUM_BYTES, LARGE_BYTES]);
    try {
      const peer = tidemark(command);
      const server = await ServerProcess.start(
        peer.name,
        (place) => peer.commandLine({ origin: origin.url, workers }, place),
        { TIDEMARK_TOKEN: TOKEN },
      );
      return new EnduranceServer(origin, server);
    } catch (cause) {
      await origin[Symbol.asyncDispose]();
      throw cause;
    }
  }

  get pid(): number {
    return this.#server.pid;
  }

  get url(): URL {
    return this.#server.url;
  }

  /** Why the server has stopped; `null` while it runs. */
  get ending(): string | null {
    return this.#server.hasEnded ? this.#server.lastOutput : null;
  }

  pageOf(bytes: number): URL {
    return new URL(`/pages/${bytes}.html`, this.url);
  }

  /** Purges a page. Resolves with the status of the answer. */
  async purge(path: string): Promise<number> {
    const answer = await rawRequest(new URL("/_tidemark/purge", this.url), {
      method: "POST",
      fields: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ urls: [path] }),
    });
    return answer.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
    await this.origin[Symbol.asyncDispose]();
  }
}
