/** The results of a crowd's connections. */
export interface CrowdCounts {
  /** Connections that are still open at the end. */
  readonly open: number;
  /** Connections that got the page. */
  readonly answered: number;
  /** Other answers, or pieces of one: their status lines, and how many connections got each. */
  readonly wrong: Readonly<Record<string, number>>;
  /** Connections that were closed before a byte came. */
  readonly refused: number;
  /** The codes of errors of connections, each once. */
  readonly errors: readonly string[];
  readonly readBytes: number;
}

/** The faults of a crowd, in words. All its connections should get the page and stay open. */
export function faultsOf({ open, answered, wrong, refused, errors }: CrowdCounts, connections: number): string[] {
  const of = `of ${connections.toLocaleString("en")} connections`;
  const faults: string[] = [];
  const tell = (number: number, what: string) => faults.push(`${number.toLocaleString("en")} ${of} ${what}`);
  if (refused > 0) tell(refused, `were closed without an answer${errors.length > 0 ? ` (${errors.join(", ")})` : ""}`);
  for (const [status, times] of Object.entries(wrong)) tell(times, `got "${status}", which is not the page`);
  const others = Object.values(wrong).reduce((sum, times) => sum + times, 0);
  const waiting = connections - answered - refused - others;
  if (waiting > 0) tell(waiting, "got no answer");
  if (open < connections) tell(connections - open, "were not open at the end of the wait");
  return faults;
}
