import { fingerprint } from "../../worker/control/access/fingerprint.ts";
import { KnownNeighbours } from "../../worker/isolate.ts";
import { startControl } from "../../worker/isolate-control.ts";
import { type LearningIsolate, startLearningIsolate } from "../../worker/learning-isolate.ts";
import { Counters } from "../../worker/metrics/counters.ts";
import type { ReadLedger } from "../../worker/metrics/reports.ts";
import type { Platform } from "../../worker/platform.ts";
import type { Tokens } from "../../worker/ports/access.ts";
import type { Bodies } from "../../worker/ports/bodies.ts";
import type { Clock, Timer } from "../../worker/ports/clock.ts";
import type { FetchesElsewhere } from "../../worker/ports/fetches-elsewhere.ts";
import type { Origin } from "../../worker/ports/origin.ts";
import type { OriginTalk } from "../../worker/ports/origin-news.ts";
import type { PermitsOf } from "../../worker/ports/origin-permits.ts";
import type { Compression, PopNotes } from "../../worker/ports/store.ts";
import type { Site } from "../../worker/site/site.ts";
import type { SharedTier } from "../../worker/store/tiered-store.ts";
import { nodeBodies } from "../bodies/node-bodies.ts";
import { ClientFields } from "../http1/client-fields.ts";
import { toWebRequest } from "../http1/node-request.ts";
import { ownAnswer } from "../http1/own-answer.ts";
import type { LogCalls } from "../log/log-messages.ts";
import { NearInvalidations } from "../log/near-invalidations.ts";

/** The parts of a worker that differ between production and tests. */
export interface NodeParts {
  readonly clock: Clock;
  readonly random: () => number;
  readonly sharedTier: SharedTier;
  readonly origin: Origin;
  /** Default: bodies of requests are passed on as they come. */
  readonly bodies?: Bodies;
  readonly log: LogCalls;
  readonly tokens: Tokens;
  /** Default: the clock. */
  readonly timer?: Timer;
  /** Default: bodies are sent as the origin has sent them. */
  readonly compression?: Compression | undefined;
  /** Default: those of other workers cannot be known. */
  readonly fetchesElsewhere?: FetchesElsewhere | undefined;
  /** This worker's permits for the origin; other workers have the rest. Default: this worker has all. */
  readonly permitsOf?: PermitsOf | undefined;
  /** With the other workers that ask this origin. Default: each finds out by itself how it is. */
  readonly originTalk?: OriginTalk | undefined;
  /** The name of this worker in an explanation. Default: nothing. */
  readonly worker?: string | undefined;
  /** Default: what this worker knows. */
  readonly lastRefusal?: Platform["lastRefusal"];
  /** A name for this worker that no other has, also after a restart, and the name of the machine. */
  readonly isolate: string;
  readonly pop?: string;
  /** Reads the ledger for the owner. Default: `readLedger` of the log. */
  readonly readLedger?: ReadLedger | undefined;
  /** The origin as the owner's log names it. Default: its URL. */
  readonly originName?: string | undefined;
  /** Whether visitors get pages from this worker by now. Default: they do. */
  readonly isServed?: (() => boolean) | undefined;
  /** Gets a line for the owner's log when something fails, and when it is over. */
  readonly write: (line: string) => void;
}

/** Every worker reads the log itself, and has purges pushed to it, so that there is nothing to tell the others. */
const noNotes: PopNotes = { read: async () => null, write: async () => undefined };

/** The edge in a process of Node. */
export function startNodeIsolate(
  site: Site,
  {
    log,
    write,
    isolate,
    pop,
    compression,
    fetchesElsewhere,
    permitsOf,
    originTalk,
    originName,
    worker,
    lastRefusal,
    readLedger,
    isServed,
    ...parts
  }: NodeParts,
): LearningIsolate {
  const reporter = new Counters(originName ?? site.originUrl, write, isServed);
  const started = startLearningIsolate(site, {
    ...parts,
    ...(compression && { compression }),
    ...(worker !== undefined && { worker }),
    ...(lastRefusal && { lastRefusal }),
    ...(permitsOf && { permitsOf }),
    ...(originTalk && { originTalk }),
    ...(fetchesElsewhere && { neighbours: new KnownNeighbours(fetchesElsewhere) }),
    log,
    invalidationsOf: (near, told) => new NearInvalidations(near, parts.clock, told),
    audit: log,
    ledger: {
      client: log,
      isolate,
      ...(pop !== undefined && { pop }),
      ...(readLedger && { read: (_, ...asked) => readLedger(...asked) }),
    },
    notes: noNotes,
    bodies: parts.bodies ?? nodeBodies,
    control: (...of) => startControl(...of, toWebRequest),
    fingerprint,
    reporter,
  });
  const fetch: LearningIsolate["fetch"] = (incoming) => {
    const { headers } = incoming.request;
    const requestFieldBytes = site.limits.requestFieldBytes + (incoming.child?.addedFieldBytes ?? 0);
    if (!(headers instanceof ClientFields) || headers.bytes <= requestFieldBytes) return started.fetch(incoming);
    reporter.report({ kind: "answered-by-edge", status: 431, detail: FIELDS_TOO_LARGE, arrivedAt: parts.clock.now() });
    return ownAnswer(431, FIELDS_TOO_LARGE, `the request has more than ${requestFieldBytes} bytes of fields`);
  };
  return Object.create(started, { fetch: { value: fetch } }) as LearningIsolate;
}

/**
 * The corridor measures the fields of requests to the origin. The fields of a hit are measured here, where the parser's
 * list is read anyway: the Workers runtime has a limit of its own, and the count would take 3 µs of each hit there.
 */
const FIELDS_TOO_LARGE = "request-fields-too-large";
