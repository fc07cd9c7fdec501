import type { BackgroundWork, Ports } from "../ports.ts";
import type { RefusedUrl, ResolvedUrl } from "../rules/key/cache-key.ts";
import { RequestFacts } from "../rules/request/request-facts.ts";
import type { Site } from "../site/site.ts";
import type { CollapsedFetches } from "./collapsing/collapsed-fetches.ts";
import type { FillBudget } from "./storing/fill.ts";
import type { LargeFills } from "./storing/large-fills.ts";
import type { SecondLooks } from "./storing/second-looks.ts";

/** What one isolate works with. */
export interface Isolate {
  readonly site: Site;
  readonly ports: Ports;
  readonly collapsed: CollapsedFetches;
  readonly fills: FillBudget;
  readonly largeFills: LargeFills;
  readonly secondLooks: SecondLooks;
  readonly resolve: (url: string) => ResolvedUrl | RefusedUrl;
}

/** A request as it arrives, with what the runtime says about it. */
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
  readonly resolved: ResolvedUrl;
  /** What the request says. Nothing in the corridor looks at its header text. */
  readonly facts: RequestFacts;
  /** Its place among arrivals (R5), and when it arrived. */
  readonly order: number;
  readonly arrivedAt: number;
}

/** Reads what the corridor needs to know of an arrival. */
export function openContext(arrival: IncomingRequest, isolate: Isolate, resolved: ResolvedUrl): RequestContext {
  const { method, headers } = arrival.request;
  const { route, mayStore } = resolved;
  const facts = new RequestFacts(method, headers, {
    passes: route.pass || !mayStore,
    directives: route.requestDirectives,
    keyFields: route.keyFields,
    droppedFields: route.droppedFields,
    trustedFields: route.trustedFields,
    ignoredCookies: isolate.site.ignoredCookies,
  });
  return {
    ...isolate,
    ...arrival,
    resolved,
    facts,
    order: isolate.collapsed.nextOrder(),
    arrivedAt: isolate.ports.clock.now(),
  };
}
