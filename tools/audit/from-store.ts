import { type Exchange, freshAnswers, groupsOf, type PathRecord, partyOf } from "./exchange.ts";

/**
 * Whether an answer came from a store: it says so, or it says nothing, and has the bytes of the first answer to its URL,
 * although whoever got that one never gets the same twice.
 */
export function isFromStore(record: PathRecord, answer: Exchange, first: Exchange): boolean {
  if (answer.provenance !== "unknown") return answer.provenance === "hit";
  return answer.digest === first.digest && neverGetsTheSame(record, partyOf(first));
}

function neverGetsTheSame(record: PathRecord, party: string): boolean {
  const answers = freshAnswers(record, party);
  return answers.length > 1 && new Set(answers.map(({ digest }) => digest)).size === answers.length;
}

/** What the first requests of a page show of the buster: whether it gets an entry of its own in the cache. */
export type BusterVerdict = "own-entry" | "dropped" | "nothing-stored";

/**
 * Whether the buster is in the key. A page that nobody can have asked for before must not come from a store. If a page
 * is stored, and one with another buster is not yet, it has an entry of its own.
 */
export function busterVerdict(record: PathRecord): BusterVerdict {
  const groups = groupsOf(record);
  if (groups.some(([first]) => first!.provenance === "hit" || first!.provenance === "expired")) return "dropped";
  const isStored = groups.some(([first, ...later]) => later.some((each) => isFromStore(record, each, first!)));
  return isStored && groups.length > 1 ? "own-entry" : "nothing-stored";
}
