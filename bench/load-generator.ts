import { measureWithAutocannon } from "./autocannon.ts";
import { hasWrk, installWrk, measureWithWrk } from "./wrk.ts";

/** What one stretch of load came to. */
export interface Load {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers that were not 2xx, and requests without an answer. */
  readonly failures: number;
  /** The generator's own CPU time over the wall time: 1 is one core. */
  readonly generatorCpu: number;
}

export interface LoadSettings {
  readonly connections: number;
  readonly seconds: number;
}

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
