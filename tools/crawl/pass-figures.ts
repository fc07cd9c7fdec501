import type { PageAnswer } from "../requests/ask-page.ts";

/** The figures of one pass in one place, without failed pages. */
export interface PassFigures {
  /** Answers. */
  readonly count: number;
  /** The share of hits among the answers that say; `null` if none does. */
  readonly hitRatio: number | null;
  /** Answers by the cache's own word for its result; `unknown` for those that do not say. */
  readonly answers: Readonly<Record<string, number>>;
  /** To the head of the answer, in milliseconds, with the simulated distance; `null` without answers. */
  readonly averageMs: number | null;
  readonly medianMs: number | null;
  readonly p95Ms: number | null;
  readonly bytes: number;
}

/** Answers, each with its time in that place in milliseconds. */
export interface Sample {
  readonly answer: Extract<PageAnswer, { kind: "answered" }>;
  readonly ms: number;
}

/** The answers of a pass, with `distanceMs` added to the measured times. */
export function samplesOf(pass: readonly (PageAnswer | null)[], distanceMs: number): readonly Sample[] {
  return pass.flatMap((answer) => (answer?.kind === "answered" ? [{ answer, ms: answer.headMs + distanceMs }] : []));
}

export function figuresOf(samples: readonly Sample[]): PassFigures {
  const sorted = samples.map(({ ms }) => ms).sort((a, b) => a - b);
  const telling = samples.flatMap(({ answer }) => answer.cache.isHit ?? []);
  const answers = new Map<string, number>();
  for (const { answer } of samples) {
    const word = answer.cache.word ?? "unknown";
    answers.set(word, (answers.get(word) ?? 0) + 1);
  }
  return {
    count: samples.length,
    hitRatio: telling.length === 0 ? null : telling.filter((isHit) => isHit).length / telling.length,
    answers: Object.fromEntries(answers),
    averageMs: sorted.length === 0 ? null : rounded(sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length),
    medianMs: sorted.length === 0 ? null : rounded((atShare(sorted, 0.5) + sorted[sorted.length >> 1]!) / 2),
    p95Ms: sorted.length === 0 ? null : rounded(atShare(sorted, 0.95)),
    bytes: samples.reduce((sum, { answer }) => sum + answer.bytes, 0),
  };
}

/** The smallest value such that at least this share of all values is not larger: the nearest rank. */
function atShare(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
