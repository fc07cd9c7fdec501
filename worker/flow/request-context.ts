import type { Answer, ClientRequest } from "../ports/answer.ts";
import type { BackgroundWork } from "../ports/background-work.ts";
import type { Ports } from "../ports/ports.ts";
import type { Reporter } from "../ports/reporter.ts";
import type { FoundResponse } from "../ports/store.ts";
import { hasLooped } from "../rules/forwarding/origin-request-fields.ts";
import { isWithin } from "../rules/forwarding/trusted-proxies.ts";
import type { RefusedUrl, ResolvedUrl } from "../rules/key/cache-key.ts";
import type { ReceiptToken } from "../rules/request/receipt-token.ts";
import { RequestFacts } from "../rules/request/request-facts.ts";
import type { LeftOut } from "../rules/request/second-look.ts";
import type { NotStored } from "../rules/storing/not-stored.ts";
import type { Site } from "../site/site.ts";
import type {
  CollapsedFetches,
  FetchesOfNeighbours,
  LeadingFetch,
  SharedFetch,
} from "./collapsing/collapsed-fetches.ts";
import type { Client } from "./origin/client-standings.ts";
import type { CodingChoices } from "./origin/coding-choices.ts";
import type { OriginGate } from "./origin/origin-gate.ts";
import type { OriginState } from "./origin/origin-state.ts";
import type { Place } from "./origin/permit-queue.ts";
import type { UnstoredPages } from "./origin/unstored-pages.ts";
import type { SecondLooks } from "./second-look/second-looks.ts";
import type { FillBudget } from "./storing/fill.ts";
import type { LargeFills } from "./storing/large-fills.ts";

/** The state and the ports of one isolate. */
export interface Isolate {
  readonly site: Site;
  readonly ports: Ports;
  readonly collapsed: CollapsedFetches;
  /** Absent if the platform does not know other isolates' fetches, as on Workers. */
  readonly neighbours: Neighbours | undefined;
  readonly fills: FillBudget;
  readonly largeFills: LargeFills;
  readonly originState: OriginState;
  /** `null` where nothing bounds the requests at the origin. */
  readonly originGate: OriginGate | null;
  readonly unstored: UnstoredPages;
  readonly codings: CodingChoices;
  readonly secondLooks: SecondLooks;
  /** `child`: that of the request, whose visitors have a scheme of their own. */
  readonly resolve: (url: string, child: IncomingRequest["child"]) => ResolvedUrl | RefusedUrl;
}

/** The other isolates with the same shared tier, where this one can know of their fetches. */
export interface Neighbours extends FetchesOfNeighbours {
  /** Brings what another isolate has stored into memory, so that those who look again need not read it one by one. */
  bring(context: RequestContext, fetch: SharedFetch): Promise<unknown>;
  /**
   * Leads, unless another isolate has stored a usable response since this request looked. The news of a failure may
   * have been late.
   */
  leadUnlessStored(
    context: RequestContext,
    fetch: LeadingFetch,
    attempt: { readonly token: ReceiptToken | null; readonly lookAgain: () => Answer | Promise<Answer> },
    lead: () => Promise<Answer>,
  ): Promise<Answer>;
  /**
   * Loads the response into memory with which another isolate has replaced a stale one. Returns whether it is fresh.
   */
  takeOver(context: RequestContext, stale: FoundResponse): Promise<boolean>;
}

/** A request as it arrives, with the runtime's information about it. */
export interface IncomingRequest {
  readonly request: ClientRequest;
  /** Its absolute URL, as it came over the wire. */
  readonly url: string;
  readonly background: BackgroundWork;
  /** Gets the work that stores the answer, for who waits until it is stored. Default: `background`. */
  readonly storing?: BackgroundWork;
  /** `null` where the runtime does not tell. */
  readonly clientAddress: string | null;
  /** The address at the other end of the connection, if a proxy there has given the client's address. */
  readonly peerAddress?: string | null;
  /** The client's country by ISO 3166-1; absent or `null` where the platform does not tell. */
  readonly country?: string | null;
  /** The PoP that it has arrived in; absent or `null` where the platform does not tell. */
  readonly pop?: string | null;
  /** All that the platform tells of the visitor, in its own form; absent where it tells nothing. */
  readonly visitor?: object | undefined;
  /** The cache that asks this one in place of the origin; absent or `null` if a visitor asks. */
  readonly child?: Child | null;
}

export interface Child {
  /** Its position, which binds: nothing that a shorter view has accepted, and nothing stale, may answer it. */
  readonly after: ReceiptToken;
  /** Whether an editor has asked it: `after` is no receipt, because each of its requests has one. */
  readonly isOfEditor: boolean;
  /** The most bytes of fields that it adds to its visitor's, which have met the same limit there. Default: 0. */
  readonly addedFieldBytes?: number;
}

/** A request on its way through the corridor. */
export interface RequestContext {
  readonly incoming: IncomingRequest;
  readonly isolate: Isolate;
  /** The ports of the isolate. For a request of the edge's own they report less. */
  readonly ports: Ports;
  readonly background: BackgroundWork;
  /** Runs what stores the answer. It resolves to true if that is stored. */
  readonly storing: BackgroundWork;
  readonly resolved: ResolvedUrl;
  /** The parsed request. No other code of the corridor reads its header text. */
  readonly facts: RequestFacts;
  /** True if the client asked by HEAD, and gets no body, whatever the origin is asked. */
  readonly answersHead: boolean;
  /** Sends the HEAD itself, where its page is fetched by GET, and notes that the GET was of no use. */
  readonly askByHead?: (notStored: NotStored) => Promise<Answer>;
  readonly arrival: Arrival;
  /** True if no client waits for the answer: a refresh, or a second look. */
  readonly isUnattended?: true;
  /** The place in the queue where its fetch waits for the origin, if others may wait for that fetch, too. */
  readonly place?: Place;
  /** True if it has waited for a fetch of another request in vain. It waits for none of another isolate any more. */
  readonly hasLookedAgain?: true;
  /** Looked up again after a page had been purged while the request waited for its body. */
  readonly hasJudgedAgain?: true;
  /** When it began to wait for its turn at the origin, if it did so by another request's fetch: epoch milliseconds. */
  readonly inLineSince?: number | undefined;
  /** The request as it was sent, where the origin is asked without idle fields. */
  readonly reduced?: { readonly asSent: RequestContext; readonly leftOut: LeftOut };
}

export interface Arrival {
  /** Its place in the order of arrivals (R5). */
  readonly order: number;
  readonly at: number;
  /** The same by the timer. */
  readonly startedAt: number;
}

/** Makes the context of an arriving request. */
export function openContext(incoming: IncomingRequest, isolate: Isolate, resolved: ResolvedUrl): RequestContext {
  const { request, background, storing = background, child } = incoming;
  const { method, headers } = request;
  const { site, ports, collapsed } = isolate;
  const { route, mayStore } = resolved;
  return {
    incoming,
    isolate,
    ports,
    background,
    storing,
    resolved,
    facts: new RequestFacts(method, headers, route, {
      passes: route.pass || !mayStore,
      ownOrigin: `${resolved.scheme}://${resolved.host}`,
      country: route.choices.country ? visitorsCountry(incoming, site) : null,
      after: child?.after,
    }),
    answersHead: method === "HEAD",
    arrival: { order: collapsed.nextOrder(), at: ports.clock.now(), startedAt: ports.timer.now() },
  };
}

/**
 * The country of the client, as a trusted proxy tells it or else the platform. Behind such a proxy the platform tells
 * the country of the proxy, which is not the client's.
 */
function visitorsCountry(incoming: IncomingRequest, site: Site): string | null {
  const { request, clientAddress, peerAddress = clientAddress, country } = incoming;
  const { countryField, trustedProxies } = site;
  if (countryField === null || !isWithin(peerAddress, trustedProxies)) return country ?? null;
  return request.headers.get(countryField)?.toUpperCase() ?? null;
}

/** The page that a request is for, as events name it: `url` is the cache key. */
export function pageOf({ resolved }: Pick<RequestContext, "resolved">): { route: string | null; url: string } {
  return { route: resolved.route.pattern, url: resolved.cacheKey };
}

/**
 * Whether this edge itself has sent the request. A child names the same host, and its own node beside it, which the platform
 * looks for. RFC 8586 §2.
 */
export function isLoop({ incoming, facts, resolved }: RequestContext): boolean {
  return !incoming.child && hasLooped(facts.field("cdn-loop"), resolved.host);
}

/** The client that waits for the origin, if this request does. */
export function clientOf({ incoming, facts, ports }: RequestContext): Client {
  const logId = facts.receiptToken && ports.purges.stamp()?.logId;
  return {
    address: incoming.clientAddress,
    cookieField: facts.field("cookie"),
    isRefresh: facts.mode === "refresh",
    hasReceipt: incoming.child?.isOfEditor ?? (logId !== null && facts.receiptToken?.logId === logId),
  };
}

/** The context of a fetch that no client waits for: a refresh, or a second look. */
export function unattended(context: RequestContext, facts: RequestFacts): RequestContext {
  const { ports } = context;
  return {
    ...context,
    facts,
    isUnattended: true,
    answersHead: false,
    ports: { ...ports, reporter: withoutAnswerEvents(ports.reporter) },
  };
}

/** Reports everything but answers: no client receives this one, so it is not counted. */
export function withoutAnswerEvents(reporter: Reporter): Reporter {
  return {
    report: (event) => {
      if (event.kind !== "answered" && event.kind !== "answered-by-edge") reporter.report(event);
    },
  };
}
