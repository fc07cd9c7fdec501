/**
 * The body of `GET /_tidemark/stats`: the counters of the isolate that answered, since it started.
 *
 * It is written out, because the package's types cannot contain a type that is inferred from a zod schema. A type test
 * compares it with the schema in `stats-schema.ts`.
 */
export interface IsolateStats {
  /** Raised when a field changes its meaning or goes away. */
  version: 1;
  scope: "isolate";
  /** RFC 3339, UTC, by the isolate's clock. */
  startedAt: string;
  /** Answers by their `X-Cache`. Together with `answeredByEdge` they are all answers. */
  answers: CountsByName;
  /** Answers that the edge made itself, by the `detail` of their `Cache-Status`. */
  answeredByEdge: CountsByName;
  /** Requests sent to the origin; `answered` and `failed` are parts of `asked`. */
  origin: { asked: number; answered: number; failed: number };
  store: {
    stored: number;
    storedBytes: number;
    failed: number;
    /** Answers that may not be stored, by the `detail` of their `Cache-Status`. */
    refused: CountsByName;
    /** Those of them with `unkeyed-field`, by the name of the field: the first 50 names, and `(others)`. */
    unkeyedFields: CountsByName;
    /** Copies that were dropped while their body was read or after it, by the reason. */
    discarded: CountsByName;
  };
  /**
   * Requests to the origin for second looks, a part of `origin.asked`, and the fields that they found to choose pages.
   */
  secondLooks: { asked: number; marked: number };
  /** Requests that were answered by the fetch of another request (collapsed forwarding). */
  collapsed: number;
  /**
   * Requests sent past the cache: with `Authorization` or a session, where no stored answer is open to them, or by the
   * names that the owner gives in `bypass`.
   */
  askedPastTheCache: number;
  /** Calls of the control plane with a wrong token. */
  tokensRefused: number;
  /** Reads of the purge log; `shared` counts the copies of another isolate's reading that made a read unnecessary. */
  log: { reads: number; failedReads: number; shared: number };
  /** Purges accepted by this isolate. */
  purges: number;
  /** Invalidations by unsafe requests that could not be written to the log. */
  invalidationsDropped: number;
  /** Bugs: requests on which the edge itself failed, so that they were sent to the origin past the cache. */
  failures: number;
  memory: { entries: number; bytes: number; maxBytes: number };
  fills: { bytes: number; maxBytes: number };
  view: { keys: number; bytes: number; maxBytes: number; position: { logId: string; seq: number } | null };
}

type CountsByName = Record<string, number>;
