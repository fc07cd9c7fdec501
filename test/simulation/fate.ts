import { chances } from "../engine/chances.ts";
import { Context } from "../engine/context.ts";
import type { Storages } from "../engine/memory/storages.ts";
import { BEGINNING } from "../engine/scenario.ts";
import { Scheduler } from "../engine/scheduler.ts";
import type { History } from "./history.ts";
import { noOccurrences, type Occurrence, type Occurrences } from "./occurrences.ts";

/** Separates the chances of one step from those of its neighbours. */
const APART = 0x9e3779b1;

/** The seeds of strained worlds, by their remainder: a quarter of all, some of them with parents. */
const STRAINED_OF = { seeds: 12, are: [0, 5, 6] };

/** The part of the usual time that a message takes in a calm world. One that takes longer is as late there. */
const QUICK = 0.1;
const USUAL_MS = 120;

/** Thrown by an origin, which should never throw. */
export class BrokenOrigin extends Error {}

/** The state that the parts of a world share: its time, the seed that decides every event, and the record. */
export class Fate {
  readonly scheduler: Scheduler;
  readonly history: History;
  readonly story: string[] = [];
  /** The exceptions that the code threw. */
  readonly bugs: string[] = [];
  readonly storages: Storages;
  readonly occurred: Occurrences = noOccurrences();
  /** Whether everything in this world is quick and usual, but for its faults. */
  readonly isCalm: boolean;
  /** Whether the shared tiers of this world say at once that they hold nothing, as a disk can: in one world of ten. */
  readonly missesAtOnce: boolean;
  /** Whether they give a body that they are still taking, as a disk can: in every other world. */
  readonly readsWhilePut: boolean;
  /** Whether the origin of this world takes few requests at a time and sometimes hangs or breaks, and visitors leave. */
  readonly isStrained: boolean;
  readonly #seed: number;
  readonly #chances: () => number;
  readonly #ofStep = new Context<() => number>();
  #order = 0;
  #underWay = 0;
  #faultUntil = Number.NEGATIVE_INFINITY;

  constructor(seed: number, history: History, storages: Storages, isCalm = false) {
    this.scheduler = new Scheduler(seed, BEGINNING, 1);
    this.history = history;
    this.storages = storages;
    this.#seed = seed;
    this.isCalm = isCalm;
    this.missesAtOnce = seed % 10 === 5;
    this.readsWhilePut = seed % 2 === 1;
    this.isStrained = !isCalm && STRAINED_OF.are.includes(seed % STRAINED_OF.seeds);
    this.#chances = chances(seed);
  }

  readonly noteBug = (bug: unknown): void => {
    if (bug instanceof BrokenOrigin) return;
    this.bugs.push(String((bug as Error).stack ?? bug));
  };

  /** Epoch milliseconds. */
  now(): number {
    return this.scheduler.now();
  }

  /** The place of an event in the order of all events. */
  nextOrder(): number {
    return this.#order++;
  }

  /**
   * Gives a step, and everything that it starts, chances of its own. It then runs as before when other steps are
   * removed, so that a failure can be reduced to the steps that it needs.
   */
  ofStep<T>(number: number, work: () => T): T {
    return this.#ofStep.run(chances(Math.imul(this.#seed, APART) ^ Math.imul(number + 1, APART >>> 7)), work);
  }

  /** A number from 0 up to 1. */
  random(): number {
    return (this.#ofStep.get() ?? this.#chances)();
  }

  /** Whether an event with this probability happens. */
  chance(probability: number): boolean {
    return this.random() < probability;
  }

  pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.random() * values.length)]!;
  }

  /** A fault begins, and lasts so long. Returns when it is over: epoch milliseconds. */
  faultFor(ms: number): number {
    this.count("two faults at once", this.now() < this.#faultUntil);
    const until = this.now() + ms;
    this.#faultUntil = Math.max(this.#faultUntil, until);
    return until;
  }

  /** Begins a step of a visitor or of the backend, before whose end the world does not end. */
  async begin(work: Promise<unknown>): Promise<void> {
    this.#underWay++;
    await work.catch(this.noteBug);
    this.#underWay--;
  }

  /** Whether such a step is not over, or a request is not answered. */
  get isBusy(): boolean {
    return this.#underWay > 0 || this.history.unanswered.size > 0;
  }

  async delay(maxMs: number): Promise<void> {
    await this.scheduler.wait(Math.floor(this.random() * maxMs)).over;
  }

  /** The way of a message. */
  async onTheWay(maxMs: number): Promise<void> {
    await this.delay(this.isCalm && maxMs <= USUAL_MS ? maxMs * QUICK : maxMs);
  }

  count(name: Occurrence, isSo = true): void {
    if (isSo) this.occurred[name]++;
  }

  /** Whether an event with this probability happens, which is counted. */
  happens(name: Occurrence, probability: number): boolean {
    const isSo = this.chance(probability);
    this.count(name, isSo);
    return isSo;
  }

  tell(words: string): void {
    this.story.push(`${String(Math.floor(this.now() - BEGINNING)).padStart(7)} ms  ${words}`);
  }
}
