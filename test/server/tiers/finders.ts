import { ENTRIES } from "../../mutants/entries.ts";
import { findersOf } from "../../mutants/finder.ts";
import { CHECKS, type TierClasses } from "./tier-checks.ts";

/** What holds between a child and its parent. */
export const tierFinders = findersOf(
  ENTRIES.tier,
  Object.entries(CHECKS).map(([name, check]) => [
    name,
    async (modules) => {
      const classes = modules(ENTRIES.tier[0]) as TierClasses;
      const tier = new classes.Tier();
      await tier.origin.comeUp();
      try {
        await check(tier, classes);
      } finally {
        await tier.stop();
      }
    },
  ]),
);
