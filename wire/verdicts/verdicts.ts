import type { SiteStats } from "../stats.ts";
import { keyVerdicts } from "./keys.ts";
import { lifetimeVerdicts } from "./lifetimes.ts";
import { memoryVerdicts } from "./memory.ts";
import { placeVerdicts } from "./places.ts";
import { storingVerdicts } from "./storing.ts";
import type { Verdict } from "./verdict.ts";

/** The most verdicts that are given at once. */
const MOST = 10;

/** The advised changes, sorted by the requests that they would save the origin. */
export function verdictsOf(stats: SiteStats): Verdict[] {
  return [keyVerdicts, lifetimeVerdicts, storingVerdicts, placeVerdicts, memoryVerdicts]
    .flatMap((rule) => rule(stats))
    .sort((a, b) => b.savedFetches - a.savedFetches)
    .slice(0, MOST);
}

/** A verdict as one sentence. */
export function verdictText({ evidence, setting, effect }: Pick<Verdict, "evidence" | "setting" | "effect">): string {
  return `${evidence[0]!.toUpperCase()}${evidence.slice(1)}: ${setting}; ${effect}.`;
}
