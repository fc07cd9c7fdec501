import { chances } from "../engine/chances.ts";
import { Context } from "../engine/context.ts";
import { BEGINNING } from "../engine/scenario.ts";
import { Scheduler } from "../engine/scheduler.ts";
import type { History } from "./history.ts";
import type { Occurrence, Occurrences } from "./occurrences.ts";
import { noOccurrences } from "./occurrences.ts";

/** Keeps the chances of one step apart from those of its neighbours. */
const APART = 0x9e3779b1;

/** What the parts of a world share: its time, the seed that decides what happens, and the record of it. */
export class Fate {
  readonly scheduler: Scheduler;
  readonly history: History;
  readonly story: string[] = [];
  readonly occurred: Occurrences = noOccurrences();
  readonly #seed: number;
  readonly #chances: () => number;
  readonly #ofStep = new Context<() => number>();
  #order = 0;

  constructor(seed: number, history: History) {
    this.scheduler = new Scheduler(seed, BEGINNING);
    this.history = history;
    this.#seed = seed;
    this.#chances = chances(seed);
  }

  /** Epoch milliseconds. */
  now(): number {
    return this.scheduler.now();
  }

  /** The place of an event among all others. */
  nextOrder(): number {
    return this.#order++;
  }

  /**
   * Gives a step, and all that comes of it, chances of its own: so it goes as it went when other steps are left out, and
   * a story can be cut down to what it takes.
   */
  ofStep<T>(number: number, work: () => T): T {
    return this.#ofStep.run(chances(Math.imul(this.#seed, APART) ^ Math.imul(number + 1, APART >>> 7)), work);
  }

  /** A number from 0 up to 1. */
  random(): number {
    return (this.#ofStep.get() ?? this.#chances)();
  }

  /** Whether something comes true that has this probability. */
  chance(probability: number): boolean {
    return this.random() < probability;
  }

  pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.random() * values.length)]!;
  }

  async delay(mostMs: number): Promise<void> {
    await this.scheduler.wait(Math.floor(this.random() * mostMs)).over;
  }

  count(name: Occurrence, isSo = true): void {
    if (isSo) this.occurred[name]++;
  }

  tell(words: string): void {
    this.story.push(`${String(Math.floor(this.now() - BEGINNING)).padStart(7)} ms  ${words}`);
  }
}
