import { isControl } from "../wire/fields.ts";
import type { IsolateStats } from "../wire/stats.ts";
import { throttleWrongTokens } from "./control/access/wrong-token-throttle.ts";
import { answerOurselves } from "./flow/answering/answers.ts";
import { CacheKeyMemo } from "./flow/cache-key-memo.ts";
import { CollapsedFetches } from "./flow/collapsing/collapsed-fetches.ts";
import { handle, handleWithoutCache } from "./flow/corridor.ts";
import { CodingChoices } from "./flow/origin/coding-choices.ts";
import { OriginGate } from "./flow/origin/origin-gate.ts";
import { OriginState } from "./flow/origin/origin-state.ts";
import { UnstoredPages } from "./flow/origin/unstored-pages.ts";
import type { IncomingRequest, Isolate } from "./flow/request-context.ts";
import { SecondLooks } from "./flow/second-look/second-looks.ts";
import { FillBudget } from "./flow/storing/fill.ts";
import { LargeFills } from "./flow/storing/large-fills.ts";
import { Reports } from "./metrics/reports.ts";
import { ReuseSample } from "./metrics/reuse-sample.ts";
import type { Platform } from "./platform.ts";
import type { Tokens } from "./ports/access.ts";
import type { Answer, ClientRequest } from "./ports/answer.ts";
import type { BackgroundWork } from "./ports/background-work.ts";
import type { Timer } from "./ports/clock.ts";
import { type OpenView, openView } from "./purges/open-view.ts";
import type { Site } from "./site/site.ts";
import { MemoryTier } from "./store/memory-tier.ts";
import { TieredStore } from "./store/tiered-store.ts";

export { KnownNeighbours } from "./flow/collapsing/neighbours.ts";
export type { IncomingRequest } from "./flow/request-context.ts";
export { FillBudget } from "./flow/storing/fill.ts";

export type EdgeAnswer = Answer | Response;

/** One running isolate of the edge. */
export interface RunningIsolate {
  /** Answers every request, even if the edge itself fails (promise 6). The control plane answers by the web's class. */
  fetch(incoming: IncomingRequest): EdgeAnswer | Promise<EdgeAnswer>;
}

/** An isolate with what it is wired from, for a platform that does more with it than have requests answered. */
export interface WiredIsolate extends RunningIsolate {
  readonly corridor: Isolate;
  readonly purging: OpenView;
  /** `undefined` where nothing is reported. */
  readonly reports: Reports | undefined;
  /** The owner's tokens. Wrong ones are counted and refused late. */
  readonly tokens: Tokens;
}

/** Wires one isolate: the corridor, the control plane, and an outer catch around both. */
export function startIsolate(site: Site, platform: Platform): WiredIsolate {
  const { clock, reporter, compression } = platform;
  const startedAt = clock.now();
  const reuse = new ReuseSample();
  const codedBytesOf = compression && ((body: Uint8Array) => compression.codedBytesOf(body));
  const memory = new MemoryTier(site.limits.memoryBytes, reuse, platform.memory, codedBytesOf);
  const heldMemory = () => ({ entries: memory.size, bytes: memory.heldBytes, maxBytes: site.limits.memoryBytes });
  const reports = platform.ledger && new Reports(platform.ledger, reporter, clock, heldMemory);
  const tokens = throttleWrongTokens(platform.tokens, clock, reporter);
  const timer = platform.timer ?? { now: () => clock.now(), runsInMemory: false };
  reporter.begin(site.routes, timer, reuse);
  const purging = openView(site, platform, reports);
  const corridor = corridorParts(site, { ...platform, timer, tokens }, memory, purging);
  const stats = (): IsolateStats => ({
    version: 1,
    scope: "isolate",
    startedAt: new Date(startedAt).toISOString(),
    ...reporter.counts(),
    memory: heldMemory(),
    fills: { bytes: corridor.fills.heldBytes, maxBytes: site.limits.fillBytes },
    atOrigin: corridor.originGate?.counts ?? { running: 0, waiting: 0, maxWaiting: 0, longestWaitMs: 0 },
    view: purging.held(),
  });
  const control = platform.control(site, { ...platform, tokens }, { corridor, memory, purging, reports, stats });
  const answer = (incoming: IncomingRequest): EdgeAnswer | Promise<EdgeAnswer> =>
    isForControl(site, incoming.request, incoming.url) ? control.fetch(incoming) : handle(incoming, corridor);
  /** A report that is due goes with a read of the log. If there is no read, it is sent after an answer. */
  const reportBehind = <T>(background: BackgroundWork, sent: T): T => {
    if (reporter.isReportDue && reports) background.run(reports.send());
    return sent;
  };

  return {
    corridor,
    purging,
    reports,
    tokens,
    fetch(incoming) {
      if (reports && incoming.pop && !platform.ledger?.pop) reports.pop = incoming.pop;
      const given = refusedAtOnce(corridor, incoming.url) ?? withRescue(corridor, incoming, answer);
      if (given instanceof Promise) return given.then((sent) => reportBehind(incoming.background, sent));
      return reportBehind(incoming.background, given);
    },
  };
}

/** The state and the ports of the corridor. */
function corridorParts(
  site: Site,
  platform: Platform & { readonly timer: Timer },
  memory: MemoryTier,
  { purges, invalidations }: OpenView,
): Isolate {
  const { clock, neighbours, sharedTier, reporter } = platform;
  const cacheKeys = new CacheKeyMemo(site);
  // Without `publicUrl`, a scheme in place of the request's own is that of this server's visitors alone.
  const isOwnScheme = site.publicScheme !== null && site.publicHost === null;
  const keysOfChildren = isOwnScheme ? new CacheKeyMemo({ ...site, publicScheme: null }) : cacheKeys;
  return {
    site,
    ports: { ...platform, store: new TieredStore(memory, sharedTier, reporter, clock), purges, invalidations },
    collapsed: new CollapsedFetches(clock, neighbours),
    neighbours,
    fills: new FillBudget(site.limits.fillBytes, site.limits.fills, platform.fills),
    largeFills: new LargeFills(),
    originState: new OriginState(site.limits.originDownAfter, site.limits.originTimeoutMs, platform.originTalk),
    originGate: gateOf(site, platform),
    unstored: new UnstoredPages(),
    codings: new CodingChoices(),
    secondLooks: new SecondLooks(),
    resolve: (url, child) => (child ? keysOfChildren : cacheKeys).resolve(url),
  };
}

/** A cache in place of the origin has a gate of its own before it. */
function gateOf({ capacity }: Site, platform: Platform): OriginGate | null {
  return capacity === null || platform.origin.isCache ? null : new OriginGate(capacity, platform);
}

/** The refusal of a request that no part of the edge may see. */
function refusedAtOnce(isolate: Isolate, url: string): Answer | undefined {
  const { namesHosts, limits } = isolate.site;
  if (!namesHosts) return answerOurselves(isolate, 503, "no-hosts", NO_HOSTS);
  if (url.length <= limits.urlBytes) return undefined;
  return answerOurselves(isolate, 414, "url-too-long", `This URL is longer than ${limits.urlBytes} bytes.`);
}

/**
 * Answers a request. A bug of the edge must not take the site down, so the request is then sent to the origin; one that
 * cannot be sent again gets a 502.
 */
function withRescue(
  isolate: Isolate,
  incoming: IncomingRequest,
  answer: (incoming: IncomingRequest) => EdgeAnswer | Promise<EdgeAnswer>,
): EdgeAnswer | Promise<EdgeAnswer> {
  try {
    const given = answer(incoming);
    return given instanceof Promise ? given.catch((cause: unknown) => rescue(isolate, incoming, cause)) : given;
  } catch (cause) {
    return rescue(isolate, incoming, cause);
  }
}

async function rescue(isolate: Isolate, incoming: IncomingRequest, cause: unknown): Promise<EdgeAnswer> {
  const { request, url } = incoming;
  const isSentOn = !request.bodyUsed && !isForControl(isolate.site, request, url);
  isolate.ports.reporter.report({ kind: "failed", cause, isSentOn });
  const failed = () => answerOurselves(isolate, 502, "failed", "502: the edge failed on this request.");
  return isSentOn ? handleWithoutCache(incoming, isolate).catch(failed) : failed();
}

/** Whether the control plane answers. A site that does not know BAN leaves it to its origin. */
export function isForControl({ doors }: Site, { method }: ClientRequest, url: string): boolean {
  return method === "PURGE" || isControl(url) || (method === "BAN" && doors.varnish !== undefined);
}

const NO_HOSTS =
  "This edge does not know its public hosts yet. Name them in hosts in the site's config, or in TIDEMARK_HOSTS.";
