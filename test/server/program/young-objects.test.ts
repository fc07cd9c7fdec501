import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

const MODULE = new URL("../../../server/program/young-objects.ts", import.meta.url).href;

/** Lets go of 4 GiB in pieces of bodies, and tells how often V8 collected young objects alone, and all. */
const PIECES = `
import { PerformanceObserver, constants } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import { keepObjectsYoung } from ${JSON.stringify(MODULE)};
keepObjectsYoung();
const kinds = [];
new PerformanceObserver((list) => kinds.push(...list.getEntries().map(({ detail }) => detail.kind)))
  .observe({ entryTypes: ["gc"] });
for (let piece = 0; piece < 16_384; piece++) {
  Buffer.allocUnsafeSlow(256 * 1024);
  if (piece % 16 === 0) await setImmediate();
}
await setImmediate();
const count = (kind) => kinds.filter((each) => each === kind).length;
console.log(JSON.stringify([count(constants.NODE_PERFORMANCE_GC_MINOR), count(constants.NODE_PERFORMANCE_GC_MAJOR)]));
`;

it("mostly frees the pieces of bodies without looking at all objects of the process", () => {
  const counted = execFileSync(process.execPath, ["--input-type=module", "--eval", PIECES], { encoding: "utf8" });
  const [young, all] = JSON.parse(counted) as [number, number];

  // By its own setting, V8 would collect all objects some 60 times, and the young alone hardly ever.
  expect(young).toBeGreaterThan(2 * all);
});
