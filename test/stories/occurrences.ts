import { emptyTally, type Tally } from "../engine/tally.ts";

/** How often each race and fault really occurred. Unbroken promises mean something only if none of these is zero. */
export const OCCURRENCES = [
  "hits",
  "hits of validated pages",
  "hits of a variant",
  "collapsed requests",
  "fills crossed by a purge",
  "fills crossed by an unsafe method",
  "validations",
  "validations crossed by a purge",
  "answers from before a purge that had not settled",
  "tokens honoured",
  "tokens honoured while the log was silent",
  "settled purges with a re-read in every PoP",
  "soft purges",
  "hard purges",
  "purges of a prefix",
  "purges of a host",
  "purges asked for again, since the receipt was lost",
  "purges refused while the log was silent",
  "softly purged pages while they were fetched anew",
  "stale pages while they were fetched anew",
  "stale pages for a failed origin",
  "changes by unsafe methods",
  "unsafe methods whose answer was lost",
  "invalidations told to the log",
  "origin failures",
  "bodies cut off",
  "answers while the log was silent",
  "hits while the log was silent",
  "views taken from another isolate of the PoP",
  "isolates killed",
  "PoPs restarted",
  "restarts of the log",
  "caches emptied",
  "replies of the log lost",
] as const;

export type Occurrence = (typeof OCCURRENCES)[number];

export type Occurrences = Tally<Occurrence>;

export function noOccurrences(): Occurrences {
  return emptyTally(OCCURRENCES);
}
