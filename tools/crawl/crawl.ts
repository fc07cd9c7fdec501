import type { PageAnswer } from "../requests/ask-page.ts";
import { NO_AGE } from "../requests/cache-answer.ts";
import type { CrawlOptions } from "./crawl-options.ts";
import { figuresOf, type PassFigures, type Sample, samplesOf } from "./pass-figures.ts";
import { SiteWalk } from "./site-walk.ts";
import type { Viewpoint } from "./viewpoints.ts";
import { isSilent, type Round, type WalkOutcome, type WalkReport, walkReport } from "./walk-report.ts";

/** How a site answers through its edge, from one place or several. */
export interface CrawlReport extends WalkReport {
  readonly origin: string | null;
  readonly places: readonly PlaceReport[];
  /** All places together. */
  readonly all: Passes;
  /** Pages that were not a hit in the second pass, and the cache's reason if it gives one. */
  readonly notHits: { readonly count: number; readonly examples: readonly NotHit[] };
}

export interface Passes {
  readonly first: PassFigures;
  readonly second: PassFigures;
  /** The origin, asked without the edge; `null` if it was not asked. */
  readonly origin: PassFigures | null;
}

export interface PlaceReport extends Viewpoint, Passes {}

export interface NotHit {
  readonly path: string;
  readonly word: string;
  readonly because: string | null;
}

const MAX_NOT_HITS = 20;

/**
 * Asks each place for all pages, twice, and then the origin once. The origin comes last, when it has already answered
 * every page once, so that it does not look slower than it is.
 */
export function crawl(options: CrawlOptions): Promise<WalkOutcome<CrawlReport>> {
  return SiteWalk.during(options, (walk) => askEverywhere(walk, options));
}

async function askEverywhere(walk: SiteWalk, options: CrawlOptions): Promise<WalkOutcome<CrawlReport>> {
  const { paths } = walk.pages;
  const seen: { viewpoint: Viewpoint; first: Answers; second: Answers }[] = [];
  const rounds: Round[] = [];
  const ask = async (name: string, base: string): Promise<Answers> => {
    const answers = walk.hasEnded ? paths.map(() => null) : await walk.ask(name, base, paths);
    rounds.push({ name, answers });
    return answers;
  };
  for (const viewpoint of walk.viewpoints) {
    const where = viewpoint.region === null ? "" : `${viewpoint.region}, `;
    const first = await ask(`${where}first pass`, viewpoint.edge);
    const second = await ask(`${where}second pass`, viewpoint.edge);
    seen.push({ viewpoint, first, second: second.map((answer, index) => markedByAge(answer, first[index])) });
  }
  const edgeRounds = [...rounds];
  const origin = options.origin === null ? null : await ask("origin", options.origin);
  return {
    report: {
      ...walkReport(walk, rounds, options.signal.aborted),
      origin: options.origin,
      ...compare(seen, origin),
      notHits: notHitsOf(
        paths,
        seen.map(({ second }) => second),
      ),
    },
    isSilent: isSilent(edgeRounds),
  };
}

type Answers = readonly (PageAnswer | null)[];

/** Apache and HAProxy mark hits by `Age` alone, so even one of 0 shows a hit if the page's answer before had none. */
function markedByAge(answer: PageAnswer | null, before: PageAnswer | null | undefined): PageAnswer | null {
  if (answer?.kind !== "answered" || before?.kind !== "answered") return answer;
  if (answer.cache.word !== NO_AGE || before.cache.word !== null) return answer;
  return { ...answer, cache: { ...answer.cache, isHit: true, word: "Age" } };
}

function compare(
  seen: readonly { viewpoint: Viewpoint; first: Answers; second: Answers }[],
  originAnswers: Answers | null,
): Pick<CrawlReport, "places" | "all"> {
  const all: { first: Sample[]; second: Sample[]; origin: Sample[] } = { first: [], second: [], origin: [] };
  const places = seen.map(({ viewpoint, first, second }) => {
    const { clientMs, originMs } = viewpoint;
    const samples = {
      first: samplesOf(first, clientMs),
      second: samplesOf(second, clientMs),
      // For a visitor who asks the origin itself, the distance is that to the nearest edge plus that from there to the
      // origin.
      origin: samplesOf(originAnswers ?? [], clientMs + originMs),
    };
    for (const pass of ["first", "second", "origin"] as const) for (const each of samples[pass]) all[pass].push(each);
    return { ...viewpoint, ...passesOf(samples, originAnswers !== null) };
  });
  return { places, all: passesOf(all, originAnswers !== null) };
}

function passesOf(
  samples: Readonly<Record<"first" | "second" | "origin", readonly Sample[]>>,
  hasOrigin: boolean,
): Passes {
  return {
    first: figuresOf(samples.first),
    second: figuresOf(samples.second),
    origin: hasOrigin ? figuresOf(samples.origin) : null,
  };
}

/** Each page once, however many places there are. */
function notHitsOf(paths: readonly string[], passes: readonly Answers[]): CrawlReport["notHits"] {
  const examples: NotHit[] = [];
  let count = 0;
  for (const [index, path] of paths.entries()) {
    const missing = passes.map((answers) => answers[index]).find(isNoHit);
    if (missing === undefined) continue;
    count++;
    if (examples.length < MAX_NOT_HITS)
      examples.push({ path, word: missing.cache.word!, because: missing.cache.detail });
  }
  return { count, examples };
}

function isNoHit(answer: PageAnswer | null | undefined): answer is Extract<PageAnswer, { kind: "answered" }> {
  return answer?.kind === "answered" && answer.cache.isHit === false;
}
