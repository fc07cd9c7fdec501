import type { IsolateStats } from "../../local/index.ts";
import { nameOf, type Place, type Region } from "./places.ts";

/** The name of an isolate while its calls of the log may fail. */
export function inTrouble(life: string): string {
  return `${life}, in trouble`;
}

/** The isolates' certain knowledge of the log, and how long they can use it at most. */
export class Knowledge {
  readonly #heard = new Map<string, number>();
  readonly #shared = new Map<string, number>();
  readonly #lives = new Map<string, number>();
  readonly #troubled = new Set<Region>();
  /** When a PoP was cut off from the log: epoch milliseconds. */
  readonly #cutAt = new Map<Region, number>();

  /** The number up to which this isolate has certainly learned of purges. */
  heard(place: Place): number {
    return this.#heard.get(nameOf(place)) ?? 0;
  }

  hears(place: Place, seq: number): void {
    this.#heard.set(nameOf(place), Math.max(this.heard(place), seq));
  }

  /**
   * Takes in an isolate's own counters. Returns how many views it has taken from other isolates since the last call.
   */
  notes(place: Place, { view, log }: IsolateStats): number {
    if (view.position) this.hears(place, view.position.seq);
    const before = this.#shared.get(nameOf(place)) ?? 0;
    this.#shared.set(nameOf(place), log.shared);
    return Math.max(0, log.shared - before);
  }

  /** Records that the isolate now in this place knows nothing. */
  forget(place: Place): void {
    const name = nameOf(place);
    this.#lives.set(name, (this.#lives.get(name) ?? 0) + 1);
    this.#heard.delete(name);
    this.#shared.delete(name);
  }

  /** The isolate now in a place, distinguished from those before it. */
  lifeIn(name: string): string {
    return `${name}.${this.#lives.get(name) ?? 0}`;
  }

  /**
   * The name of an isolate in work that ends now. While its calls of the log may fail, it is not responsible for their
   * effects.
   */
  nameAtTheEnd(life: string): string {
    const region = life.slice(0, life.lastIndexOf("-")) as Region;
    return this.#troubled.has(region) ? inTrouble(life) : life;
  }

  /** Records that calls of the log may fail from now on. */
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

  /** The latest time at which a PoP's isolates can still have a lease: epoch milliseconds. */
  knewUntil(region: Region, leaseMs: number): number {
    return (this.#cutAt.get(region) ?? Number.POSITIVE_INFINITY) + leaseMs;
  }
}
