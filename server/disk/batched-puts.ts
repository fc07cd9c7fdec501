import type { Stored } from "../../worker/rules/storing/stored-response.ts";
import { writeHead } from "../../worker/store/envelope.ts";
import { fileBytes, isSmallFile } from "./file-format.ts";
import type { FileStoreParts } from "./file-store.ts";
import type { FailedFiles, FileWriter } from "./file-writer.ts";

export interface BatchedPutsParts extends Pick<FileStoreParts, "room" | "health" | "cached" | "backlog"> {
  readonly writer: FileWriter;
  /** The last change of each file that is under way. */
  readonly changes: Map<string, Promise<void>>;
}

interface BatchedFile {
  readonly name: string;
  readonly bytes: number;
  readonly bodyBytes: number;
}

interface Batch {
  readonly written: Promise<FailedFiles>;
  readonly files: BatchedFile[];
  /** Resolves when it is known everywhere what became of each file. */
  readonly done: Promise<void>;
}

const NOTHING_TO_DO = Promise.resolve();

/**
 * Puts that have nothing to wait for: of pages that are missing, with room at hand. Nearly all puts are like that. A
 * batch shares one promise and one turn of the event loop.
 */
export class BatchedPuts {
  readonly #parts: BatchedPutsParts;
  /** The batch that took the last file. */
  #batch: Batch | undefined;

  constructor(parts: BatchedPutsParts) {
    this.#parts = parts;
  }

  /** Writes an entry that has no file and no change under way. `undefined` if it has to wait. */
  put(name: string, stored: Stored, body: Uint8Array): Promise<void> | undefined {
    const { writer, room, health, backlog, changes } = this.#parts;
    const bodyBytes = body.byteLength;
    if (!isSmallFile(bodyBytes)) return undefined;
    if (!backlog.enter(bodyBytes)) return NOTHING_TO_DO;
    const head = writeHead(stored);
    const bytes = fileBytes({ headBytes: Buffer.byteLength(head), bodyBytes });
    if (!isSmallFile(bytes) || !room.takeNow(bytes)) {
      backlog.leave(bodyBytes);
      return undefined;
    }
    if (!health.mayWrite()) {
      backlog.leave(bodyBytes);
      room.unused(bytes);
      return NOTHING_TO_DO;
    }
    const { files, done } = this.#batchOf(writer.write(name, "entry", head, body));
    files.push({ name, bytes, bodyBytes });
    changes.set(name, done);
    return done;
  }

  #batchOf(written: Promise<FailedFiles>): Batch {
    if (this.#batch?.written === written) return this.#batch;
    const files: BatchedFile[] = [];
    const done: Promise<void> = written.then(
      (failed) => this.#end(files, done, (name) => failed.get(name)),
      (cause) => this.#end(files, done, () => cause),
    );
    this.#batch = { written, files, done };
    return this.#batch;
  }

  /** Throws if it was not the disk that failed. */
  #end(files: readonly BatchedFile[], done: Promise<void>, causeOf: (name: string) => unknown): void {
    const { room, health, cached, backlog, changes } = this.#parts;
    let bug: unknown;
    for (const { name, bytes, bodyBytes } of files) {
      backlog.leave(bodyBytes);
      if (changes.get(name) === done) changes.delete(name);
      const cause = causeOf(name);
      if (cause === undefined) {
        health.worked("write");
        room.used(name, bytes, bytes);
        cached.touch(name, bytes);
      } else {
        room.unused(bytes);
        if (!health.failed(cause, "write")) bug = cause;
      }
    }
    if (bug !== undefined) throw bug;
  }
}
