/** A piece of the sources, and the wrong piece that replaces it. */
export interface Mutation {
  /** The path from the project's root. */
  readonly file: string;
  /** The piece, which occurs in the file exactly once. */
  readonly from: string;
  readonly to: string;
}

/** A wrong rule, and the test that must find it. */
export type Mutant = Mutation & {
  /** A sentence that describes the wrong rule. */
  readonly name: string;
} & (
    | {
        /** The id of the scenario that must fail under it. */
        readonly reddens: string;
      }
    | {
        /** In one of the simulation's worlds a promise must break under it. */
        readonly foundBy: "simulation";
      }
  );

/**
 * The mutants of one area by their names. An id is the area's name, a slash and this name: `storing/private-is-stored`.
 */
export type Mutants = Readonly<Record<string, Mutant>>;
