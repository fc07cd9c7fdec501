import { originRecord } from "./explanation.ts";
import type { Judgement } from "./claim-result.ts";
import type { ScriptedOrigin } from "../scripted-origin.ts";

/** The origin was asked for a path, as it came over the wire, so many times; without a number, at least once. */
export function hasSeen(origin: ScriptedOrigin, target: string, times?: number): Judgement {
  const seen = origin.countOf(target);
  const holds = times === undefined ? seen > 0 : seen === times;
  const often = times === undefined ? "" : ` ${times === 1 ? "once" : `${times} times`}`;
  const record = originRecord({ scriptedOrigin: origin }, target);
  return {
    holds,
    against: `expected the origin to have been asked for ${target}${often}\n\n  the origin saw     ${record}`,
    for: `expected the origin not to have been asked for ${target}${often}\n\n  the origin saw     ${record}`,
  };
}
