import type { PageAnswer } from "../requests/ask-page.ts";
import type { CrawlOptions } from "./crawl-options.ts";
import { failureOf } from "./failure.ts";
import { SiteWalk } from "./site-walk.ts";
import { isSilent, type Round, type WalkOutcome, type WalkReport, walkReport } from "./walk-report.ts";

/** What a cache did with the requested pages, without those that failed. The counts are of pages in places. */
export interface WarmReport extends WalkReport {
  readonly places: readonly string[];
  /** Also those that failed. */
  readonly asked: number;
  /** Stored now. */
  readonly stored: number;
  /** Stored before. */
  readonly hadBeen: number;
  readonly notStored: { readonly count: number; readonly because: Readonly<Record<string, number>> };
  /** The answers do not say. */
  readonly unknown: number;
}

/** The outcome for a page. `unsure`: only another request shows whether it was stored. */
type Fate = "stored" | "had-been" | "unsure" | "unknown" | "failed" | { readonly notBecause: string };

/** Asks each place for all pages, so that they are stored there. */
export function warm(options: CrawlOptions): Promise<WalkOutcome<WarmReport>> {
  return SiteWalk.during(options, (walk) => warmEverywhere(walk, options.signal));
}

async function warmEverywhere(walk: SiteWalk, signal: AbortSignal): Promise<WalkOutcome<WarmReport>> {
  const { paths } = walk.pages;
  const rounds: Round[] = [];
  const fates: Fate[] = [];
  for (const { region, edge } of walk.viewpoints) {
    if (walk.hasEnded) break;
    const name = region ?? "the edge";
    const answers = await walk.ask(name, edge, paths);
    rounds.push({ name, answers });
    const first = answers.map((answer) => (answer === null ? null : fateOf(answer)));
    // Most caches do not say that they stored a page; a second request shows it.
    const unsure = paths.filter((_path, index) => first[index] === "unsure");
    const again = walk.hasEnded || unsure.length === 0 ? [] : await walk.ask(`${name}, again`, edge, unsure);
    let next = 0;
    const second = first.map((fate) => (fate === "unsure" ? (again[next++] ?? null) : null));
    rounds.push({ name: `${name}, again`, answers: second });
    fates.push(
      ...first.flatMap((fate, index) =>
        fate === "unsure" ? [secondFateOf(second[index]!)] : fate === null ? [] : [fate],
      ),
    );
  }
  const notBecause = new Map<string, number>();
  for (const fate of fates) {
    if (typeof fate === "object") notBecause.set(fate.notBecause, (notBecause.get(fate.notBecause) ?? 0) + 1);
  }
  const countOf = (wanted: Fate) => fates.filter((fate) => fate === wanted).length;
  return {
    report: {
      ...walkReport(walk, rounds, signal.aborted),
      places: walk.viewpoints.flatMap(({ region }) => region ?? []),
      asked: fates.length,
      stored: countOf("stored"),
      hadBeen: countOf("had-been"),
      notStored: {
        count: [...notBecause.values()].reduce((sum, count) => sum + count, 0),
        because: Object.fromEntries(notBecause),
      },
      unknown: countOf("unknown"),
    },
    isSilent: isSilent(rounds),
  };
}

function fateOf(answer: PageAnswer): Fate {
  if (answer.kind === "failed" || failureOf(answer) !== null) return "failed";
  const { isHit, word, isStored, detail } = answer.cache;
  // A confirmed page is stored as before.
  if (isHit || word?.includes("REVALIDATED")) return "had-been";
  if (isStored) return "stored";
  if (isStored === false) return { notBecause: detail ?? word ?? "the answer does not say why" };
  return isHit === null ? "unknown" : "unsure";
}

function secondFateOf(answer: PageAnswer | null): Fate {
  if (answer === null) return "unknown";
  if (answer.kind === "failed" || failureOf(answer) !== null) return "failed";
  const { isHit, word, detail } = answer.cache;
  return isHit ? "stored" : { notBecause: detail ?? `${word} the second time, too` };
}
