import * as z from "zod";

const SECONDS_PER = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
const BYTES_PER = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

const NO_DURATION = 'is a duration: a number of seconds, or like "30s", "10m", "24h", "7d", "2w"';
const NO_SIZE = 'is a size: a number of bytes, or like "512KiB", "8MiB", "1GiB"';

/** A duration in a site's words, `"90s"`, `"24h"` or a number of seconds, as seconds. */
export const durationSeconds = z
  .union([z.number(), z.string()], { error: NO_DURATION })
  .transform(parse((text) => measure(text, /^(\d+(?:\.\d+)?)([smhdw])$/, SECONDS_PER), NO_DURATION));

/** A size in a site's words, `"8MiB"` or a number of bytes, as bytes. */
export const sizeBytes = z
  .union([z.number(), z.string()], { error: NO_SIZE })
  .transform(parse((text) => measure(text, /^(\d+)(B|KiB|MiB|GiB)$/, BYTES_PER), NO_SIZE));

function parse(read: (text: string) => number | undefined, message: string) {
  return (value: number | string, context: z.RefinementCtx): number => {
    const amount = typeof value === "number" ? value : read(value);
    if (amount !== undefined && Number.isFinite(amount) && amount >= 0) return amount;
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  };
}

function measure<Unit extends string>(
  text: string,
  pattern: RegExp,
  per: Readonly<Record<Unit, number>>,
): number | undefined {
  const [, amount, unit] = pattern.exec(text) ?? [];
  return unit === undefined ? undefined : Number(amount) * per[unit as Unit];
}
