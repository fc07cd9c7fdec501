import type { BackgroundWork, Ports } from "../ports.ts";
import type { ForwardReason, XCache } from "../rules/forwarding/cache-status.ts";
import type { RefusedTarget, Target } from "../rules/key/cache-key.ts";
import { type RequestFacts, readRequestFacts } from "../rules/request/request-facts.ts";
import type { StoredResponse } from "../rules/storing/stored-response.ts";
import type { Site } from "../site/site.ts";
import type { CollapsedFetches } from "./collapsing/flights.ts";
import type { FillBudget } from "./storing/fill.ts";
import type { LargeFills } from "./storing/large-fills.ts";

/** What one isolate works with. */
export interface Isolate {
  readonly site: Site;
  readonly ports: Ports;
  readonly collapsed: CollapsedFetches;
  readonly fills: FillBudget;
  readonly largeFills: LargeFills;
  readonly resolve: (url: string) => Target | RefusedTarget;
}

/** A request as it arrives, with what the runtime tells of it. */
export interface IncomingRequest {
  readonly request: Request;
  /** `request.url`, read once: each reading of it goes through the runtime. */
  readonly url: string;
  readonly background: BackgroundWork;
  /** `null` where the runtime does not tell. */
  readonly clientAddress: string | null;
}

/** A request on its way through the corridor. */
export interface RequestContext extends Isolate, IncomingRequest {
  readonly target: Target;
  readonly facts: RequestFacts;
  /** Its place among arrivals (R5), and when it arrived. */
  readonly order: number;
  readonly arrivedAt: number;
}

/** How a look-up that found nothing usable is told. */
export interface Miss {
  readonly xCache: XCache;
  readonly reason: ForwardReason;
  readonly detail: string | undefined;
  /** What was found and may answer if the origin fails; `null` for nothing. */
  readonly selected: StoredResponse | null;
  /** What the origin may be asked to confirm, the selected one first. */
  readonly held: readonly StoredResponse[];
}

/** Reads what the corridor needs to know of an arrival. */
export function openContext(arrival: IncomingRequest, isolate: Isolate, target: Target): RequestContext {
  const { method, headers } = arrival.request;
  const policy = target.route.requestDirectives;
  return {
    ...isolate,
    ...arrival,
    target,
    facts: readRequestFacts(method, (name) => headers.get(name), target.route.pass || !target.mayStore, policy),
    order: isolate.collapsed.nextOrder(),
    arrivedAt: isolate.ports.clock.now(),
  };
}
