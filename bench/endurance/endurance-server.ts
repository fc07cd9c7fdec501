import { tidemark } from "../contenders/tidemark.ts";
import { rawRequest } from "../load/raw-request.ts";
import { ServerProcess } from "../processes/server-process.ts";
import { StaticOrigin } from "../server/static-origin.ts";

export const SMALL_BYTES = 1000;
export const MEDIUM_BYTES = 10_000;
export const LARGE_BYTES = 20_000_000;
const TOKEN = "bench-token-0123456789-abcdefghij";

/** The server that is to endure, in front of an origin of its own. Each row has a new one. */
export class EnduranceServer implements AsyncDisposable {
  readonly origin: StaticOrigin;
  protected readonly server: ServerProcess;

  protected constructor(origin: StaticOrigin, server: ServerProcess) {
    this.origin = origin;
    this.server = server;
  }

  static async start(command: string, workers: number): Promise<EnduranceServer> {
    return EnduranceServer.before(
      (origin, server) => new EnduranceServer(origin, server),
      workers,
      () => command,
    );
  }

  /** Starts an origin, and the server of a command before it. */
  protected static async before<T>(
    make: (origin: StaticOrigin, server: ServerProcess) => T,
    workers: number,
    command: (origin: StaticOrigin) => string,
  ): Promise<T> {
    const origin = await StaticOrigin.start([SMALL_BYTES, MEDIUM_BYTES, LARGE_BYTES]);
    try {
      const contender = tidemark(command(origin));
      const site = { origin: origin.url, folder: origin.folder, workers, bodyBytes: SMALL_BYTES, tls: null };
      const server = await ServerProcess.start(contender.name, (place) => contender.commandLine(site, place), {
        TIDEMARK_TOKEN: TOKEN,
      });
      return make(origin, server);
    } catch (cause) {
      await origin[Symbol.asyncDispose]();
      throw cause;
    }
  }

  get pid(): number {
    return this.server.pid;
  }

  get url(): URL {
    return this.server.url;
  }

  /** Why the server runs no more; `null` while it does. */
  get ending(): string | null {
    return this.server.hasEnded ? this.server.lastOutput : null;
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
    await this.server[Symbol.asyncDispose]();
    await this.origin[Symbol.asyncDispose]();
  }
}
