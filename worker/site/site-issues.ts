import type * as z from "zod/mini";
import { IN_ENGLISH } from "../../wire/text/english.ts";
import { issuePath } from "../../wire/text/issue-path.ts";
import { keysAt, unknownKey } from "../../wire/text/unknown-key.ts";
import { withValue } from "./site-error.ts";

/** Words for owners, for each check of a site that has none of its own: `schema.safeParse(site, IN_WORDS)`. */
export const IN_WORDS: { readonly error: z.core.$ZodErrorMap } = { error: inWords };

const KINDS: Readonly<Record<string, string>> = {
  object: "an object in { }",
  record: "an object in { }",
  array: "a list in [ ]",
  string: "a text in quotes",
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
};

const UNITS: Readonly<Record<string, string>> = { string: "character", array: "item" };

function inWords(issue: z.core.$ZodRawIssue): ReturnType<z.core.$ZodErrorMap> {
  const kind = issue.code === "invalid_type" ? KINDS[issue.expected] : undefined;
  if (kind !== undefined) return `must be ${kind}`;
  if (issue.code !== "too_small" && issue.code !== "too_big") return IN_ENGLISH.error(issue);
  const limit = issue.code === "too_small" ? issue.minimum : issue.maximum;
  const unit = UNITS[issue.origin];
  if (unit === undefined) {
    const [within, beyond] = issue.code === "too_small" ? ["at least", "more than"] : ["at most", "less than"];
    return `must be ${issue.inclusive ? within : beyond} ${limit}`;
  }
  return `${issue.code === "too_small" ? "needs at least" : "takes at most"} ${limit} ${unit}${limit === 1 ? "" : "s"}`;
}

/** The issues of a failed check, as text. */
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
        const ofRoutes = issue.path.length === 0 ? keysAt(schema, ["routes", 0]) : [];
        const message = (key: string) =>
          ofRoutes.includes(key) ? `belongs in routes, like { match: "/*", ${key}: … }` : unknownKey(key, known);
        return issue.keys.map((key) => ({ path: issuePath([...issue.path, key]), message: message(key) }));
      }
      // A wrong key is described by the check of the key; its value does not matter.
      if (issue.code === "invalid_key") return [{ path, message: issue.issues[0]?.message ?? issue.message }];
      if (issue.path[0] === "originFields") return [{ path, message: issue.message }]; // secrets
      return [{ path, message: withValue(issue.message, valueAt(input, issue.path)) }];
    });
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown> | undefined)?.[part], input);
}
