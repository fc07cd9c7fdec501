import { chances } from "../engine/chances.ts";

/** A part of the cases, in their order: one of `inOne`, rounded up. */
export function draw<T>(cases: readonly T[], inOne: number, by: number): readonly T[] {
  const random = chances(by);
  const ranked = cases.map((each, at) => ({ each, at, rank: random() }));
  const few = ranked.toSorted((one, other) => one.rank - other.rank).slice(0, Math.ceil(cases.length / inOne));
  return few.toSorted((one, other) => one.at - other.at).map(({ each }) => each);
}
