import type { IsolateStats } from "../../cdn/index.ts";
import { nameOf, type Place, type Region } from "./places.ts";

/** What an isolate is called while its calls of the log may fail. */
export function inTrouble(life: string): string {
  return `${life}, in trouble`;
}

/** What the isolates have surely heard of the log, and until when they can go by it at most. */
export class Knowledge {
  readonly #heard = new Map<string, number>();
  readonly #shared = new Map<string, number>();
  readonly #lives = new Map<string, number>();
  readonly #troubled = new Set<Region>();
  /** Since when a PoP has not reached the log: epoch milliseconds. */
  readonly #cutAt = new Map<Region, number>();

  /** Up to which number the log has told this isolate of purges, at least. */
  heard(place: Place): number {
    return this.#heard.get(nameOf(place)) ?? 0;
  }

  hears(place: Place, seq: number): void {
    this.#heard.set(nameOf(place), Math.max(this.heard(place), seq));
  }

  /** Takes in an isolate's own counters. Returns how many views it has taken from another one since the last time. */
  notes(place: Place, { view, log }: IsolateStats): number {
    if (view.position) this.hears(place, view.position.seq);
    const before = this.#shared.get(nameOf(place)) ?? 0;
    this.#shared.set(nameOf(place), log.shared);
    return Math.max(0, log.shared - before);
  }

  /** An isolate that stands in this place from now on has heard nothing. */
  forget(place: Place): void {
    const name = nameOf(place);
    this.#lives.set(name, (this.#lives.get(name) ?? 0) + 1);
    this.#heard.delete(name);
    this.#shared.delete(name);
  }

  /** The isolate that stands in a place now, told from those before it. */
  lifeIn(name: string): string {
    return `${name}.${this.#lives.get(name) ?? 0}`;
  }

  /** How an isolate is named in what comes to its end now: it cannot answer for what it does in times of trouble. */
  nameAtTheEnd(life: string): string {
    const region = life.slice(0, life.lastIndexOf("-")) as Region;
    return this.#troubled.has(region) ? inTrouble(life) : life;
  }

  /** From now on calls of the log may fail. */
  trouble(region: Region): void {
    this.#troubled.add(region);
  }

  calm(region: Region): void {
    this.#troubled.delete(region);
  }

  cut(region: Region, at: number): void {
    this.#cutAt.set(region, at);
  }

  reconnect(region: Region): void {
    this.#cutAt.delete(region);
  }

  isCut(region: Region): boolean {
    return this.#cutAt.has(region);
  }

  /** Until when a PoP's isolates can have a lease, at most: epoch milliseconds. */
  knewUntil(region: Region, leaseMs: number): number {
    return (this.#cutAt.get(region) ?? Number.POSITIVE_INFINITY) + leaseMs;
  }
}
