import { installMissing, isInstalled } from "../debian-programs.ts";
import { measureWithAutocannon } from "./autocannon.ts";
import type { Load, LoadSettings } from "./load.ts";
import { measureWithWrk, WRK } from "./wrk.ts";

/** Requests one URL over and over on keep-alive connections, in a process of its own. */
export interface LoadGenerator {
  readonly name: string;
  measure(url: URL, settings: LoadSettings): Promise<Load>;
}

/** wrk, if it is installed or `install` can install it; otherwise autocannon, which takes a whole core for itself. */
export function chooseLoadGenerator(install: boolean): LoadGenerator {
  if (install) installMissing([WRK]);
  if (isInstalled(WRK)) return { name: "wrk", measure: measureWithWrk };
  return {
    name: "autocannon (wrk is missing; as root on Debian, --install installs it): expect client-bound rows",
    measure: measureWithAutocannon,
  };
}
