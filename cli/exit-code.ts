import type { PurgeErrorCode } from "../sdk/index.ts";

/** The exit codes of the command, for the script that calls it. */
export const EXIT = {
  done: 0,
  /** The edge understood the call and refused it; or the checked project or site has faults. */
  refused: 1,
  /** The workers of a server died at their start, again and again. */
  gaveUp: 1,
  /** The call is wrong, or a setting or a package is missing on this machine. Nothing was sent. */
  usage: 2,
  /** No edge answered, or something else did. What was sent may have been carried out. */
  unreachable: 3,
  /** The purge was accepted, but it did not settle in time. */
  notSettled: 4,
  /** The output could not be written. What the command has done stays done. */
  unwritten: 5,
  /** Ctrl-C ended the work early. The results so far are printed. */
  interrupted: 130,
} as const;

/** The exit code for each way in which a purge can fail. */
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
  // An edge without this path has another version, or something other than an edge answered.
  "not-found": EXIT.unreachable,
  "method-not-allowed": EXIT.unreachable,
  unavailable: EXIT.unreachable,
  unreachable: EXIT.unreachable,
  "incomplete-answer": EXIT.unreachable,
  "unexpected-answer": EXIT.unreachable,
  "server-error": EXIT.unreachable,
  timeout: EXIT.unreachable,
};
