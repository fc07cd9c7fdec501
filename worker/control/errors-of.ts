import type * as z from "zod/mini";
import type { Problem } from "../../wire/problem.ts";
import { issuePath } from "../../wire/text/issue-path.ts";

/**
 * The issues of a check, each with its place: `tags[3]: a tag cannot be empty`. If a field is unknown, issues of the
 * whole request are left out, such as that it names no items.
 */
export function errorsOf({ issues }: z.core.$ZodError, schema: z.core.$ZodObject): NonNullable<Problem["errors"]> {
  const hasUnknown = issues.some((issue) => issue.code === "unrecognized_keys");
  return issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") return issue.keys.map((name) => unknownField(name, schema));
    if (hasUnknown && issue.path.length === 0) return [];
    return [{ path: issuePath(issue.path), message: issue.message }];
  });
}

function unknownField(name: string, schema: z.core.$ZodObject): { path: string; message: string } {
  const known = Object.keys(schema._zod.def.shape).join(", ");
  return { path: name, message: `unknown field ${name}; known are ${known}` };
}
