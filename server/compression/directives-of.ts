import { inPairs } from "../../worker/rules/fields/fields.ts";
import type { StoredHead } from "../../worker/rules/storing/stored-response.ts";

/** The texts of all fields of a response that hold cache directives, also of those that clients do not see. */
export function directivesOf(head: Pick<StoredHead, "fields" | "hiddenFields">): string[] {
  return [...inPairs(head.fields), ...inPairs(head.hiddenFields)].flatMap(([name, value]) =>
    name.endsWith("cache-control") || name === "surrogate-control" ? [value] : [],
  );
}
