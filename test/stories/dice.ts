import { chances } from "../engine/chances.ts";

/** Random choices from seeds: the same seeds and the same questions give the same answers. */
export class Dice {
  /** From 0 up to 1. */
  readonly random: () => number;

  constructor(...seeds: readonly number[]) {
    const mix = (state: number, seed: number) => Math.imul(state ^ (seed + 1), 0x9e3779b1) ^ (state >>> 13);
    this.random = chances(seeds.reduce(mix, 0x2545f491));
  }

  isBelow(share: number): boolean {
    return this.random() < share;
  }

  pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.random() * values.length)]!;
  }
}
