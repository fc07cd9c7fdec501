/** The state of a connection that is about to end. */
export interface EndingConnection {
  /** Streams that the client has opened, and that have not ended. */
  readonly open: number;
  /** The most streams that were ever open at a time. */
  readonly mostOpen: number;
  /** Since when it is to end, in milliseconds. */
  readonly waitedMs: number;
}

/** How long a connection waits for a good moment to send GOAWAY. Milliseconds. */
export const LAST_STREAM_WITHIN_MS = 1_000;

/**
 * Whether GOAWAY is sent now. The client has to repeat requests that are on their way then, on another connection. A client
 * with as many streams open as it ever had has probably sent no further request, and gets GOAWAY before its next answer. RFC
 * 9113 §6.8 and docs/decisions/0042.
 */
export function mayNameLastStream({ open, mostOpen, waitedMs }: EndingConnection): boolean {
  if (waitedMs >= LAST_STREAM_WITHIN_MS) return true;
  return open > 0 && open >= mostOpen;
}
