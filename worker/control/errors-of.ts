import type * as z from "zod";
import { issuePath } from "../../wire/issue-path.ts";
import type { Problem } from "../../wire/problem.ts";

/** What is wrong where: `tags[3]: a tag cannot be empty`. A kind that is not known is not also called missing. */
export function errorsOf({ issues }: z.ZodError, schema: z.ZodObject): NonNullable<Problem["errors"]> {
  const hasUnknown = issues.some((issue) => issue.code === "unrecognized_keys");
  return issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") return issue.keys.map((name) => unknownField(name, schema));
    if (hasUnknown && issue.path.length === 0) return [];
    return [{ path: issuePath(issue.path), message: issue.message }];
  });
}

function unknownField(name: string, schema: z.ZodObject): { path: string; message: string } {
  const known = Object.keys(schema.def.shape).join(", ");
  return { path: name, message: `unknown field ${name}; known are ${known}` };
}
