import type * as z from "zod/mini";

/**
 * English messages for faults without their own message: `schema.safeParse(value, IN_ENGLISH)`. The words are those of
 * zod's English locale, which zod/mini leaves out and which is mostly about formats that no schema here uses. They are
 * passed to each check, because a global setting of zod would apply to the whole program into which this is bundled.
 */
export const IN_ENGLISH: { readonly error: z.core.$ZodErrorMap } = { error: inEnglish };

function inEnglish(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `Invalid input: expected ${issue.expected}, received ${kindOf(issue.input)}`;
    case "invalid_value": {
      const values = issue.values.map((value) => JSON.stringify(value)).join("|");
      return issue.values.length === 1
        ? `Invalid input: expected ${values}`
        : `Invalid option: expected one of ${values}`;
    }
    case "too_small":
      return `Too small: expected ${sized(issue.origin, ">", issue.inclusive, issue.minimum)}`;
    case "too_big":
      return `Too big: expected ${sized(issue.origin, "<", issue.inclusive, issue.maximum)}`;
    case "invalid_format":
      return `Invalid string: must match pattern ${issue.pattern}`;
    case "unrecognized_keys":
      return `Unrecognized keys: ${issue.keys.join(", ")}`;
    default:
      return "Invalid input";
  }
}

function sized(origin: string, sign: string, inclusive: boolean | undefined, limit: number | bigint): string {
  const bound = `${sign}${inclusive ? "=" : ""}${limit}`;
  const unit = { string: "characters", array: "items" }[origin];
  return unit === undefined ? `${origin} to be ${bound}` : `${origin} to have ${bound} ${unit}`;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : typeof value;
}
