/** A source of random numbers that depends only on its seed, so that the same seed gives the same rows. */
export interface SeededRandom {
  /** At least 0, less than 1. */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  pick<T>(choices: readonly T[]): T;
}

/** Mulberry32. Its 32 bits of state are enough for made-up text, and useless for secrets. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    between,
    pick(choices) {
      const chosen = choices[between(0, choices.length - 1)];
      if (chosen === undefined) throw new RangeError("there is nothing to pick from");
      return chosen;
    },
  };
}
