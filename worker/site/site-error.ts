import leven from "leven";
import type * as z from "zod";
import { issuePath } from "../../wire/issue-path.ts";

/** The mistakes in a site's rules, all at once: each line names the place, the value and what to do. */
export class SiteError extends Error {
  override readonly name = "SiteError";
  readonly errors: readonly { readonly path: string; readonly message: string }[];

  constructor(errors: readonly { readonly path: string; readonly message: string }[]) {
    super(`the site's rules are not valid:\n${errors.map(({ path, message }) => `  ${path}: ${message}`).join("\n")}`);
    this.errors = errors;
  }
}

/** The issues of a failed check, in words. */
export function siteErrors(error: z.ZodError, schema: z.ZodType, input: unknown): { path: string; message: string }[] {
  // Unknown keys first: a required key that is missing is often the one that was misspelt.
  const isUnknown = (issue: z.core.$ZodIssue) => Number(issue.code === "unrecognized_keys");
  return error.issues
    .toSorted((a, b) => isUnknown(b) - isUnknown(a))
    .flatMap((issue) => {
      const path = issuePath(issue.path) || "the site";
      if (issue.code === "unrecognized_keys") {
        const known = keysAt(schema, issue.path);
        return issue.keys.map((key) => ({ path: issuePath([...issue.path, key]), message: unknownKey(key, known) }));
      }
      return [{ path, message: `${issue.message}; found ${show(valueAt(input, issue.path))}` }];
    });
}

function unknownKey(key: string, known: readonly string[]): string {
  const nearest = [...known].sort((a, b) => leven(key, a) - leven(key, b))[0];
  const hint = nearest !== undefined && leven(key, nearest) <= 3 ? `; did you mean ${nearest}?` : "";
  return `unknown key${hint} Known here: ${known.join(", ")}`.replace("key Known", "key. Known");
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown> | undefined)?.[part], input);
}

function show(value: unknown): string {
  return value === undefined ? "nothing" : (JSON.stringify(value)?.slice(0, 80) ?? String(value));
}

/** The keys that the schema knows at a place, inside arrays, defaults and optional values, too. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let here = unwrap(schema);
  for (const part of path) {
    const { shape, element, valueType } = here.def as unknown as Record<string, unknown>;
    const next = typeof part === "number" ? element : ((shape as Record<PropertyKey, unknown>)?.[part] ?? valueType);
    if (!next) return [];
    here = unwrap(next as z.ZodType);
  }
  return Object.keys(((here.def as unknown as Record<string, unknown>).shape as object) ?? {});
}

function unwrap(schema: z.ZodType): z.ZodType {
  const { innerType } = schema.def as unknown as { innerType?: z.ZodType };
  return innerType ? unwrap(innerType) : schema;
}
