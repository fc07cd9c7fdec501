import { describe, expect, test } from "vitest";
import { byDepth } from "../../../suite/depth.ts";
import { seed } from "../../../suite/seed.ts";
import { nginxVersion } from "../nginx-process.ts";
import { type Outcome, runSideBySide } from "./side-by-side.ts";

const NOT_RUN = "the random configurations are SKIPPED, because this machine has no nginx";
const hasNginx = nginxVersion() !== null;
if (!hasNginx) process.stdout.write(`${NOT_RUN}\n`);

/** Configurations that one nginx runs at a time. */
const AT_A_TIME = byDepth({ test: 40, gate: 40, all: 200 });
/** Of nginx's hits that a shared cache may have, so many are hits of the site; of the locations with a cache, so many store. */
const LEAST_HITS = 0.8;
const LEAST_LOCATIONS = 0.75;
const RUNS = byDepth({ test: 1, gate: 1, all: 2, explore: 5 });

describe.skipIf(!hasNginx)(hasNginx ? `random configurations (TEST_SEED=${seed})` : NOT_RUN, () => {
  test(
    "the imported site never serves from its store what nginx passed on, nor another visitor's page",
    async () => {
      const outcomes: Outcome[] = [];
      for (let run = 0; run < RUNS; run++) {
        const first = seed * 100_000 + run * AT_A_TIME;
        outcomes.push(await runSideBySide(Array.from({ length: AT_A_TIME }, (_, index) => first + index)));
      }
      const sum = (count: (outcome: Outcome) => number) => outcomes.reduce((total, each) => total + count(each), 0);
      const share = (part: number, whole: number) => `${part} of ${whole} (${((100 * part) / whole).toFixed(1)} %)`;
      process.stdout.write(
        [
          `${sum(({ requests }) => requests)} requests; ${sum(({ refused }) => refused)} configurations without a cache`,
          `hits of nginx that are hits of the site: ${share(
            sum((each) => each.sharedHits),
            sum((each) => each.nginxHits),
          )}`,
          `hits of nginx that a shared cache must not have: ${frequent(outcomes.map(({ forbidden }) => forbidden)).join(", ")}`,
          `the others, by X-Cache: ${frequent(outcomes.map(({ missed }) => missed)).join(", ")}`,
          `locations with a cache that store: ${share(
            sum((each) => each.stored),
            sum((each) => each.cached),
          )}`,
          ...frequent(outcomes.map(({ because }) => because)).map((each) => `  ${each}`),
          "",
        ].join("\n"),
      );
      const leaks = outcomes.flatMap((each) => each.leaks);
      expect(leaks.slice(0, 3).join("\n\n")).toBe("");
      // A comparison in which hardly anything is stored would find nothing.
      expect(sum((each) => each.sharedHits) / sum((each) => each.nginxHits)).toBeGreaterThan(LEAST_HITS);
      expect(sum((each) => each.stored) / sum((each) => each.cached)).toBeGreaterThan(LEAST_LOCATIONS);
    },
    byDepth({ test: 600_000, gate: 600_000, all: 1_200_000, explore: 3_600_000 }),
  );
});

function frequent(counts: readonly ReadonlyMap<string, number>[]): readonly string[] {
  const total = new Map<string, number>();
  for (const [word, count] of counts.flatMap((each) => [...each])) total.set(word, (total.get(word) ?? 0) + count);
  return [...total]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 12)
    .map(([word, count]) => `${count} because of ${word}`);
}
