import type { WorkerProgram } from "../../../server/program/worker-program.ts";
import { ENTRIES } from "../../mutants/entries.ts";
import { findersOf } from "../../mutants/finder.ts";
import { CHECKS } from "./isolation-checks.ts";

/** What keeps the sites of one server apart, by the checks' names. */
export const isolationFinders = findersOf(
  ENTRIES.isolation,
  Object.entries(CHECKS).map(([name, check]) => [
    name,
    (modules) => check(modules(ENTRIES.isolation[0]) as WorkerProgram, { usesFastAnswers: false }),
  ]),
);
