import { CONTROL_PREFIX } from "../wire/fields.ts";
import type { IsolateStats } from "../wire/stats.ts";
import { throttleWrongTokens } from "./control/access/wrong-token-throttle.ts";
import { controlPlane } from "./control/app.ts";
import { recordBody } from "./control/purging/audit.ts";
import { explain } from "./explain/explain.ts";
import { CacheKeyMemo } from "./flow/cache-key-memo.ts";
import { CollapsedFetches } from "./flow/collapsing/collapsed-fetches.ts";
import { answerOurselves, handle, handleWithoutCache } from "./flow/corridor.ts";
import { CodingChoices } from "./flow/origin/coding-choices.ts";
import { HeadOnlyPages } from "./flow/origin/head-only-pages.ts";
import type { IncomingRequest, Isolate, Neighbours } from "./flow/request-context.ts";
import { SecondLooks } from "./flow/second-look/second-looks.ts";
import { FillBudget } from "./flow/storing/fill.ts";
import { LargeFills } from "./flow/storing/large-fills.ts";
import { Counters } from "./metrics/counters.ts";
import { type LedgerAccess, Reports } from "./metrics/reports.ts";
import { ReuseSample } from "./metrics/reuse-sample.ts";
import type { Tokens } from "./ports/access.ts";
import type { Answer, ClientRequest } from "./ports/answer.ts";
import type { BackgroundWork } from "./ports/background-work.ts";
import type { Bodies } from "./ports/bodies.ts";
import type { Clock, Timer } from "./ports/clock.ts";
import type { Origin } from "./ports/origin.ts";
import type { PurgeAudit } from "./ports/purge-log.ts";
import type { Reporter } from "./ports/reporter.ts";
import type { Compression, PopNotes } from "./ports/store.ts";
import { LogInvalidations } from "./purges/invalidations.ts";
import { PopSharing } from "./purges/lease/pop-sharing.ts";
import { ReadYourWritesLog } from "./purges/lease/read-your-writes-log.ts";
import { ViewLease } from "./purges/lease/view-lease.ts";
import type { PurgeLogClient, ViewDelta } from "./purges/log/log-contract.ts";
import { PurgeView } from "./purges/view/purge-view.ts";
import type { Fields } from "./rules/fields/fields.ts";
import { resolveUrl } from "./rules/key/cache-key.ts";
import type { Stamp, StoredHead } from "./rules/storing/stored-response.ts";
import type { Site } from "./site/site.ts";
import { type MemoryEntries, MemoryTier } from "./store/memory-tier.ts";
import { type SharedTier, TieredStore } from "./store/tiered-store.ts";
import { UnchangedStore } from "./store/unchanged-store.ts";

/**
 * The services that a platform provides for one isolate. The Workers runtime, the server on Node and the tests' memory
 * engine are platforms.
 */
export interface Platform {
  readonly clock: Clock;
  /** A number from 0 up to, but not including, 1. */
  readonly random: () => number;
  readonly sharedTier: SharedTier;
  readonly notes: PopNotes;
  readonly origin: Origin;
  readonly log: PurgeLogClient;
  readonly audit: PurgeAudit;
  readonly bodies: Bodies;
  readonly tokens: Tokens;
  /** A request as the web's class, for the control plane. */
  readonly webRequest: (incoming: IncomingRequest) => Request;
  readonly reporter: Counters;
  /** Default: the clock. */
  readonly timer?: Timer;
  /** The site's ledger, to which the isolate reports. Default: it reports to none. */
  readonly ledger?: LedgerAccess;
  /** Default: bodies are sent as the origin has sent them. */
  readonly compression?: Compression;
  /** Default: the fetches of other isolates cannot be known. */
  readonly neighbours?: Neighbours;
  /** A short text that identifies a long one. */
  readonly fingerprint: (text: string) => Promise<string>;
  /** What several sites in one process share: the memory for pages, and that for bodies on their way. Default: nothing. */
  readonly memory?: MemoryEntries;
  readonly fills?: FillBudget;
}

/** The largest table of a view, with room for 1.3 million keys. */
const MAX_VIEW_BYTES = 8 * 1024 * 1024;

export { KnownNeighbours } from "./flow/collapsing/neighbours.ts";
export type { IncomingRequest } from "./flow/request-context.ts";
export { FillBudget } from "./flow/storing/fill.ts";

export type EdgeAnswer = Answer | Response;

/** One running isolate of the edge. */
export interface RunningIsolate {
  /** Answers every request, even if the edge itself fails (promise 6). The control plane answers by the web's class. */
  fetch(incoming: IncomingRequest): EdgeAnswer | Promise<EdgeAnswer>;
}

/** An isolate to which the log may push purges. */
export interface LearningIsolate extends RunningIsolate {
  /** Takes in purges that the log has sent without being asked (R24). Resolves to whether the view has reached them. */
  learn(delta: ViewDelta, background: BackgroundWork): Promise<boolean>;
  /** Reports to the ledger if that is due, where no request comes for a while. */
  reportIfDue(background: BackgroundWork): void;
  /** Reports what is left, because the isolate ends. Never rejects. */
  reportLast(): Promise<void>;
  /** How far it has read the log; `null` before it has. */
  readonly position: Stamp | null;
  /** The owner's tokens, of which wrong ones are counted and refused late. */
  readonly tokens: Tokens;
}

/** Wires one isolate: the corridor, the control plane, and an outer catch around both. */
export function startIsolate(site: Site, platform: Platform): LearningIsolate {
  const { clock, random, reporter, ledger, timer = timerOf(clock) } = platform;
  const startedAt = clock.now();
  const reuse = new ReuseSample();
  const { compression } = platform;
  const memory = new MemoryTier(
    site.limits.memoryBytes,
    reuse,
    platform.memory,
    compression && ((body) => compression.codedBytesOf(body)),
  );
  const heldMemory = () => ({ entries: memory.size, bytes: memory.heldBytes, maxBytes: site.limits.memoryBytes });
  const reports = ledger && new Reports(ledger, reporter, clock, heldMemory);
  reporter.timeBy(timer);
  reporter.reportReuse(reuse);
  const view = new PurgeView(MAX_VIEW_BYTES, () => clock.now());
  const sharing = new PopSharing(platform.notes, site.purge, clock, reporter);
  const connect = platform.log.connect?.bind(platform.log);
  // A report that is due goes with a read of the log.
  const readLog = reports
    ? ({
        append: (purge) => platform.log.append(purge),
        read: (since, leaseMs, longestViewAgeMs, _, reader) =>
          reports.sendBy((report) => platform.log.read(since, leaseMs, longestViewAgeMs, report, reader)),
        ...(connect && { connect }),
      } satisfies PurgeLogClient)
    : platform.log;
  const purges = new ViewLease({ settings: site.purge, view, log: readLog, pop: sharing, clock, random, reporter });
  const log = new ReadYourWritesLog(platform.log, view, purges, site.purge.skewMs);
  const invalidations = new LogInvalidations(log, clock, site.purge.leaseMs, reporter);
  const fills = new FillBudget(site.limits.fillBytes, site.limits.fills, platform.fills);
  const cacheKeys = new CacheKeyMemo(site);
  const tokens = throttleWrongTokens(platform.tokens, clock, reporter);
  const isolate: Isolate = {
    site,
    ports: {
      ...platform,
      timer,
      tokens,
      store: new TieredStore(memory, platform.sharedTier, reporter),
      purges,
      invalidations,
    },
    collapsed: new CollapsedFetches(clock, platform.neighbours),
    neighbours: platform.neighbours,
    fills,
    largeFills: new LargeFills(),
    headOnly: new HeadOnlyPages(),
    codings: new CodingChoices(),
    secondLooks: new SecondLooks(),
    resolve: (url) => cacheKeys.resolve(url),
  };
  const stats = (): IsolateStats => ({
    version: 1,
    scope: "isolate",
    startedAt: new Date(startedAt).toISOString(),
    ...reporter.counts(),
    memory: heldMemory(),
    fills: { bytes: fills.heldBytes, maxBytes: site.limits.fillBytes },
    view: { keys: view.heldKeys, bytes: view.heldBytes, maxBytes: MAX_VIEW_BYTES, position: view.position },
  });
  const control = controlPlane({
    rules: site,
    doors: site.doors,
    purgeAddresses: { from: site.purgesFrom, proxies: site.trustedProxies },
    tokens,
    log,
    audit: platform.audit,
    reporter,
    ledger: ledger?.client ?? null,
    nothing: () => new Counters("", () => undefined).tree().counts,
    stats,
    hasDashboard: site.hasDashboard,
    settings: { version: 1, ...site.settings, limits: site.limits, purge: site.purge },
    now: () => clock.now(),
    fingerprint: platform.fingerprint,
  });

  /** The same isolate for a request that is only pretended: nothing that happens to it changes or counts anything. */
  const unchanged = (): Isolate => ({
    ...isolate,
    ports: { ...isolate.ports, store: new UnchangedStore(memory, platform.sharedTier), reporter: DEAF },
    resolve: (url) => resolveUrl(url, site),
  });
  const explainPorts = {
    keys: () => memory.keys(),
    purgeOf: (stored: StoredHead) => view.purgeOf(stored),
    findPurge: async (seq: number) => {
      const row = await platform.audit.find(seq).catch(() => null);
      return row && recordBody(row);
    },
  };

  /** A site that does not know BAN leaves it to its origin. */
  const isForControl = ({ method }: ClientRequest, url: string) =>
    method === "PURGE" || isControl(url) || (method === "BAN" && site.doors.varnish !== undefined);

  /**
   * A bug of the edge must not take the site down, so the request is sent to the origin. A request that cannot be sent
   * again gets a 502.
   */
  const rescue = async ({ request, ...rest }: IncomingRequest, cause: unknown) => {
    reporter.report({ kind: "failed", cause });
    const failed = () => answerOurselves(isolate, 502, "failed", "502: the edge failed on this request.");
    if (request.bodyUsed || isForControl(request, rest.url)) return failed();
    return handleWithoutCache({ request, ...rest }, isolate).catch(failed);
  };

  /** A report that is due goes with a read of the log. Where none was made, it is sent behind an answer. */
  const reportBehind = <T>(background: BackgroundWork, answer: T): T => {
    if (reporter.isReportDue && reports) background.run(reports.send());
    return answer;
  };

  return {
    get position() {
      return view.position;
    },
    tokens,
    learn: (delta, background) => purges.learn(delta, background),
    reportIfDue: (background) => {
      if (reports?.isDue) background.run(reports.send());
    },
    reportLast: async () => {
      // The first call may repeat an unconfirmed report; the second sends what came since.
      await reports?.send({ isLast: true });
      await reports?.send({ isLast: true });
    },
    fetch(incoming) {
      const { request, url, background } = incoming;
      if (reports && incoming.pop && !ledger.pop) reports.pop = incoming.pop;
      if (!site.namesHosts) return answerOurselves(isolate, 503, "no-hosts", NO_HOSTS);
      if (url.length > site.limits.urlBytes) {
        return answerOurselves(isolate, 414, "url-too-long", `This URL is longer than ${site.limits.urlBytes} bytes.`);
      }
      try {
        const answer: EdgeAnswer | Promise<EdgeAnswer> = isForControl(request, url)
          ? control.fetch(platform.webRequest(incoming), {
              peerAddress: incoming.peerAddress ?? null,
              bodies: platform.bodies,
              refresh: async (page, fields) =>
                handle({ ...incoming, request: requestFor("GET", fields), url: page }, isolate),
              explain: (page, method, fields) =>
                explain({ ...incoming, request: requestFor(method, fields), url: page }, unchanged(), explainPorts),
            })
          : handle(incoming, isolate);
        if (answer instanceof Promise) {
          return answer.then(
            (given) => reportBehind(background, given),
            (cause: unknown) => reportBehind(background, rescue(incoming, cause)),
          );
        }
        return reportBehind(background, answer);
      } catch (cause) {
        return rescue(incoming, cause);
      }
    },
  };
}

function timerOf(clock: Clock): Timer {
  return { now: () => clock.now(), runsInMemory: false };
}

/** A request that the edge itself makes. */
function requestFor(method: string, headers: Fields): ClientRequest {
  return { method, headers, body: null, bodyUsed: false };
}

/** Hears nothing of requests that are only pretended. */
const DEAF: Reporter = { report: () => undefined };

const NO_HOSTS =
  "This edge does not know its public hosts yet. Name them in hosts in the site's config, or in TIDEMARK_HOSTS.";

/** Whether a URL is one of the control plane's. */
export function isControl(url: string): boolean {
  return url.startsWith(CONTROL_PREFIX, url.indexOf("/", url.indexOf("//") + 2));
}
