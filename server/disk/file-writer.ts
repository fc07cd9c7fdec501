import { Worker } from "node:worker_threads";
import { moduleBeside } from "../../cdn/own-package.ts";
import { joined } from "../../worker/rules/storing/joined.ts";
import type { Batch, Failure, WrittenFile } from "./file-writer-thread.ts";

/** Writes small files. */
export interface FileWriter {
  /**
   * Writes a draft of these parts and renames it. Nobody may change the parts meanwhile. Rejects with the failed call; the
   * draft may be left then.
   */
  write(draft: string, path: string, parts: readonly Uint8Array[]): Promise<void>;
}

/** A thread that needs more memory than this is ended, and another one is started. MiB. */
const THREAD_MEMORY_MIB = 32;

/** A batch takes no more files once it has this many bytes: they are copied at once. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

interface Waiting {
  readonly file: WrittenFile;
  readonly parts: readonly Uint8Array[];
  readonly done: PromiseWithResolvers<void>;
}

/**
 * Writes files in a thread of its own, in batches: those that come while a batch is being written are the next one. The
 * calls of `node:fs` would cost the event loop five times as much, and all threads together twice as much. A batch goes
 * over in one piece of memory, because each piece costs as much as the copy of many small files.
 */
export class WriterThread implements FileWriter {
  readonly #program: string;
  #thread: Worker | undefined;
  #waiting: Waiting[] = [];
  #underWay: readonly Waiting[] = [];

  constructor(program = moduleBeside(import.meta.url, "file-writer-thread")) {
    this.#program = program;
  }

  write(draft: string, path: string, parts: readonly Uint8Array[]): Promise<void> {
    const done = Promise.withResolvers<void>();
    const byteLength = parts.reduce((sum, part) => sum + part.byteLength, 0);
    this.#waiting.push({ file: { draft, path, byteLength }, parts, done });
    if (this.#waiting.length === 1 && this.#underWay.length === 0) setImmediate(() => this.#send());
    return done.promise;
  }

  #send(): void {
    if (this.#waiting.length === 0) return;
    this.#thread ??= this.#start();
    const thread = this.#thread;
    this.#underWay = this.#nextBatch();
    const files = this.#underWay.map(({ file }) => file);
    const size = files.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const bytes = joined(
      this.#underWay.flatMap(({ parts }) => parts),
      size,
    );
    const batch: Batch = { files, bytes };
    thread.ref();
    thread.postMessage(batch, [bytes.buffer]);
  }

  #nextBatch(): readonly Waiting[] {
    const waiting = this.#waiting;
    let count = 0;
    for (let bytes = 0; count < waiting.length && bytes < MAX_BATCH_BYTES; count++) {
      bytes += waiting[count]!.file.byteLength;
    }
    this.#waiting = waiting.slice(count);
    return waiting.slice(0, count);
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
        written[index]!.done.reject(Object.assign(new Error(message), { code, syscall }));
      }
      for (const { done } of written) done.resolve();
      this.#send();
    });
    thread.on("error", (error: Error) => {
      cause = error;
    });
    thread.on("exit", () => {
      this.#thread = undefined;
      const lost = this.#underWay;
      this.#underWay = [];
      for (const { done } of lost) done.reject(new Error("The thread that writes files has ended.", { cause }));
      this.#send();
    });
    return thread;
  }
}
