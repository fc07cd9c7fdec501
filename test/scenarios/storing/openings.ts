import type { Reply } from "../../../local/cdn/scripted-origin.ts";
import type { Scenario, Step } from "../../engine/scenario.ts";

/** Expects the same of each path. */
export function each(paths: readonly string[], expected: Extract<Step, { get: string }>["expect"]): readonly Step[] {
  return paths.map((get) => ({ get, expect: expected }));
}

/** Pages by path, none of which is stored, all for this reason. */
export function neverStored(
  replies: Readonly<Record<string, Reply>>,
  because: string,
): Pick<Scenario, "origin" | "steps"> {
  const paths = Object.keys(replies);
  return {
    origin: Object.fromEntries(Object.entries(replies).map(([path, reply]) => [path, [reply]])),
    steps: [
      ...each(paths, { xCache: "MISS", cacheStatus: new RegExp(`; detail=${because}$`) }),
      ...each(paths, { xCache: "MISS" }),
    ],
  };
}
