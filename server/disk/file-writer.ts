import { Worker } from "node:worker_threads";
import { moduleBeside } from "../../cdn/own-package.ts";
import type { Failure, WrittenFile } from "./file-writer-thread.ts";

/** Writes small files, each from a single piece of memory. */
export interface FileWriter {
  /**
   * Writes a draft and renames it. Takes the bytes' memory, which has to be theirs alone. Rejects with the failed call; the
   * draft may be left then.
   */
  write(draft: string, path: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

/** A thread that needs more memory than this is ended, and another one is started. MiB. */
const THREAD_MEMORY_MIB = 32;

/**
 * Writes files in a thread of its own, in batches: those that come while a batch is being written are the next one. The
 * calls of `node:fs` would cost the event loop five times as much, and all threads together twice as much.
 */
export class WriterThread implements FileWriter {
  readonly #program: string;
  #thread: Worker | undefined;
  #batch: WrittenFile[] = [];
  #waiting: PromiseWithResolvers<void>[] = [];
  /** Those whose files are being written. */
  #underWay: readonly PromiseWithResolvers<void>[] = [];

  constructor(program = moduleBeside(import.meta.url, "file-writer-thread")) {
    this.#program = program;
  }

  write(draft: string, path: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#batch.push({ draft, path, bytes });
    this.#waiting.push(done);
    if (this.#waiting.length === 1 && this.#underWay.length === 0) setImmediate(() => this.#send());
    return done.promise;
  }

  #send(): void {
    if (this.#waiting.length === 0) return;
    this.#thread ??= this.#start();
    const thread = this.#thread;
    const batch = this.#batch;
    this.#underWay = this.#waiting;
    this.#batch = [];
    this.#waiting = [];
    thread.ref();
    thread.postMessage(
      batch,
      batch.map(({ bytes }) => bytes.buffer),
    );
  }

  #start(): Worker {
    const thread = new Worker(this.#program, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MIB, maxYoungGenerationSizeMb: THREAD_MEMORY_MIB / 4 },
    });
    let cause: Error | undefined;
    thread.on("message", (failures: readonly Failure[]) => {
      thread.unref();
      const written = this.#underWay;
      this.#underWay = [];
      for (const { index, message, code, syscall } of failures) {
        written[index]!.reject(Object.assign(new Error(message), { code, syscall }));
      }
      for (const done of written) done.resolve();
      this.#send();
    });
    thread.on("error", (error: Error) => {
      cause = error;
    });
    thread.on("exit", () => {
      this.#thread = undefined;
      const lost = this.#underWay;
      this.#underWay = [];
      for (const done of lost) done.reject(new Error("The thread that writes files has ended.", { cause }));
      this.#send();
    });
    return thread;
  }
}
