import type { Cdn } from "../cdn/cdn.ts";
import { checkPath } from "../cdn/check-options.ts";
import type { ScriptedOrigin } from "../cdn/scripted-origin.ts";
import type { ClaimResult } from "./claim-result.ts";

/** The most other targets that the record names. */
const MAX_NAMED = 8;

/**
 * The claim that a path was requested from the origin this many times; without a number, at least once. Throws a
 * `TypeError` for what is not a path, and for another subject.
 */
export function hasSeen(origin: ScriptedOrigin, target: string, times?: number): ClaimResult {
  if (typeof origin?.countOf !== "function") {
    throw new TypeError("toHaveSeen: this takes the scripted origin of a simulated CDN, cdn.origin");
  }
  checkPath("toHaveSeen", target);
  const seen = origin.countOf(target);
  const expected = times === undefined ? target : `${target} ${inWords(times)}`;
  const record = originRecord({ scriptedOrigin: origin }, target);
  return {
    holds: times === undefined ? seen > 0 : seen === times,
    failure: `expected the origin to have been asked for ${expected}\n\n  the origin saw     ${record}`,
    negatedFailure: `expected the origin not to have been asked for ${expected}\n\n  the origin saw     ${record}`,
  };
}

/** How often the origin was asked for this path, and for others. */
export function originRecord(cdn: Pick<Cdn, "scriptedOrigin">, target: string): string {
  const origin = cdn.scriptedOrigin;
  if (origin === null) return "unknown, because the origin is a URL";
  const others = origin.seen.filter((request) => request.target !== target);
  const record = `${target} ${inWords(origin.countOf(target))}`;
  return others.length === 0 ? record : `${record}; others: ${countsOf(others.map(({ target }) => target))}`;
}

function countsOf(targets: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const target of targets) counts.set(target, (counts.get(target) ?? 0) + 1);
  const named = [...counts].slice(0, MAX_NAMED).map(([target, count]) => `${target} ${inWords(count)}`);
  return named.join(", ") + (counts.size > MAX_NAMED ? `, and ${counts.size - MAX_NAMED} more` : "");
}

function inWords(times: number): string {
  return times === 0 ? "never" : times === 1 ? "once" : `${times} times`;
}
