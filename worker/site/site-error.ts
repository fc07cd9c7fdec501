import type * as z from "zod/mini";
import { issuePath } from "../../wire/issue-path.ts";
import { keysAt, unknownKey } from "../../wire/unknown-key.ts";

/** All mistakes in a site's rules. Each line gives the place, the value and the correction. */
export class SiteError extends Error {
  override readonly name = "SiteError";
  readonly errors: readonly { readonly path: string; readonly message: string }[];

  constructor(errors: readonly { readonly path: string; readonly message: string }[]) {
    super(`the site's rules are not valid:\n${errors.map(({ path, message }) => `  ${path}: ${message}`).join("\n")}`);
    this.errors = errors;
  }
}

/** The issues of a failed check, in words. */
export function siteErrors(
  error: z.core.$ZodError,
  schema: z.core.$ZodType,
  input: unknown,
): { path: string; message: string }[] {
  // Unknown keys come first, because a missing required key is often one that was misspelt.
  const isUnknown = (issue: z.core.$ZodIssue) => Number(issue.code === "unrecognized_keys");
  return error.issues
    .toSorted((a, b) => isUnknown(b) - isUnknown(a))
    .flatMap((issue) => {
      const path = issuePath(issue.path) || "the site";
      if (issue.code === "unrecognized_keys") {
        const known = keysAt(schema, issue.path);
        return issue.keys.map((key) => ({ path: issuePath([...issue.path, key]), message: unknownKey(key, known) }));
      }
      // What is wrong with a key is what the check of the key says, and its value is beside the point.
      if (issue.code === "invalid_key") return [{ path, message: issue.issues[0]?.message ?? issue.message }];
      return [{ path, message: withValue(issue.message, valueAt(input, issue.path)) }];
    });
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown> | undefined)?.[part], input);
}

/** What is wrong with a value, and the value, cut where it is long. */
export function withValue(message: string, value: unknown): string {
  const shown = value === undefined ? "nothing" : (JSON.stringify(value)?.slice(0, 80) ?? String(value));
  return `${message}; found ${shown}`;
}
