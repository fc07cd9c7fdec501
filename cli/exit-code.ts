import type { PurgeErrorCode } from "../sdk/index.ts";

/** How a command ends, for the script that called it. */
export const EXIT = {
  done: 0,
  /** The edge understood, and refused. */
  refused: 1,
  /** The call cannot be right, or lacks something on this machine; nothing was sent. */
  usage: 2,
  /** No edge answered, or not as one; what was sent may have happened. */
  unreachable: 3,
  /** The purge stands, but what was waited for did not come in time. */
  notSettled: 4,
} as const;

/** What each way in which a purge can fail means to a script. */
export const EXIT_OF: Readonly<Record<PurgeErrorCode, number>> = {
  invalid: EXIT.refused,
  unauthorized: EXIT.refused,
  forbidden: EXIT.refused,
  conflict: EXIT.refused,
  "too-large": EXIT.refused,
  "unsupported-media-type": EXIT.refused,
  "rate-limited": EXIT.refused,
  "not-configured": EXIT.usage,
  closed: EXIT.usage,
  // An edge that has no such address is one of another version, or none.
  "not-found": EXIT.unreachable,
  "method-not-allowed": EXIT.unreachable,
  unavailable: EXIT.unreachable,
  unreachable: EXIT.unreachable,
  "incomplete-answer": EXIT.unreachable,
  "unexpected-answer": EXIT.unreachable,
  "server-error": EXIT.unreachable,
  timeout: EXIT.unreachable,
};
