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

/** A wrong rule, and the tests that must find it. */
export type Mutant = Change & {
  /** The rule of docs/protocol.md (`R5`), the section of an RFC, the heading of a page, or the area of a suite. */
  readonly rule: string;
  /** A sentence that describes the wrong rule. */
  readonly breaks: string;
  /**
   * The ids of scenarios, cases of suites (`doors: Fastly: another service`), and `simulation`: in one of the random worlds a
   * promise must break.
   */
  readonly foundBy: readonly string[];
};

/** Mutants as they are written: by the rules that they break, and by the sentences that describe them. */
export type Mutants = Readonly<
  Record<string, Readonly<Record<string, Change & { foundBy: string | readonly string[] }>>>
>;
