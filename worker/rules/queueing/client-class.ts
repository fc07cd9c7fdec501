/** The class of a client that needs the origin, which decides whose turn comes first. */
export const CLIENT_CLASSES = ["editor", "known", "other"] as const;
export type ClientClass = (typeof CLIENT_CLASSES)[number];

/** How old a session has to be to show that its visitor was there before: milliseconds. */
export const SETTLED_MS = 600_000;
/** With more recent misses than this, neither a receipt nor a session helps. */
export const SHARE = 120;

/** What is known of a client. All counts are of recent misses, with this one. */
export interface ClientEvidence {
  /** Whether the request is a refresh that a token permits. */
  readonly isRefresh: boolean;
  /** The misses of all requests with the receipt of a purge; `null` if this one has none. */
  readonly withReceipts: number | null;
  /** The session that the edge saw the origin set: when, in epoch milliseconds, and its misses. `null` for none. */
  readonly session: { readonly setAt: number; readonly misses: number } | null;
  /** The misses of its network. */
  readonly ofNetwork: number;
}

export interface Standing {
  readonly client: ClientClass;
  /** The number of misses by which clients of the same class are ordered. */
  readonly recentMisses: number;
}

/**
 * Where a client stands among those who wait for the origin. A session that is made after the queue began does not
 * count: `queueSince` (epoch milliseconds) is when it began, or now if nobody waits.
 */
export function standingOf(
  { isRefresh, withReceipts, session, ofNetwork }: ClientEvidence,
  queueSince: number,
): Standing {
  if (isRefresh) return { client: "editor", recentMisses: 0 };
  if (withReceipts !== null && withReceipts <= SHARE) return { client: "editor", recentMisses: withReceipts };
  if (session !== null && session.setAt + SETTLED_MS <= queueSince && session.misses <= SHARE) {
    return { client: "known", recentMisses: session.misses };
  }
  return { client: "other", recentMisses: ofNetwork };
}
