import { measureWithAutocannon } from "./autocannon.ts";
import type { Load, LoadSettings } from "./load.ts";
import { hasWrk, installWrk, measureWithWrk } from "./wrk.ts";

/** Asks one URL over and over on keep-alive connections, in a process of its own. */
export interface LoadGenerator {
  readonly name: string;
  measure(url: URL, settings: LoadSettings): Promise<Load>;
}

/** wrk where there is one, or with `install` where it can be installed; else autocannon, which takes a core for itself. */
export function chooseLoadGenerator(install: boolean): LoadGenerator {
  if (!hasWrk() && install) installWrk();
  if (hasWrk()) return { name: "wrk", measure: measureWithWrk };
  return {
    name: "autocannon (no wrk here; as root on Debian, --install gets it: expect client-bound rows)",
    measure: measureWithAutocannon,
  };
}
