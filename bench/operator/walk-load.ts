import { Agent, get } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import type { WalkedServer } from "./walked-server.ts";

/** Visitors who ask all the time, half of them by a new connection for each request. */
export class WalkLoad {
  readonly #port: number;
  #isOver = false;
  #answered = 0;
  #lost = 0;
  #longestMs = 0;
  readonly #visitors: Promise<void>[];

  constructor(server: WalkedServer, visitors = 16) {
    this.#port = server.place.port;
    this.#visitors = Array.from({ length: visitors }, (_, each) => this.#visit(each % 2 === 0));
  }

  /** Ends it, and says what became of the requests. */
  async end(): Promise<string> {
    this.#isOver = true;
    await Promise.all(this.#visitors);
    const asked = (this.#answered + this.#lost).toLocaleString("en");
    return `${this.#lost} of ${asked} lost, longest ${Math.round(this.#longestMs)} ms`;
  }

  async #visit(keepsConnection: boolean): Promise<void> {
    const agent = new Agent({ keepAlive: keepsConnection, maxSockets: 1 });
    while (!this.#isOver) {
      const startedAt = performance.now();
      const isAnswered = await this.#ask(agent);
      if (isAnswered) this.#answered++;
      else this.#lost++;
      this.#longestMs = Math.max(this.#longestMs, performance.now() - startedAt);
      await wait(1);
    }
    agent.destroy();
  }

  /** A GET on a connection that was closed meanwhile is sent again, as browsers do. RFC 9112 §9.3.1. */
  async #ask(agent: Agent): Promise<boolean> {
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<"answered" | "lost" | "again">();
      const asked = get({ host: "127.0.0.1", port: this.#port, path: "/page", agent }, async (message) => {
        const body = await text(message).catch(() => null);
        resolve(message.statusCode === 200 && body !== null ? "answered" : "lost");
      });
      asked.on("error", () => resolve(asked.reusedSocket ? "again" : "lost"));
      const became = await promise;
      if (became !== "again") return became === "answered";
    }
  }
}
