import type * as z from "zod/mini";
import type { Problem } from "../../wire/problem.ts";
import { issuePath } from "../../wire/text/issue-path.ts";

/** The most errors that an answer tells: a purge of thousands of items may have an error in each. */
const MAX_ERRORS = 20;

/**
 * The issues of a check, each with its place: `tags[3]: a tag cannot be empty`. If a field is unknown, issues of the
 * whole request are left out, such as that it names no items.
 */
export function errorsOf({ issues }: z.core.$ZodError, schema: z.core.$ZodObject): NonNullable<Problem["errors"]> {
  const hasUnknown = issues.some((issue) => issue.code === "unrecognized_keys");
  const errors = issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") return issue.keys.map((name) => unknownField(name, schema));
    if (hasUnknown && issue.path.length === 0) return [];
    return [{ path: issuePath(issue.path), message: issue.message }];
  });
  return limitErrors(errors);
}

/** The first errors, and how many there are more. */
export function limitErrors(errors: NonNullable<Problem["errors"]>): NonNullable<Problem["errors"]> {
  const more = errors.length - MAX_ERRORS;
  return more > 0 ? [...errors.slice(0, MAX_ERRORS), { path: "", message: `and ${more} more` }] : errors;
}

function unknownField(name: string, schema: z.core.$ZodObject): { path: string; message: string } {
  const known = Object.keys(schema._zod.def.shape).join(", ");
  return { path: name, message: `unknown field ${name}; known are ${known}` };
}
