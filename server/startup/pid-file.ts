import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { messageOf } from "../message-of.ts";
import { ServerError } from "./server-error.ts";

/** The file with the number of the process that takes signals. After an upgrade, it is the new one. */
export class PidFile {
  readonly #path: string;

  /** Throws a `ServerError` if its folder is not there. Writes nothing. */
  constructor(path: string) {
    this.#path = resolve(path);
    const folder = dirname(this.#path);
    if (!existsSync(folder))
      throw new ServerError(`the pid file ${path} cannot be written: there is no folder ${folder}.`);
  }

  /** Puts it there whole, so that no reader sees half a number. `warn` is told if that fails: the server serves. */
  write(warn: (line: string) => void): void {
    const temporary = `${this.#path}.${process.pid}`;
    try {
      writeFileSync(temporary, `${process.pid}\n`);
      renameSync(temporary, this.#path);
    } catch (error) {
      rmSync(temporary, { force: true });
      warn(`the pid file cannot be written: ${messageOf(error)}`);
    }
  }

  /** Removes it, unless a successor has written its own number. */
  remove(): void {
    try {
      if (readFileSync(this.#path, "utf8").trim() === String(process.pid)) rmSync(this.#path);
    } catch {
      // It is gone, or belongs to somebody else.
    }
  }
}
