import * as z from "zod/mini";

const MS_PER = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const BYTES_PER = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

const NOT_A_DURATION = 'is not a duration: write a number with a unit, like "250ms", "30s", "10m", "24h", "7d" or "2w"';
const NOT_A_SIZE = 'is not a size: write a number of bytes, or one with a unit, like "512KiB", "8MiB" or "1GiB"';

/** A duration with its unit, like `"250ms"`, `"90s"` or `"24h"`, as milliseconds. */
export const durationMs = z.pipe(
  z.string({ error: ({ input }) => durationError(input) }),
  z.transform((text: string, payload) =>
    orIssue(payload, NOT_A_DURATION, measure(text, /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/, MS_PER)),
  ),
);

/** The same as seconds. */
export const durationSeconds = z.pipe(
  durationMs,
  z.transform((ms: number) => ms / 1000),
);

/** A size with its unit, like `"8MiB"`, or a number of bytes, as bytes. */
export const sizeBytes = z.pipe(
  z.union([z.number(), z.string()], { error: NOT_A_SIZE }),
  z.transform((size: number | string, payload) =>
    orIssue(payload, NOT_A_SIZE, typeof size === "number" ? size : measure(size, /^(\d+)(B|KiB|MiB|GiB)$/, BYTES_PER)),
  ),
);

/** The correction for a bare number, which could be read as seconds or as milliseconds. */
export function durationError(input: unknown): string {
  if (typeof input !== "number" || !(input >= 0)) return NOT_A_DURATION;
  return `has no unit: write "${input}s" for seconds or "${input}ms" for milliseconds`;
}

function orIssue(payload: z.core.ParsePayload, message: string, amount: number | undefined): number {
  if (amount !== undefined && Number.isFinite(amount) && amount >= 0) return amount;
  payload.issues.push({ code: "custom", message, input: payload.value });
  return z.NEVER;
}

function measure<Unit extends string>(
  text: string,
  pattern: RegExp,
  per: Readonly<Record<Unit, number>>,
): number | undefined {
  const [, amount, unit] = pattern.exec(text) ?? [];
  return unit === undefined ? undefined : Number(amount) * per[unit as Unit];
}
