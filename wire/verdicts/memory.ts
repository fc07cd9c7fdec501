import type { SiteStats } from "../stats.ts";
import { memorySize, percent } from "../text/numbers.ts";
import { wholeMemory } from "../text/stats-text.ts";
import type { Verdict } from "./verdict.ts";

/** With fewer uses there is no advice, because most of them are the first use of their page. */
const LEAST_USES = 1000;

/** The least growth of the share of uses in memory. */
const LEAST_GAIN = 0.05;

/** The advice is the smallest size with this part of the gain of the largest one. */
const MOST_OF_IT = 0.8;

const MIB = 1024 ** 2;

/** An isolate of Workers has 128 MB for all that it does, so its pages should not have more than half. */
const MOST_OF_ISOLATE = 64 * MIB;

/** A memory that evicts pages which are requested again. */
export function memoryVerdicts(stats: SiteStats): Verdict[] {
  const memory = wholeMemory(stats);
  if (!memory || memory.uses < LEAST_USES) return [];
  const { uses, held, maxBytes, curve: whole } = memory;
  const curve = whole.filter(({ bytes }) => bytes <= MOST_OF_ISOLATE || stats.machine);
  const ratio = held / uses;
  const now = Math.max(ratio, ...whole.flatMap(({ bytes, hitRatio }) => (bytes <= maxBytes ? [hitRatio] : [])));
  const found = curve.find(({ hitRatio }) => hitRatio - now >= (curve.at(-1)!.hitRatio - now) * MOST_OF_IT);
  if (!found || found.hitRatio - now < LEAST_GAIN) return [];
  const size = `${Math.ceil(found.bytes / MIB)}MiB`;
  return [
    {
      kind: "small-memory",
      route: null,
      evidence: `a memory of ${memorySize(maxBytes)} holds ${percent(ratio)} of the stored pages that visitors request`,
      setting: `set \`${stats.machine ? "--memory" : "limits.memoryBytes"}\` to \`"${size}"\``,
      effect: `at least ${percent(found.hitRatio)} would come from memory`,
      savedFetches: 0,
    },
  ];
}
