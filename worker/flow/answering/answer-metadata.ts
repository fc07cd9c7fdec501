import type { Outcome, XCache } from "../../rules/forwarding/cache-status.ts";
import { currentAgeMs } from "../../rules/freshness/current-age.ts";
import type { StoredResponse } from "../../rules/storing/stored-response.ts";
import type { Passage } from "../request-context.ts";
import type { Told } from "./answers.ts";

/** How an answer with a stored response is told at this moment. */
export function toldOf({ ports, target }: Passage, { head }: StoredResponse, xCache: XCache, outcome: Outcome): Told {
  const ageMs = currentAgeMs(head.initialAgeMs, head.receivedAt, ports.clock.now());
  const { browserTtlSeconds } = target.route;
  return { xCache, outcome, ageSeconds: Math.floor(ageMs / 1000), browserTtlSeconds };
}
