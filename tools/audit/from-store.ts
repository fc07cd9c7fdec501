import { type Exchange, fieldOf, freshAnswers, groupsOf, type PathRecord, partyOf } from "./exchange.ts";

/**
 * Whether an answer came from a cache. Either it says so; or it has an `Age`, which the first answer to its URL has not;
 * or it says nothing, and repeats that first answer byte for byte, as each answer there to the same visitor does, although
 * that visitor never gets the same bytes twice past the cache.
 */
export function isFromStore(record: PathRecord, answer: Exchange, first: Exchange): boolean {
  if (answer.provenance !== "unknown") return answer.provenance === "hit";
  if (isMarkedByAge(answer, [first])) return true;
  const party = partyOf(first);
  const repeats = record.exchanges.filter((each) => each.buster === first.buster && partyOf(each) === party);
  return [answer, ...repeats].every(({ digest }) => digest === first.digest) && neverGetsTheSame(record, party);
}

/** Apache and HAProxy mark hits by `Age` alone, even of 0. Some proxies write one into every answer. */
function isMarkedByAge(answer: Exchange, others: readonly Exchange[]): boolean {
  const hasAge = (each: Exchange) => fieldOf(each, "age") !== null;
  return answer.provenance === "unknown" && hasAge(answer) && !others.every(hasAge);
}

function neverGetsTheSame(record: PathRecord, party: string): boolean {
  const answers = freshAnswers(record, party);
  return answers.length > 1 && new Set(answers.map(({ digest }) => digest)).size === answers.length;
}

/** What a page's first requests show about the buster: whether it makes a separate entry in the cache. */
export type BusterVerdict = "own-entry" | "dropped" | "nothing-stored";

/**
 * Whether the buster is in the key. It is not, if a URL that nobody can have requested before comes from the cache. It
 * is, if a page is a hit and the same page with another buster is not yet.
 */
export function busterVerdict(record: PathRecord): BusterVerdict {
  const groups = groupsOf(record);
  if (groups.some(([first]) => isStoredAlready(record, first!))) return "dropped";
  const isStored = groups.some(([first, ...later]) => later.some((each) => isFromStore(record, each, first!)));
  return isStored && groups.length > 1 ? "own-entry" : "nothing-stored";
}

function isStoredAlready(record: PathRecord, first: Exchange): boolean {
  if (first.provenance === "hit" || first.provenance === "expired") return true;
  return isMarkedByAge(first, freshAnswers(record, partyOf(first)));
}
