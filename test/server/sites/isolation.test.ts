import { describe, test } from "vitest";
import * as edgeProgram from "../../../server/program/edge-program.ts";
import { CHECKS } from "./isolation-checks.ts";

describe("several sites on one listener", { timeout: 60_000 }, () => {
  describe.each([
    { usesFastAnswers: true, tags: [] },
    { usesFastAnswers: false, tags: ["deep"] },
  ])("with the fast way: $usesFastAnswers", ({ usesFastAnswers, tags }) => {
    test.each(Object.keys(CHECKS))("%s", { tags }, (name) => CHECKS[name]!(edgeProgram, { usesFastAnswers }));
  });
});
