import type { Mutants } from "../mutants/mutant.ts";

/** Wrong rules of docs/protocol.md of the log and its readers that no scenario and no random world finds soon. */
export const mutants: Mutants = {
  R6: {
    "a lease that is shorter than the longest is not on record": {
      in: "GrantedLeases.grant",
      replace: "if (this.#counts(leaseMs, now + REMEMBERED_MS)) return;",
      by: "if (this.#counts(leaseMs, now + REMEMBERED_MS) || leaseMs <= this.longestLivingMs(now)) return;",
      foundBy:
        "purges: a lease that is shorter than the longest counts for a day of its own, also when the longest no longer does",
    },
    "a lease that is granted again is not written as long as it counts": {
      in: "GrantedLeases.grant",
      replace: "now + REMEMBERED_MS)",
      by: "now)",
      foundBy:
        "purges: the longest lease counts for a day after it was last granted, although not each grant is written",
    },
  },
  R9: {
    "a reply that the view refuses proves a token false": {
      in: "Renewal.read",
      replace: "return isTaken;",
      by: "return true;",
      foundBy: "purges: a token stays in force where the view refuses the reply, which then proves nothing",
    },
  },
  R13: {
    "a log that a reader of an earlier log reads does not count with what that log granted": {
      in: "SqlPurgeLog.read",
      drop: "this.#noteEarlierLog(since, now);",
      foundBy:
        "purges: a log that is read by a reader of an earlier log counts for a day with the longest use that a site may ask for",
    },
    "a log to which a reader of an earlier log purges does not count with what that log granted": {
      in: "SqlPurgeLog.append",
      drop: "this.#noteEarlierLog(purge.since, now);",
      foundBy:
        "purges: a log to which a reader of an earlier log purges counts for a day with the longest use that a site may ask for",
    },
    "a log whose storage went back does not count with what it has granted since": {
      in: "SqlPurgeLog.replace",
      drop: "this.#leases.noteEarlierLog",
      foundBy:
        "purges: a log whose storage went back, as a reader shows that is ahead, counts with the longest use that a site may ask for",
    },
    "an earlier log that nobody uses any more makes a log forget what it has granted itself": {
      in: "GrantedLeases.noteEarlierLog",
      replace: "now - bornAt > REMEMBERED_MS",
      by: "false",
      foundBy: "purges: a log that is a day old counts with no earlier one, because nobody uses that for so long",
    },
    "a log whose numbers ran out counts with its former id as with an unknown log": {
      in: "SqlPurgeLog.#add",
      replace: "this.#beginAnew(true)",
      by: "this.#beginAnew(false)",
      foundBy: "purges: a log whose numbers ran out knows what it has granted under its earlier id",
    },
  },
  R25: {
    "the reply to a purge grants a lease that is not in the book": {
      in: "SqlPurgeLog.append",
      replace: "reader === undefined ? purge.leaseMs : 0",
      by: "purge.leaseMs",
      foundBy: "purges: the reply to a purge grants a reader with a name no lease, because the book would not have it",
    },
  },
};
