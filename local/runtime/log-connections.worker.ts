/**
 * The connections of one simulated isolate to the purge log. While time stands still, the work that keeps a view alive
 * rests until the harness moves the time.
 */
import type { EdgeHooks, Platform } from "tidemark/worker/internal";
import type { LogConnections } from "./harness-protocol.ts";
import { pause } from "./simulated-network.worker.ts";

type Connect = NonNullable<Platform["log"]["connect"]>;
type Connection = NonNullable<Awaited<ReturnType<Connect>>>;
type Wait = ReturnType<NonNullable<EdgeHooks["clock"]>["wait"]>;

/** How often the harness checks whether all connections rest, in real milliseconds. */
const POLL_MS = 1;

export class RestingConnections {
  readonly #resting = new Set<PromiseWithResolvers<void>>();
  #open = 0;
  #opened = 0;
  #lost = 0;
  #pushes = 0;

  get counts(): LogConnections {
    return { open: this.#open, opened: this.#opened, lost: this.#lost, pushes: this.#pushes };
  }

  /** How many idle views are kept, each after a request. */
  get resting(): number {
    return this.#resting.size;
  }

  /** Rests until the time has moved by any amount. */
  rest(): Wait {
    const resting = Promise.withResolvers<void>();
    this.#resting.add(resting);
    return { over: resting.promise, cancel: () => this.#resting.delete(resting) };
  }

  /** The time has moved. Resolves once every connection that is due was renewed or closed. */
  async timeHasMoved(): Promise<void> {
    for (const { resolve } of this.#takeResting()) resolve();
    await this.#untilAllRest();
  }

  /** Ends all connections without a message from the isolate. Resolves once it has closed its ends. */
  async lose(): Promise<void> {
    this.#lost += this.#resting.size;
    for (const { reject } of this.#takeResting()) reject(new Error("the connection is lost"));
    await this.#untilAllRest();
  }

  /** `isAlive`: false once the isolate was killed. */
  counting(connect: Connect, isAlive: () => boolean): Connect {
    return async ({ learn, ...reader }) => {
      const connection = await connect({
        ...reader,
        learn: async (delta) => {
          if (!isAlive()) throw new Error("the isolate has been killed");
          this.#pushes++;
          return learn(delta);
        },
      });
      return connection && this.#counted(connection);
    };
  }

  #counted({ first, renew, release, close }: Connection): Connection {
    this.#open++;
    this.#opened++;
    let isLost = false;
    return {
      first,
      renew: (...asked) =>
        renew(...asked).catch((cause: unknown) => {
          isLost = true;
          throw cause;
        }),
      release,
      close: () => {
        this.#open--;
        if (isLost) this.#lost++;
        close();
      },
    };
  }

  /** Resolves once the open connections have nothing to do, or once there are none. */
  async #untilAllRest(): Promise<void> {
    while (this.#open > this.#resting.size) await pause(POLL_MS);
  }

  #takeResting(): readonly PromiseWithResolvers<void>[] {
    const resting = [...this.#resting];
    this.#resting.clear();
    return resting;
  }
}
