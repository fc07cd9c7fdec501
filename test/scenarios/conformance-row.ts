/** A table of docs/conformance.md. */
export type Table = "caching" | "stale" | "targeted" | "groups" | "semantics" | "browsers" | "reporting" | "impossible";

/** One requirement and its answer. The mutants of a row are those that redden its scenarios. */
export interface ConformanceRow {
  readonly table: Table;
  /** Sections of the RFC that the table's heading names; where it names several, each with the RFC's number. */
  readonly section?: string;
  readonly requirement: string;
  readonly does: string;
  /** Ids of scenarios that show it. */
  readonly scenarios: readonly string[];
  /** Why no mutant reddens a scenario of this row. */
  readonly noMutant?: string;
}
