import type { Answered, History } from "../simulation/history.ts";
import { isFromBefore } from "../simulation/promises.ts";
import type { Stage } from "./stage.ts";

/** Counts the occurrences that an answer shows. */
export function countAnswer(stage: Stage, { purges }: History, answered: Answered, cacheStatus: string): void {
  const { xCache, arrivedAt, after, fetched, givenBy } = answered;
  const isSilent = arrivedAt > givenBy.lease.until;
  const isSoft = cacheStatus.includes("detail=soft-purge");
  stage.count("hits", xCache === "HIT");
  stage.count("hits of validated pages", xCache === "HIT" && fetched !== answered.confirmed);
  stage.count("hits of a variant", xCache === "HIT" && fetched.language !== null);
  stage.count("collapsed requests", cacheStatus.includes("collapsed"));
  stage.count(
    "answers from before a purge that had not settled",
    purges.some((purge) => isFromBefore(answered, purge)),
  );
  stage.count("tokens honoured", after !== null);
  stage.count("tokens honoured while the log was silent", after !== null && isSilent);
  stage.count("softly purged pages while they were fetched anew", xCache === "UPDATING" && isSoft);
  stage.count("stale pages while they were fetched anew", xCache === "UPDATING" && !isSoft);
  stage.count("stale pages for a failed origin", xCache === "STALE");
  stage.count("answers while the log was silent", isSilent);
  stage.count("hits while the log was silent", isSilent && xCache === "HIT");
}
