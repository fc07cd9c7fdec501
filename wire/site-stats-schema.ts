import * as z from "zod/mini";
import { machineStatsSchema } from "./machine-stats-schema.ts";
import { statsSchema } from "./stats-schema.ts";

const count = z.int().check(z.nonnegative());
const countsByName = z.record(z.string(), count);
const amount = z.number().check(z.nonnegative());
const time = z.optional(z.object({ count, meanMs: amount, p50Ms: amount, p95Ms: amount, p99Ms: amount }));
const times = z.object({ memory: time, shared: time, origin: time, failed: time });
const bytes = z.object({ fromCache: count, fromOrigin: count });
const lifetimes = z.record(z.string(), count);
const compared = z.object({
  keys: z.record(z.string(), z.object({ fetches: count, same: count, different: count })),
  lifetimes,
  missingLifetimes: lifetimes,
  refetched: z.object({ same: count, different: count, elapsedMs: amount }),
  visitors: z.object({ same: count, different: count }),
});
const topUrl = z.object({
  url: z.string(),
  weight: amount,
  error: amount,
  times: count,
  because: z.optional(z.string()),
});
const topUrls = z.array(topUrl);

const siteCountsSchema = z.extend(
  z.omit(statsSchema, {
    version: true,
    scope: true,
    startedAt: true,
    memory: true,
    fills: true,
    atOrigin: true,
    view: true,
  }),
  {
    requests: count,
    fromCache: count,
    statuses: countsByName,
    bytes: z.extend(bytes, { unmeasuredBodies: count }),
    times,
    purgedKeysRead: count,
  },
);

/** The schema of `SiteStats` in `stats.ts`, which describes the fields. */
export const siteStatsSchema = z.extend(siteCountsSchema, {
  version: z.literal(1),
  scope: z.literal("site"),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  isCurrent: z.optional(z.literal(true)),
  pop: z.nullable(z.string()),
  isolates: z.object({
    reported: count,
    silent: count,
    alive: count,
    memoryBytes: count,
    memoryMaxBytes: count,
    heardMs: amount,
    unheardMs: amount,
    heardShare: amount,
  }),
  spanMs: count,
  spans: z.array(
    z.extend(
      z.pick(siteCountsSchema, {
        requests: true,
        fromCache: true,
        statuses: true,
        origin: true,
        bytes: true,
        times: true,
      }),
      { at: z.iso.datetime() },
    ),
  ),
  waits: time,
  memory: z.optional(
    z.object({
      uses: count,
      held: count,
      maxBytes: count,
      curve: z.array(z.object({ bytes: amount, hitRatio: amount })),
    }),
  ),
  routes: z.record(
    z.string(),
    z.object({
      requests: count,
      fromCache: count,
      answers: countsByName,
      statuses: countsByName,
      bytes,
      times,
      refused: countsByName,
      compared,
    }),
  ),
  top: z.nullable(z.object({ missed: topUrls, bytes: topUrls, slowest: topUrls, notStored: topUrls })),
  pops: z.record(z.string(), siteCountsSchema),
  machine: z.optional(machineStatsSchema),
});
