import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

/** An edge that records the ids of purges, keeps them over its restarts, and answers with a receipt. */
export class RecordingEdge {
  /** How often each id came. */
  readonly ids = new Map<string, number>();
  /** The connections that were opened, and the most at once. */
  connections = 0;
  mostAtOnce = 0;
  #open = 0;
  #server: Server | undefined;
  #port = 0;
  #restart: { readonly afterIds: number; readonly downMs: number } | null = null;

  async start(): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response));
    server.keepAliveTimeout = 0;
    server.on("connection", (socket: Socket) => this.#count(socket));
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Forgets what was counted. */
  reset(): void {
    this.ids.clear();
    this.connections = 0;
    this.mostAtOnce = this.#open;
  }

  /** Goes down once, when this many ids are known: it cuts every connection, and comes back after a while. */
  restartOnce(afterIds: number, downMs: number): void {
    this.#restart = { afterIds, downMs };
  }

  async stop(): Promise<void> {
    const server = this.#server!;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }

  #count(socket: Socket): void {
    this.connections += 1;
    this.#open += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#open);
    socket.on("close", () => {
      this.#open -= 1;
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request).catch(() => null);
    if (body === null) return; // cut off by a restart, and so not recorded
    const { id, tags = [] } = JSON.parse(body) as { id: string; tags?: string[] };
    const earlier = this.ids.get(id) ?? 0;
    this.ids.set(id, earlier + 1);
    if (this.#restart && this.ids.size >= this.#restart.afterIds) {
      const { downMs } = this.#restart;
      this.#restart = null;
      await this.stop();
      await pause(downMs);
      await this.start();
      return;
    }
    const receipt = {
      seq: this.ids.size,
      logId: "bench",
      token: `bench.${this.ids.size}`,
      at: "2026-01-01T00:00:00.000Z",
      settlesInMs: 1_250,
      accepted: { urls: 0, tags: tags.length, prefixes: 0, hosts: 0, everything: false },
      replayed: earlier > 0,
      dryRun: false,
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(receipt));
  }
}
