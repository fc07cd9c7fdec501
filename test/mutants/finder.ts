import type { Modules } from "./sources/module-graph.ts";

/** A test that mutants must fail. */
export interface Finder {
  /** The modules that it runs. A change that reaches none of them is an error. */
  readonly entries: readonly string[];
  /** The seeds to try in turn. `likely` is the one that has found the mutant before. */
  seeds(likely: number): Iterable<number>;
  /** The failure under a seed; `null` if the test passes. */
  failure(modules: Modules, seed: number): Promise<unknown>;
}

/** A case of a suite. It rejects if the modules are wrong. */
export type Check = (modules: Modules) => Promise<void>;

/** Everything that these modules export, together. */
export function exportsOf(modules: Modules, entries: readonly string[]): object {
  return Object.assign({}, ...entries.map(modules));
}

/** The cases of a suite as finders, by their names. */
export function findersOf(
  entries: readonly string[],
  checks: Iterable<readonly [name: string, check: Check]>,
): ReadonlyMap<string, Finder> {
  const seeds = () => [1];
  return new Map(Array.from(checks, ([name, check]) => [name, { entries, seeds, failure: failureOf(check) }]));
}

function failureOf(check: Check): Finder["failure"] {
  return async (modules) => {
    try {
      await check(modules);
      return null;
    } catch (failure) {
      if (failure instanceof ReferenceError || failure instanceof SyntaxError) throw new Crash(failure);
      if (failure instanceof Crash) throw failure;
      return failure;
    }
  };
}

/** A mutant must make a rule wrong, not make the code crash: that says nothing of the rule. */
export class Crash extends Error {
  constructor(cause: unknown) {
    super("the code crashes under this mutant", { cause });
  }
}
