import { describe, test } from "vitest";
import * as edgeProgram from "../../../server/program/edge-program.ts";
import { CHECKS } from "./isolation-checks.ts";

/** By these, pages or purges would get from one site to another. */
const TELLING = [
  "each request on a connection has the site of its own host",
  "requests sent at once on a connection keep their sites",
  "each request of a connection in HTTP/2 has the site of its own authority",
  "no site finds the pages of another on the disk",
  "a purge reaches its own site alone",
  "a token opens the control plane of its own site alone",
];
const others = Object.keys(CHECKS).filter((name) => !TELLING.includes(name));

describe("several sites on one listener", { timeout: 60_000 }, () => {
  describe.each([
    { usesFastAnswers: true, tags: [] },
    { usesFastAnswers: false, tags: ["deep"] },
  ])("with the fast way: $usesFastAnswers", ({ usesFastAnswers, tags }) => {
    const holds = (name: string) => CHECKS[name]!(edgeProgram, { usesFastAnswers });
    test.each(TELLING)("%s", { tags }, holds);
    test.each(others)("%s", { tags: ["deep"] }, holds);
  });
});
