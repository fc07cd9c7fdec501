import type { IsolateStats } from "../wire/stats.ts";
import { type RunningIsolate, startIsolate } from "./isolate.ts";
import type { Refusal } from "./metrics/last-refusals.ts";
import type { Platform } from "./platform.ts";
import type { Tokens } from "./ports/access.ts";
import type { BackgroundWork } from "./ports/background-work.ts";
import type { ViewDelta } from "./purges/log/log-contract.ts";
import type { Stamp } from "./rules/storing/stored-response.ts";
import type { Site } from "./site/site.ts";

/** An isolate of a process that lasts: the log may push purges to it, and it may report between requests. */
export interface LearningIsolate extends RunningIsolate {
  /** Takes in purges that the log has sent without being asked (R24). Resolves to whether the view has reached them. */
  learn(delta: ViewDelta, background: BackgroundWork): Promise<boolean>;
  /** Reports to the ledger if that is due, where no request comes for a while. */
  reportIfDue(background: BackgroundWork): void;
  /** Reports what it has counted up to now, because somebody asks. Never rejects. */
  reportNow(): Promise<void>;
  /** Reports what is left, because the isolate ends. Resolves to how many requests the ledger may lack. Never rejects. */
  reportLast(): Promise<number>;
  /** Why and when the last answer of a page was not stored, as far as this isolate knows. */
  lastRefusal(url: string): Refusal | undefined;
  /** How far it has read the log; `null` before it has. */
  readonly position: Stamp | null;
  /** The owner's tokens. Wrong ones are counted and refused late. */
  readonly tokens: Tokens;
  /** Its requests at the origin, and those that wait for their turn there; `null` where nothing bounds them. */
  readonly atOrigin: IsolateStats["atOrigin"] | null;
}

/** Starts an isolate in a process that lasts. */
export function startLearningIsolate(site: Site, platform: Platform): LearningIsolate {
  const { fetch, corridor, purging, reports, tokens } = startIsolate(site, platform);
  return {
    get position() {
      return purging.view.position;
    },
    get atOrigin() {
      return corridor.originGate?.counts ?? null;
    },
    tokens,
    lastRefusal: (url) => platform.reporter.lastRefusals.of(url),
    learn: (delta, background) => purging.purges.learn(delta, background),
    reportIfDue: (background) => {
      if (reports?.isDue) background.run(reports.send());
    },
    reportNow: async () => reports?.sendAll("now"),
    reportLast: async () => {
      await reports?.sendAll("last");
      return reports?.unreported ?? 0;
    },
    fetch,
  };
}
