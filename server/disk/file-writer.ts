import { unlink } from "node:fs";
import { Worker } from "node:worker_threads";
import { moduleBeside } from "../../package/own-package.ts";
import type { CacheFolder } from "./cache-folder.ts";
import { FileBatch } from "./file-batch.ts";
import type { FileKind } from "./file-format.ts";
import type { Failure, ThreadStart } from "./file-writer-thread.ts";

/** The files of a batch that were not written, by their names, each with the call that failed. */
export type FailedFiles = ReadonlyMap<string, Error>;

/** Writes small files into the folder of a cache. */
export interface FileWriter {
  /**
   * Takes a file. The caller may reuse the bytes after the call. Files are written in batches, and all files of a batch
   * share one promise. It resolves when each is written or has failed; it rejects if that cannot be told.
   */
  write(name: string, kind: FileKind, head: string, body: Uint8Array): Promise<FailedFiles>;
}

/** A thread that needs more memory than this is ended, and another one is started. MiB. */
const THREAD_MEMORY_MIB = 32;

/**
 * How long files are collected before they go to the thread, in milliseconds. A message to it and back takes as long as two
 * files: with one for every few files, a miss costs a sixth more.
 */
const COLLECTED_MS = 5;

/** A batch takes no more files once it has this many bytes, because its memory is copied when it grows. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

const NONE_FAILED: FailedFiles = new Map();

interface Batch {
  readonly files: FileBatch;
  readonly done: PromiseWithResolvers<FailedFiles>;
}

/**
 * Writes files in a thread of its own, in batches: those that come within a few milliseconds, or while a batch is being
 * written.
 * Calls of `node:fs` would cost the event loop five times as much CPU time, and all threads together twice as much.
 */
export class WriterThread implements FileWriter {
  readonly #folder: CacheFolder;
  readonly #program: string;
  readonly #later: (send: () => void) => void;
  #thread: Worker | undefined;
  /** The batches that wait. The last one takes more files. */
  readonly #waiting: Batch[] = [];
  #underWay: Batch | undefined;

  /** `later` calls back when a batch has collected its files. */
  constructor(
    folder: CacheFolder,
    program = moduleBeside(import.meta.url, "file-writer-thread"),
    later: (send: () => void) => void = (send) => void setTimeout(send, COLLECTED_MS),
  ) {
    this.#folder = folder;
    this.#program = program;
    this.#later = later;
  }

  write(name: string, kind: FileKind, head: string, body: Uint8Array): Promise<FailedFiles> {
    const { files, done } = this.#openBatch();
    files.add(name, kind, head, body);
    return done.promise;
  }

  /** The batch that takes the next file. */
  #openBatch(): Batch {
    const last = this.#waiting.at(-1);
    if (last && last.files.length < MAX_BATCH_BYTES) return last;
    if (!last && !this.#underWay) this.#later(() => this.#send());
    const batch = { files: new FileBatch(), done: Promise.withResolvers<FailedFiles>() };
    this.#waiting.push(batch);
    return batch;
  }

  #send(): void {
    if (this.#underWay) return; // because the thread has ended meanwhile, and another one has the batch
    this.#underWay = this.#waiting.shift();
    if (!this.#underWay) return;
    try {
      this.#thread ??= this.#start();
    } catch (cause) {
      const error = Object.assign(cause as Error, { syscall: "pthread_create" }); // which Node does not name
      this.#end(new Map(this.#underWay.files.names.map((name) => [name, error])));
      return;
    }
    const { bytes } = this.#underWay.files;
    this.#thread.ref();
    this.#thread.postMessage(bytes, [bytes.buffer]);
  }

  #end(failed: FailedFiles): void {
    this.#underWay?.done.resolve(failed);
    this.#underWay = undefined;
    if (this.#waiting.length > 0) this.#later(() => this.#send());
  }

  /** Throws if the system has no thread left. */
  #start(): Worker {
    const start: ThreadStart = { folder: this.#folder.path, draft: this.#folder.draft() };
    const thread = new Worker(this.#program, {
      execArgv: [],
      workerData: start,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MIB, maxYoungGenerationSizeMb: THREAD_MEMORY_MIB / 4 },
    });
    let cause: Error | undefined;
    thread.on("message", (failures: readonly Failure[]) => {
      thread.unref();
      this.#end(failures.length === 0 ? NONE_FAILED : new Map(failures.map(failedFile)));
    });
    thread.on("error", (error: Error) => {
      cause = error;
    });
    thread.on("exit", () => {
      this.#thread = undefined;
      const lost = this.#underWay;
      this.#underWay = undefined;
      unlink(start.draft, () => {
        lost?.done.reject(new Error("The thread that writes files has ended.", { cause }));
      });
      this.#send();
    });
    return thread;
  }
}

function failedFile({ name, message, code, errno, syscall }: Failure): [string, Error] {
  return [name, Object.assign(new Error(message), { code, errno, syscall })];
}
