import { ENTRIES } from "../mutants/entries.ts";
import { exportsOf, findersOf } from "../mutants/finder.ts";
import { CHECKS, type PurgeClasses } from "./purge-checks.ts";

/** What no world and no scenario shows of the log and its readers. */
export const purgeFinders = findersOf(
  ENTRIES.purges,
  Object.entries(CHECKS).map(([name, check]) => [
    name,
    async (modules) => check(exportsOf(modules, ENTRIES.purges) as PurgeClasses),
  ]),
);
