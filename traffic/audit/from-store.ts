import { type Exchange, freshAnswers, groupsOf, type PathRecord, partyOf } from "./exchange.ts";

/**
 * Whether an answer came from a store: it says so, or it says nothing, and has the bytes of an earlier answer although
 * each rendering of the page has others.
 */
export function isFromStore(record: PathRecord, answer: Exchange, first: Exchange): boolean {
  if (answer.provenance !== "unknown") return answer.provenance === "hit";
  return answer.digest === first.digest && changesWithEachRendering(record);
}

/** Whether no party with several answers past the cache has had the same one twice, and there is such a party. */
function changesWithEachRendering({ exchanges, ...record }: PathRecord): boolean {
  const parties = [...new Set(exchanges.map(partyOf))].map((party) => freshAnswers({ exchanges, ...record }, party));
  const several = parties.filter((answers) => answers.length > 1);
  const areNew = several.every((answers) => new Set(answers.map(({ digest }) => digest)).size === answers.length);
  return several.length > 0 && areNew;
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
