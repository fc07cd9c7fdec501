import leven from "leven";
import type * as z from "zod/mini";
import { issuePath } from "./issue-path.ts";

/** The most letters by which a key may differ from a known one to count as its misspelling. */
const MAX_DISTANCE = 3;

/**
 * The message for an unknown key, with the key that was probably intended: the one in `otherNames`, or the one with the
 * most similar spelling.
 */
export function unknownKey(
  key: string,
  known: readonly string[],
  otherNames: Readonly<Record<string, string>> = {},
): string {
  const byOtherName = known.find((name) => name === otherNames[key]);
  const nearest = byOtherName ?? nearestName(key, known);
  const list = `Known here: ${known.join(", ")}`;
  return nearest === null ? `unknown key. ${list}` : `unknown key; did you mean ${nearest}? ${list}`;
}

/** The most similar known name; `null` if none is similar. */
export function nearestName(name: string, known: readonly string[], maxDistance = MAX_DISTANCE): string | null {
  const [nearest] = [...known].sort((a, b) => leven(name, a) - leven(name, b));
  return nearest !== undefined && leven(name, nearest) <= maxDistance ? nearest : null;
}

/** One fault of a value, and its place. */
export interface Fault {
  readonly path: string;
  readonly message: string;
  /** The value at that place, if the check was made with `reportInput`. */
  readonly input?: unknown;
}

/** The faults of a checked value. An unknown key is a separate fault, at the place of the key. */
export function faultsOf(
  error: z.core.$ZodError,
  schema: z.core.$ZodType,
  otherNames: Readonly<Record<string, string>> = {},
): Fault[] {
  return error.issues.flatMap((issue): Fault[] => {
    if (issue.code !== "unrecognized_keys") {
      return [{ path: issuePath(issue.path), message: issue.message, input: issue.input }];
    }
    const known = keysAt(schema, issue.path);
    return issue.keys.map((key) => ({
      path: issuePath([...issue.path, key]),
      message: unknownKey(key, known, otherNames),
    }));
  });
}

/** The keys that the schema knows at a place, found through arrays, defaults, options and preprocessing. */
export function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  let here = unwrap(schema);
  for (const part of path) {
    const { shape, element, valueType } = here._zod.def as unknown as Record<string, unknown>;
    const next = typeof part === "number" ? element : ((shape as Record<PropertyKey, unknown>)?.[part] ?? valueType);
    if (!next) return [];
    here = unwrap(next as z.core.$ZodType);
  }
  return Object.keys(((here._zod.def as unknown as Record<string, unknown>).shape as object) ?? {});
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const { innerType, out } = schema._zod.def as unknown as { innerType?: z.core.$ZodType; out?: z.core.$ZodType };
  const inner = innerType ?? out;
  return inner ? unwrap(inner) : schema;
}
