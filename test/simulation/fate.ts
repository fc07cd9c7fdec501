import { BEGINNING } from "../engine/scenario.ts";
import { Scheduler } from "../engine/scheduler.ts";
import type { History } from "./history.ts";

/** How often each race and fault really happened. Silence means something only where none of these is zero. */
export type Occurrences = Record<(typeof OCCURRENCES)[number], number>;

export const OCCURRENCES = [
  "hits",
  "fills crossed by a purge",
  "collapsed requests",
  "answers from before a purge that had not settled",
  "failed reads of the log",
  "lost replies of the log",
  "views taken from another isolate of the PoP",
  "isolates that died",
  "bodies cut off",
  "origin failures",
  "tokens honoured",
  "hits while the log was silent",
  "validations",
  "validations crossed by a purge",
  "hits of validated pages",
  "stale pages while they were fetched anew",
  "stale pages for a failed origin",
  "stale pages while log and origin were down",
  "changes by unsafe methods",
  "unsafe methods whose answer was lost",
  "fills crossed by an unsafe method",
  "hits of a variant",
] as const;

/** What the parts of a world share: its time, the seed that decides what happens, and the record of it. */
export class Fate {
  readonly scheduler: Scheduler;
  readonly history: History;
  readonly story: string[] = [];
  readonly occurred = Object.fromEntries(OCCURRENCES.map((name) => [name, 0])) as Occurrences;
  #order = 0;

  constructor(seed: number, history: History) {
    this.scheduler = new Scheduler(seed, BEGINNING);
    this.history = history;
  }

  /** Epoch milliseconds. */
  now(): number {
    return this.scheduler.now();
  }

  /** The place of an event among all others. */
  nextOrder(): number {
    return this.#order++;
  }

  random(): number {
    return this.scheduler.random();
  }

  pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.random() * values.length)]!;
  }

  async delay(mostMs: number): Promise<void> {
    await this.scheduler.wait(Math.floor(this.random() * mostMs)).over;
  }

  count(name: keyof Occurrences, isSo = true): void {
    if (isSo) this.occurred[name]++;
  }

  tell(words: string): void {
    this.story.push(`${String(this.now() - BEGINNING).padStart(7)} ms  ${words}`);
  }
}
