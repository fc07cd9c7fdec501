import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { OwnerError } from "../../package/owner-error.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";
import { putFile } from "../put-file.ts";

const NOTE_FILE = "shared-log.json";

/** The most logs that a machine remembers having left. */
const MAX_LEFT = 100;

/** A purge that this machine has read of. The mark tells it from a purge of the same number in another history. */
export interface NotedPosition extends Stamp {
  readonly mark: string;
}

/** The folder belongs to a server with another kind of log. */
export class LogChangedError extends OwnerError {
  override readonly name = "LogChangedError";

  constructor(folder: string, before: string) {
    super(
      `${folder} belongs to a server that ${before}. Its pages may have been purged there, so give this server another ` +
        "folder (--cache), or delete that folder with its pages.",
    );
  }
}

/** The note in a machine's folder does not say what it should. */
export class DamagedNoteError extends OwnerError {
  override readonly name = "DamagedNoteError";

  constructor(path: string) {
    super(
      `${path} is damaged, or another version wrote it, so this server cannot tell which purges its stored pages have ` +
        "missed. Delete it together with the folder pages, or restore both, while no server runs on the folder.",
    );
  }
}

interface Note {
  readonly machine: string;
  /** The folder in which that machine keeps its note. */
  readonly home: string;
  readonly position: NotedPosition | null;
  readonly left: readonly string[];
}

/**
 * The note in a machine's folder: the name under which it reads the shared log, the newest purge that it has read of, and
 * the logs that it has left. It outlives the process, so that a log whose storage went back in time is noticed although no
 * process remembers (R13). A note in a copied folder names another machine, which may be alive: its name is not used. Without
 * a path it is kept in memory.
 */
export class MachineNote {
  readonly #path: string | null;
  readonly #put: typeof putFile;
  #note: Note;

  /** Throws a `DamagedNoteError` if the folder has a note that cannot be used: pages there could be purged ones (R13). */
  constructor(folder: string | null, newId: () => string, put = putFile) {
    this.#put = put;
    this.#path = folder === null ? null : join(folder, NOTE_FILE);
    const home = folder === null ? "" : homeOf(folder);
    const found = this.#read(home);
    const machine = found?.home === home ? found.machine : newId();
    this.#note = { position: null, left: [], ...found, machine, home };
    this.#write(true);
  }

  /**
   * Throws a `LogChangedError` if the folder is one of a machine with a shared log: pages on its disk may have been purged
   * in that log, and a log of the folder's own would not know of it.
   */
  static expectNoneIn(folder: string): void {
    if (MachineNote.isIn(folder)) throw new LogChangedError(folder, "shared its purge log with others (--log)");
  }

  /** Whether the folder is one of a machine with a shared log. */
  static isIn(folder: string): boolean {
    return existsSync(join(folder, NOTE_FILE));
  }

  get machine(): string {
    return this.#note.machine;
  }

  get position(): NotedPosition | null {
    return this.#note.position;
  }

  /** Whether the machine has read another log since it read this one. */
  hasLeft(logId: string): boolean {
    return this.#note.left.includes(logId);
  }

  renameMachine(machine: string): void {
    this.#note = { ...this.#note, machine };
    this.#write(true);
  }

  /** Notes a purge. Returns whether it is of another log than the last one, which the machine has left then. */
  notePosition(position: NotedPosition): boolean {
    const before = this.#note.position;
    const isOfAnotherLog = before !== null && before.logId !== position.logId;
    if (before !== null && !isOfAnotherLog && before.seq >= position.seq) return false;
    const left = isOfAnotherLog ? [...this.#note.left, before.logId].slice(-MAX_LEFT) : this.#note.left;
    this.#note = { ...this.#note, position, left };
    this.#write(left.length > 0);
    return isOfAnotherLog;
  }

  /** `home`: that of a note that does not name it, because an earlier version wrote it. */
  #read(home: string): Note | null {
    const path = this.#path;
    if (path === null || !existsSync(path)) return null;
    const text = orElse("", () => readFileSync(path, "utf8")).replaceAll("\0", "");
    // The disk fails, or lost the note with the power: the machine gets another name, and its last one is forgotten after a day.
    if (text === "") return null;
    const note = orElse(null, () => JSON.parse(text) as Partial<Note> | null);
    const { machine, home: written = home, position = null, left } = note ?? {};
    if (!isText(machine) || !isText(written) || !isPosition(position) || !Array.isArray(left) || !left.every(isText))
      throw new DamagedNoteError(path);
    return { machine, home: written, position, left };
  }

  /**
   * A position that is lost with the power is behind the log, which means nothing. A log that was left must not be lost, also
   * not with an emptied note of a later position. If the disk fails, memory has the note for as long as the process lives.
   */
  #write(isDurable: boolean): void {
    if (this.#path === null) return;
    try {
      this.#put(this.#path, JSON.stringify(this.#note), { isDurable });
    } catch {
      // As above.
    }
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isPosition(value: unknown): value is NotedPosition | null {
  const { logId, seq, mark } = (value ?? {}) as Partial<NotedPosition>;
  return value === null || (isText(logId) && Number.isSafeInteger(seq) && isText(mark));
}

/** On a disk that takes no writes. */
const NO_FOLDER = { ino: 0, birthtimeMs: 0 };

/**
 * What differs between a folder and its copies: its place in its file system, and what tells this machine from others. The
 * name of the host does not count, because each container has another one.
 */
function homeOf(folder: string): string {
  const { ino, birthtimeMs } = orElse<{ ino: number; birthtimeMs: number }>(NO_FOLDER, () => statSync(folder));
  return [ino, birthtimeMs, orElse("", () => readFileSync("/etc/machine-id", "utf8").trim())].join(":");
}

function orElse<T>(fallback: T, read: () => T): T {
  try {
    return read();
  } catch {
    return fallback;
  }
}
