type Counts = Record<string, number>;

/** The counters of one isolate since it started: the body of `GET /_tidemark/stats`. */
export interface IsolateStats {
  version: 1;
  scope: "isolate";
  /** RFC 3339, UTC, on the isolate's clock. */
  startedAt: string;
  /** Answers by their `X-Cache`. Together with `answeredByEdge` they are all answers. */
  answers: Counts;
  /** Answers that the edge made itself, by the `detail` of their `Cache-Status`. */
  answeredByEdge: Counts;
  /** Requests sent to the origin; `answered` and `failed` are parts of `asked`. */
  origin: { asked: number; answered: number; failed: number };
  /** `refused`: answers that may not be kept, `discarded`: bodies that were read and not kept; by reason. */
  store: { stored: number; storedBytes: number; failed: number; refused: Counts; discarded: Counts };
  /** Requests that took the answer of another one's fetch. */
  collapsed: number;
  /** Requests with `Authorization` that nothing stored might answer. */
  askedPastTheCache: number;
  /** Wrong tokens for the control plane. */
  tokensRefused: number;
  /** Reads of the purge log; `shared`: copies of another isolate's reading that were taken instead of one. */
  log: { reads: number; failedReads: number; shared: number };
  /** Purges accepted by this isolate. */
  purges: number;
  /** What unsafe requests put out of date and the log could not be told. */
  invalidationsDropped: number;
  /** Bugs: the last catch had to answer. */
  failures: number;
  memory: { entries: number; bytes: number; mostBytes: number };
  fills: { bytes: number; mostBytes: number };
  view: { keys: number; bytes: number; mostBytes: number; position: { logId: string; seq: number } | null };
}
