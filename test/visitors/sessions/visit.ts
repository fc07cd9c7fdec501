import { chances } from "../../engine/chances.ts";

/** The choices of one session. The same seed makes the same ones. */
export class Visit {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = chances(seed);
  }

  /** Whether something happens that has this chance. */
  happens(chance: number): boolean {
    return this.#random() < chance;
  }

  below(count: number): number {
    return Math.floor(count * this.#random());
  }

  /** A number below `count`. Low ones are more popular. */
  popular(count: number): number {
    return Math.floor(count * this.#random() ** 2);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  times<T>(least: number, most: number, make: () => T): T[] {
    return Array.from({ length: least + this.below(most - least + 1) }, make);
  }

  hex(digits: number): string {
    return Array.from({ length: digits }, () => this.below(16).toString(16)).join("");
  }

  uuid(): string {
    return [8, 4, 4, 4, 12].map((digits) => this.hex(digits)).join("-");
  }
}
