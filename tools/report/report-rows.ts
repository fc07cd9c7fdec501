import { whole } from "#tidemark/internal";
import type { SearchReport } from "../counting/search-counts.ts";
import { percentOf } from "../words/words.ts";
import type { AccessReport } from "./access-report.ts";

const VERDICTS = {
  dropped: "not in the key by default",
  "seems-idle": "does not seem to change the page",
  matters: "changes the page",
  unknown: "too few to tell",
} as const;

/** The path of a route, its requests, their share, its hit ratio, and why it is passed on. */
export function routeRows({ routes }: AccessReport): string[][] {
  return routes.map(({ path, requests, share, hitRatio, passBecause }) => [
    path,
    whole(requests),
    percentOf(share),
    passBecause === null ? percentOf(hitRatio) : "passed on",
    passBecause ?? "",
  ]);
}

/** The cut-offs around the suggested one, of those that are the length of a query. `most`: even. */
export function cutOffsAround({ cutOffs, suggestedLength }: SearchReport, most: number): SearchReport["cutOffs"] {
  const typed = cutOffs.filter(({ requests }, index) => requests > (cutOffs[index - 1]?.requests ?? 0));
  const suggestedAt = typed.findIndex(({ length }) => length === suggestedLength);
  const from = Math.max(0, Math.min(suggestedAt - most / 2, typed.length - most));
  return typed.slice(from, from + most);
}

/** The longest query that is stored, the requests for it and shorter ones, their hits, hit ratio and entries. */
export function searchRows(searches: SearchReport, most: number): string[][] {
  return cutOffsAround(searches, most).map(({ length, requests, hits, hitRatio, entries }) => [
    String(length),
    whole(requests),
    whole(hits),
    percentOf(hitRatio),
    whole(entries),
  ]);
}

/** The name of a parameter, its requests, the compared ones, the share of equal sizes, and the conclusion. */
export function parameterRows({ parameters }: AccessReport, none: string): string[][] {
  return parameters.map(({ name, requests, compared, same, verdict }) => [
    name,
    whole(requests),
    whole(compared),
    compared === 0 ? none : percentOf(same / compared),
    VERDICTS[verdict],
  ]);
}
