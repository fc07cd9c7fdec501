import type * as z from "zod";

/** The error for a call that cannot be right: says of which call, where in it, and what is wrong. */
export function misuse(call: string, error: z.ZodError): TypeError {
  const wrongs = error.issues.map(({ path, message }) => (path.length === 0 ? message : `${dotted(path)}: ${message}`));
  return new TypeError(`${call}: ${wrongs.slice(0, NAMED_WRONGS).join("; ")}${more(wrongs.length - NAMED_WRONGS)}`);
}

const NAMED_WRONGS = 5;

function more(count: number): string {
  return count > 0 ? `; and ${count} more` : "";
}

/** Like `tags[3]`. Zod's own `toDotPath` is reached through a namespace that brings 300 KB into a worker's bundle. */
function dotted(path: readonly PropertyKey[]): string {
  return path.map((key) => (typeof key === "number" ? `[${key}]` : String(key))).join("");
}
