import { Turns } from "../../package/turns.ts";
import type { SiteStats } from "../../wire/stats.ts";
import { WITHOUT_VALUES } from "../check.ts";
import { type Clock, systemClock } from "../clock.ts";
import { misuse } from "../errors.ts";
import { findEdges, type PurgerOptions, purgerOptionsSchema, type Settings } from "../options.ts";
import type { PurgeRecordPage, ReadCall, RecordQuery } from "../purge-record.ts";
import type { PurgeCall } from "../purge-request.ts";
import { type Purger, purgerFrom } from "../purger.ts";
import type { Receipt } from "../receipt.ts";
import type { StatsCall } from "../site-stats.ts";
import { traced } from "./diagnostics.ts";
import { FailingEdges } from "./failing-edges.ts";
import type { SendToEdge } from "./joined-purges.ts";
import { ledgerReading, readFromEdge, trailReading } from "./read-from-edge.ts";
import { type SendPlatform, sendPurge } from "./send-purge.ts";
import { readFromAll, sendToAll } from "./several-edges.ts";
import { MAX_HELD_READS, openFetch, type Transport } from "./transport.ts";

const DEFAULT_DEADLINE_MS = 10_000;
const DEFAULT_RETRIES = 4;

/** Everything that a purger needs from the platform it runs on. Tests give their own. */
export interface Platform extends SendPlatform {
  newId(): string;
  /** The environment variables. */
  environment(): Record<string, string | undefined>;
  openTransport(): Transport;
  /**
   * Limits how many purges to an edge run at once; with it, held reads take turns, too. Default: each is sent when it is
   * called, because on Workers a request must not wait for what another request resolves.
   */
  limited?(send: SendToEdge, endpoint: string, clock: Clock): SendToEdge;
  /** Advice about a missing setting. Default: advice for code. */
  readonly howToConfigure?: string;
}

/** The parts that are the same on every platform. */
export const platform: Omit<Platform, "openTransport"> = {
  clock: systemClock,
  random: () => Math.random(),
  newId: () => crypto.randomUUID(),
  environment: () => processOf(globalThis)?.env ?? {},
  later(ms, work) {
    const timer: unknown = setTimeout(work, ms);
    // Outside Node a timer is a number, and does not keep the process running.
    (timer as { unref?(): void }).unref?.();
  },
  warn(message) {
    const emitWarning = processOf(globalThis)?.emitWarning;
    if (emitWarning) emitWarning(message, { type: "TidemarkWarning", code: "TIDEMARK_EARLY_PURGE" });
    else console.warn(message);
  },
};

/** Workers and browsers have no `process`, or only parts of it. */
function processOf(global: object): Partial<Process> | undefined {
  return (global as { process?: Partial<Process> }).process;
}

interface Process {
  env: Record<string, string | undefined>;
  emitWarning(message: string, options: { type: string; code: string }): void;
}

/** A purger over HTTP. It reads its settings and opens its transport when it is first used. */
export function createHttpPurger(options: PurgerOptions, platform: Platform): Purger {
  // Without reportInput: a message must not repeat a value that may be the token.
  const parsed = purgerOptionsSchema.safeParse(options, WITHOUT_VALUES);
  if (!parsed.success) throw misuse("createPurger", parsed.error, purgerOptionsSchema);
  const { fetch, deadlineMs = DEFAULT_DEADLINE_MS, retries = DEFAULT_RETRIES, signal } = parsed.data;
  let edges: readonly Settings[] | undefined;
  let transport: Transport | undefined;
  /** Each edge has its own limit, so that one that does not answer holds up no purges at another. */
  const senders = new Map<Settings, SendToEdge>();
  /** Only where calls may share a limit: on Workers, a purge that goes on after its request has ended is cancelled. */
  const failingEdges = platform.limited && new FailingEdges(platform.clock);

  /** The edges and limits of a call, and the transport that it goes over. */
  function prepared(call: { readonly signal: AbortSignal | undefined; readonly deadlineMs: number | undefined }) {
    edges ??= findEdges(parsed.data ?? {}, platform.environment(), platform.howToConfigure);
    transport ??= fetch ? openFetch(fetch) : platform.openTransport();
    const limits = {
      deadlineMs: call.deadlineMs ?? deadlineMs,
      retries,
      signals: [signal, call.signal].filter((given) => given !== undefined),
    };
    return { edges, limits, transport };
  }

  function send(call: PurgeCall): Promise<Receipt> {
    const { edges, limits } = prepared(call);
    const id = call.request.id ?? platform.newId();
    const edgeCall = { ...call, id, deadlineMs: limits.deadlineMs };
    const sendTo = (edge: Settings, retries?: number) => senderTo(edge)({ ...edgeCall, retries });
    if (!options.endpoints) return sendTo(edges[0]!);
    return sendToAll(edges, { ...edgeCall, request: { ...call.request, id } }, sendTo, failingEdges);
  }

  function senderTo(edge: Settings): SendToEdge {
    const known = senders.get(edge);
    if (known) return known;
    const { endpoint } = edge;
    const turns = platform.limited && new Turns(MAX_HELD_READS);
    const sendOne: SendToEdge = (call) => {
      const { limits, transport } = prepared(call);
      const request = { ...call.request, id: call.id ?? platform.newId() };
      const { traceparent, progress, retries = limits.retries } = call;
      const purge = { ...edge, ...limits, retries, request, traceparent, turns, ...(progress && { progress }) };
      return traced("tidemark:purge", { endpoint, request }, () => sendPurge(purge, transport, platform));
    };
    const sender = platform.limited?.(sendOne, endpoint, platform.clock) ?? sendOne;
    senders.set(edge, sender);
    return sender;
  }

  function read(call: ReadCall): Promise<PurgeRecordPage | null> {
    const { edges, limits, transport } = prepared(call);
    const readFrom = (edge: Settings, query: RecordQuery) =>
      readFromEdge({ ...edge, ...limits, ...trailReading(query) }, transport, platform);
    return options.endpoints ? readFromAll(edges, call.query, readFrom) : readFrom(edges[0]!, call.query);
  }

  async function stats(call: StatsCall): Promise<SiteStats> {
    const { edges, limits, transport } = prepared(call);
    if (options.endpoints) throw new TypeError(`stats: ${OWN_LEDGERS}`);
    return readFromEdge({ ...edges[0]!, ...limits, ...ledgerReading(call.query) }, transport, platform);
  }

  return purgerFrom({
    send,
    read,
    stats,
    newId: platform.newId,
    close: async () => transport?.close(),
  });
}

const OWN_LEDGERS = "each edge has its own counts. Make a purger with the endpoint of one edge.";
