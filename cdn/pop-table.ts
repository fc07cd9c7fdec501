import type { Pop } from "./pop.ts";

/** The PoPs of a CDN by their region. */
export class PopTable {
  readonly #pops: ReadonlyMap<string, Pop>;

  constructor(pops: readonly Pop[]) {
    this.#pops = new Map(pops.map((pop) => [pop.name, pop]));
  }

  /** Throws a `RangeError` at a region that there is not. */
  of(region: string | undefined): Pop {
    const names = [...this.#pops.keys()];
    const pop = this.#pops.get(region ?? names[0]!);
    if (!pop) throw new RangeError(`this CDN has no region ${region}: it has ${names.join(", ")}`);
    return pop;
  }
}
