/** One piece of the sources, and the wrong piece that stands in its place. */
export interface Mutation {
  /** From the project's root. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
}

/** A wrong rule, and what must find it. */
export type Mutant = Mutation & {
  /** A sentence that says what is wrong. */
  readonly name: string;
} & (
    | {
        /** The id of the scenario that must not come true under it. */
        readonly reddens: string;
      }
    | {
        /** Found by a promise that breaks in one of the simulation's worlds. */
        readonly foundBy: "simulation";
      }
  );

/** The mutants of one area by their names, which the area's name and a slash precede in an id: `storing/private-is-stored`. */
export type Mutants = Readonly<Record<string, Mutant>>;
