import type { ResolvedUrl } from "../../rules/key/cache-key.ts";

/** Where a field chooses pages, or chooses none. */
export interface Place {
  /** The route's pattern; `null` where no route matches. */
  readonly route: string | null;
  /** The path up to its last slash. */
  readonly folder: string;
}

export function placeOf({ route, pathAndQuery }: Pick<ResolvedUrl, "route" | "pathAndQuery">): Place {
  const path = pathAndQuery.split("?", 1)[0]!;
  return { route: route.pattern, folder: path.slice(0, path.lastIndexOf("/") + 1) };
}
