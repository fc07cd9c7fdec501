import * as z from "zod";

const SECONDS_PER = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
const BYTES_PER = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

/** A duration in a site's words, `"90s"`, `"24h"` or a number of seconds, as seconds. */
export const durationSeconds = z
  .union([z.number().nonnegative(), z.string().regex(/^\d+(\.\d+)?[smhdw]$/)], {
    error: 'is a duration: a number of seconds, or like "30s", "10m", "24h", "7d", "2w"',
  })
  .transform((value) => {
    if (typeof value === "number") return value;
    return Number(value.slice(0, -1)) * SECONDS_PER[value.at(-1) as keyof typeof SECONDS_PER];
  });

/** A size in a site's words, `"8MiB"` or a number of bytes, as bytes. */
export const sizeBytes = z
  .union([z.int().nonnegative(), z.string().regex(/^\d+(B|KiB|MiB|GiB)$/)], {
    error: 'is a size: a number of bytes, or like "512KiB", "8MiB", "1GiB"',
  })
  .transform((value) => {
    if (typeof value === "number") return value;
    const [, count, unit] = /^(\d+)(B|KiB|MiB|GiB)$/.exec(value) as unknown as [string, string, keyof typeof BYTES_PER];
    return Number(count) * BYTES_PER[unit];
  });
