import { emptyTally, type Tally } from "../engine/tally.ts";

/** The races and faults of the worlds. Unbroken promises mean something only if each of these has occurred. */
export const OCCURRENCES = [
  "hits",
  "HEADs from store",
  "fills crossed by a purge",
  "collapsed requests",
  "requests that waited for another isolate's fetch",
  "news of a fetch that never came",
  "evictions",
  "look-ups that missed at once",
  "puts that were lost",
  "late puts",
  "answers from before a purge that had not settled",
  "lapsed leases",
  "lost messages to the log",
  "lost replies of the log",
  "repeated messages to the log",
  "pushes taken in",
  "lost pushes",
  "purges that settled by confirmations",
  "connections to the log",
  "connections that were one too many",
  "connections that were cut without notice",
  "repeated pushes",
  "lost confirmations",
  "leases that were given up",
  "isolates that came back after they had given up their lease",
  "new versions that allow a longer view age",
  "isolates that alone did not reach the log",
  "isolates that reached the log and heard nothing",
  "days without a request",
  "isolates that never confirm, beside others that do",
  "receipts that settled before their time",
  "replies of the log that never came",
  "replies of a log that had been replaced",
  "restarts of the log",
  "logs made anew",
  "logs whose numbers ran out",
  "logs with little room",
  "views taken from another isolate of the PoP",
  "shared copies that landed late",
  "isolates that died",
  "two faults at once",
  "log files that were set aside for damage",
  "databases that were emptied",
  "processes that ended",
  "processes that hung",
  "supervisors that hung",
  "supervisors that were replaced",
  "faults of a server's log",
  "lost notices of the database",
  "bodies cut off",
  "origin failures",
  "requests that waited for their turn at the origin",
  "requests that a busy origin turned away",
  "origins that hung",
  "pages without a body",
  "origins that threw",
  "visitors who left",
  "fetches from a parent",
  "fetches from a parent that did not answer",
  "hits of what a parent has given",
  "answers of a lagging replica",
  "tokens honoured",
  "hits while the log was silent",
  "purges sent again under their id",
  "purges that were repeated",
  "pages refreshed by their purge",
  "soft purges",
  "stale pages after a soft purge",
  "purges of a prefix",
  "sites where a purge may come late",
  "validations",
  "validations crossed by a purge",
  "hits of validated pages",
  "stale pages while they were fetched anew",
  "stale pages for a failed origin",
  "stale pages while log and origin were down",
  "changes by unsafe methods",
  "unsafe methods whose answer was lost",
  "fills crossed by an unsafe method",
  "hits of a variant",
] as const;

export type Occurrence = (typeof OCCURRENCES)[number];

/** How often each has occurred. */
export type Occurrences = Tally<Occurrence>;

export function noOccurrences(): Occurrences {
  return emptyTally(OCCURRENCES);
}

/** Adds the occurrences of one world to those of the others. */
export function addOccurrences(all: Occurrences, occurred: Occurrences): void {
  for (const name of OCCURRENCES) all[name] += occurred[name];
}
