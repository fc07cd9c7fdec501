import { fstatSync } from "node:fs";
import { systemClock } from "./system-clock.ts";

const STANDARD_ERROR = 2;

/** A file, as the system numbers it. */
interface FileNumbers {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Whether a file is the stream to systemd's journal that `JOURNAL_STREAM` names: systemd.exec(5). */
export function isJournal({ dev, ino }: FileNumbers, journalStream: string | undefined): boolean {
  return journalStream === `${dev}:${ino}`;
}

/** A line of the server's own log. `now`: milliseconds since 1970; `null` for a reader that notes the time itself. */
export function ownLine(text: string, now: number | null): string {
  return now === null ? text : `${new Date(now).toISOString()} ${text}`;
}

/**
 * Writes a line for the operator to standard error, with the time before it unless the journal has that anyway. It does
 * nothing if the reader has gone.
 */
export function sayToOperator(text: string): void {
  console.error(ownLine(text, goesToJournal ? null : systemClock.now()));
}

process.stderr.on("error", () => undefined); // it would end the process

const goesToJournal = isJournal(numbersOf(STANDARD_ERROR), process.env.JOURNAL_STREAM);

function numbersOf(descriptor: number): FileNumbers {
  try {
    return fstatSync(descriptor, { bigint: true });
  } catch {
    return { dev: -1n, ino: -1n }; // it is closed, so nobody reads the lines
  }
}
