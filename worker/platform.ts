import type { IsolateStats } from "../wire/stats.ts";
import type { ExplainPorts } from "./explain/explain.ts";
import type { IncomingRequest, Isolate, Neighbours } from "./flow/request-context.ts";
import type { FillBudget } from "./flow/storing/fill.ts";
import type { Counters } from "./metrics/counters.ts";
import type { LedgerAccess, Reports } from "./metrics/reports.ts";
import type { Timer } from "./ports/clock.ts";
import type { OriginTalk } from "./ports/origin-news.ts";
import type { PermitsOf } from "./ports/origin-permits.ts";
import type { Ports } from "./ports/ports.ts";
import type { PurgeAudit } from "./ports/purge-log.ts";
import type { PopNotes } from "./ports/store.ts";
import type { PurgeLogClient } from "./purges/log/log-contract.ts";
import type { InvalidationsOf, OpenView } from "./purges/open-view.ts";
import type { Site } from "./site/site.ts";
import type { MemoryEntries, MemoryTier } from "./store/memory-tier.ts";
import type { SharedTier } from "./store/tiered-store.ts";

/**
 * The services that a platform provides for one isolate. The Workers runtime, the server on Node and the tests' memory
 * engine are platforms.
 */
export interface Platform
  extends Pick<Ports, "clock" | "random" | "origin" | "bodies" | "tokens" | "compression" | "losesRequests"> {
  readonly sharedTier: SharedTier;
  readonly notes: PopNotes;
  readonly log: PurgeLogClient;
  /** Default: `LogInvalidations`, for a log that is far away. */
  readonly invalidationsOf?: InvalidationsOf;
  readonly audit: PurgeAudit;
  /** The control plane of an isolate. A platform may load its code when somebody first calls it. */
  readonly control: StartControl;
  readonly reporter: Counters;
  /** Default: the clock. */
  readonly timer?: Timer;
  /** The site's ledger, to which the isolate reports. Default: it reports to none. */
  readonly ledger?: LedgerAccess;
  /** The permits that isolates share. Default: the isolate has its own, as many as `origin.concurrency` says. */
  readonly permitsOf?: PermitsOf;
  /** Default: what other isolates know of the origin cannot be known. */
  readonly originTalk?: OriginTalk;
  /** Default: the fetches of other isolates cannot be known. */
  readonly neighbours?: Neighbours;
  /** The name of this isolate in an explanation. Default: nothing. */
  readonly worker?: string;
  /** As `ExplainPorts` has it, where other isolates can be asked. Default: as far as this one knows. */
  readonly lastRefusal?: ExplainPorts["lastRefusal"];
  /** A short text that identifies a long one. */
  readonly fingerprint: (text: string) => Promise<string>;
  /** What several sites in one process share: the memory for pages, and that for bodies on their way. Default: nothing. */
  readonly memory?: MemoryEntries;
  readonly fills?: FillBudget;
}

/** What the control plane looks at and acts on. */
export interface ControlledParts {
  readonly corridor: Isolate;
  readonly memory: MemoryTier;
  readonly purging: OpenView;
  readonly reports: Reports | undefined;
  readonly stats: () => IsolateStats;
}

/** The control plane of one isolate. */
export interface IsolateControl {
  fetch(incoming: IncomingRequest): Promise<Response>;
}

export type StartControl = (site: Site, platform: Platform, parts: ControlledParts) => IsolateControl;
