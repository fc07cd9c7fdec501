import { describe, test } from "vitest";
import * as edgeProgram from "../../../server/program/edge-program.ts";
import { CHECKS } from "./isolation-checks.ts";

describe("several sites on one listener", { timeout: 60_000 }, () => {
  describe.each([true, false])("with the fast way: %s", (usesFastAnswers) => {
    test.each(Object.keys(CHECKS))("%s", (name) => CHECKS[name]!(edgeProgram, { usesFastAnswers }));
  });
});
