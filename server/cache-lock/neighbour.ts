import { connect, type Socket } from "node:net";
import { byLines, type FetchNews, readNews } from "./fetch-news.ts";

/** Codes with which the kernel says that nobody listens there any more. */
const NOBODY: ReadonlySet<string | undefined> = new Set(["ECONNREFUSED", "ENOENT"]);

/** The result of waiting for another worker: its message, its death, or another reason why it cannot be reached. */
export type Heard = FetchNews | "dead" | "lost";

interface Awaited {
  readonly heard: Promise<Heard>;
  readonly tell: (heard: Heard) => void;
  /** Those who wait for it. */
  waiting: number;
}

/** Another worker of this machine, over its socket. The kernel tells when it dies. */
export class Neighbour {
  readonly #socket: Socket;
  readonly #awaited = new Map<string, Awaited>();
  #end: Heard | null = null;

  /** `onGone`: called when it has died, or cannot be reached. */
  constructor(path: string, onGone: () => void) {
    this.#socket = connect(path).setEncoding("latin1").unref();
    let isConnected = false;
    let code: string | undefined;
    this.#socket.on("connect", () => {
      isConnected = true;
    });
    this.#socket.on("error", (cause: NodeJS.ErrnoException) => {
      code = cause.code;
    });
    this.#socket.on("close", () => {
      this.#end ??= isConnected || NOBODY.has(code) ? "dead" : "lost";
      onGone();
      for (const { tell } of this.#awaited.values()) tell(this.#end);
      this.#awaited.clear();
    });
    this.#socket.on(
      "data",
      byLines((line) => {
        const { lock, news = "failed" } = readNews(line);
        this.#awaited.get(lock)?.tell(news);
        this.#awaited.delete(lock);
      }),
    );
  }

  /** Resolves when its fetch with this lock is over for those who wait. */
  ended(lock: string): Promise<Heard> {
    if (this.#end !== null) return Promise.resolve(this.#end);
    let awaited = this.#awaited.get(lock);
    if (!awaited) {
      const { promise, resolve } = Promise.withResolvers<Heard>();
      awaited = { heard: promise, tell: resolve, waiting: 0 };
      this.#awaited.set(lock, awaited);
      this.#socket.write(`${lock}\n`);
    }
    awaited.waiting++;
    return awaited.heard;
  }

  /** One waits for this fetch no longer. If it was the last one, the next asks again. */
  forget(lock: string): void {
    const awaited = this.#awaited.get(lock);
    if (awaited && --awaited.waiting === 0) this.#awaited.delete(lock);
  }

  close(): void {
    this.#end = "lost";
    this.#socket.destroy();
  }
}

/** Whether a worker listens there. A worker that cannot be asked counts as alive. */
export async function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.on("error", ({ code }: NodeJS.ErrnoException) => resolve(!NOBODY.has(code)));
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}
