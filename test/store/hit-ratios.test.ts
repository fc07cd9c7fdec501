import { describe, expect, test } from "vitest";
import { inGate } from "../suite/depth.ts";
import { bytesOfPages, compare, MAX_BEHIND } from "./eviction/comparison.ts";
import { allTraffic } from "./eviction/traffic.ts";

/** Enough for the sketch to halve its counts. */
const REQUESTS = 30_000;
const SEED = 1;

describe("memory and disk have the hit ratio of the best online policy, or at most a point less", () => {
  test.for(inGate(5, allTraffic(REQUESTS, SEED)).map((traffic) => [traffic.name, traffic] as const))(
    "%s",
    ([, traffic]) => {
      const { policies, ahead } = compare(traffic, bytesOfPages(250));
      expect(ahead.byRequests, JSON.stringify(policies)).toBeGreaterThanOrEqual(-MAX_BEHIND);
    },
  );
});
