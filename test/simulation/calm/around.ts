import type { Backend } from "../backend.ts";
import type { Fate } from "../fate.ts";
import type { LateLog } from "../log/late-log.ts";
import type { SimulatedIsolate } from "../simulated-isolate.ts";
import type { Visitors } from "../visitors.ts";

/** What a fault of a calm world may touch. */
export interface Around {
  readonly fate: Fate;
  readonly log: LateLog;
  readonly visitors: Visitors;
  readonly backend: Backend;
  readonly leaseMs: number;
  /** For how long after a request an isolate keeps its view. Then it gives up its lease. */
  readonly keepViewMs: number;
  /** For how long the log counts with an isolate that has not given up its lease. */
  readonly rememberedByNameMs: number;
  readonly pops: readonly (readonly SimulatedIsolate[])[];
  anyIsolate(): SimulatedIsolate;
  /** An isolate dies and another takes its place. `connects`: false if that is of a version without connections. */
  replace(isolate: SimulatedIsolate, connects: boolean): SimulatedIsolate;
  /** Purges everything, and once that has settled asks every isolate for one page. */
  purgeEverything(path: string): Promise<void>;
}
