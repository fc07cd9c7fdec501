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

/**
 * A wrong piece of the sources. It names a declaration and no file, and its texts are compared token by token, so that
 * moving and formatting code leaves it alone.
 */
export type Change = {
  /**
   * The declaration: `judge`, `PurgeView.check`, `PurgeView.#take`, `PurgeView.constructor`. If several files declare that
   * name, the file's own name stands before it: `http-date:parse`.
   */
  readonly in: string;
} & (
  | {
      /** The piece that is replaced, which the declaration has exactly once. */
      readonly replace: string;
      readonly by: string;
    }
  | {
      /** The statement that is left out, or its beginning. */
      readonly drop: string;
    }
  | {
      /** The function that is called in place of this one, as an expression. It knows this one as `original`. */
      readonly wrap: string;
    }
);
