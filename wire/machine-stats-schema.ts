import * as z from "zod/mini";

const count = z.int().check(z.nonnegative());

const originQueue = z.nullable(
  z.object({ running: count, concurrency: count, waiting: count, maxWaiting: count, longestWaitMs: count }),
);

/** The schema of `MachineStats` in `machine-stats.ts`, which describes the fields. */
export const machineStatsSchema = z.object({
  name: z.string(),
  memory: z.object({ bytes: count, maxBytes: count }),
  disk: z.nullable(
    z.object({
      usedBytes: count,
      maxBytes: count,
      freeBytes: z.nullable(count),
      files: count,
      evictions: count,
    }),
  ),
  log: z.object({ isWritable: z.boolean(), freeBytes: z.nullable(count) }),
  origin: originQueue,
  processes: z.array(
    z.object({
      name: z.string(),
      pid: count,
      isDraining: z.boolean(),
      residentBytes: count,
      openFiles: z.nullable(count),
      maxOpenFiles: z.nullable(count),
      worker: z.nullable(
        z.object({
          connections: count,
          maxConnections: count,
          memory: z.object({ entries: count, bytes: count, maxBytes: count, evictions: count }),
          origin: originQueue,
        }),
      ),
    }),
  ),
  workerDeaths: count,
  certificates: z.array(
    z.object({
      file: z.string(),
      names: z.array(z.string()),
      startsAt: z.optional(z.iso.datetime()),
      expiresAt: z.iso.datetime(),
    }),
  ),
  inWords: z.array(z.string()),
});
