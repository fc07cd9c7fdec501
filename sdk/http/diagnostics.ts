/**
 * The purger's events, on two tracing channels of `node:diagnostics_channel`. Without a subscriber they cost nothing; a
 * platform without that module has none. The purger itself writes no log.
 */

import type { PurgeRequest } from "../purge-request.ts";
import type { Receipt } from "../receipt.ts";
import type { Outcome } from "./attempts.ts";

/**
 * A purge at one edge, with all its attempts: `diagnostics_channel.tracingChannel("tidemark:purge")`. The same object is
 * the message of `start`, `end`, `asyncStart`, `asyncEnd` and `error`.
 */
export interface PurgeEvent {
  /** The origin that the edge serves. */
  readonly endpoint: string;
  /** The body of the purge, with the `id` that all its attempts carry. */
  readonly request: PurgeRequest & { readonly id: string };
  /** From `asyncStart` on, if the purge was accepted. */
  readonly result?: Receipt;
  /** From `error` on, if it was not accepted: a `PurgeError`, or the reason of an aborted signal. */
  readonly error?: unknown;
}

/**
 * One request to an edge: `diagnostics_channel.tracingChannel("tidemark:request")`. It belongs to a purge, or to a read
 * of the audit trail.
 */
export interface RequestEvent {
  readonly method: "POST" | "GET";
  readonly url: string;
  /** From 1 on. */
  readonly attempt: number;
  /**
   * Fields that are sent in addition to the purger's own, which they cannot replace. A subscriber of `start` may add some,
   * such as `traceparent`. The token is never in here.
   */
  readonly headers: Record<string, string>;
  /** The status of the answer, once there is one. */
  status?: number | undefined;
  /** From `error` on, if there was no usable answer. */
  readonly error?: unknown;
}

/** The fields to send. Names in other capitals would be fields of their own, whose values are joined. */
export function requestFields({ headers }: RequestEvent, own: Record<string, string>): Record<string, string> {
  const added = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...Object.fromEntries(added), ...own };
}

/** The names of the channels, and the shapes of their messages. */
interface Channels {
  "tidemark:purge": PurgeEvent;
  "tidemark:request": RequestEvent;
}

/** The part of Node's `TracingChannel` that is used. */
interface TracingChannel {
  readonly hasSubscribers: boolean;
  tracePromise<T>(work: () => Promise<T>, message: object): Promise<T>;
}

/** The parts of Node's modules that are used. */
interface Modules {
  "node:async_hooks": { readonly AsyncLocalStorage: { snapshot(): InContext } };
  "node:diagnostics_channel": { tracingChannel?(name: string): TracingChannel };
}

type InContext = <T>(work: () => T) => T;

const channels = new Map<string, TracingChannel | undefined>();

/** Does some work, and publishes it to the subscribers of a channel. */
export function traced<Name extends keyof Channels, T>(
  name: Name,
  message: Channels[Name],
  work: () => Promise<T>,
): Promise<T> {
  const channel = channelOf(name);
  return channel?.hasSubscribers ? channel.tracePromise(work, message) : work();
}

/** The same for one request to an edge. A failure is an error for the subscribers. */
export async function tracedOutcome<T>(message: RequestEvent, work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  if (!channelOf("tidemark:request")?.hasSubscribers) return work();
  let outcome: Outcome<T> | undefined;
  const succeeding = async () => {
    outcome = await work();
    if (outcome.kind === "failed") throw outcome.error;
  };
  try {
    await traced("tidemark:request", message, succeeding);
  } catch (error) {
    if (outcome === undefined) throw error;
  }
  return outcome!;
}

function channelOf(name: string): TracingChannel | undefined {
  if (!channels.has(name)) channels.set(name, openChannel(name));
  return channels.get(name);
}

function openChannel(name: string): TracingChannel | undefined {
  return moduleOf("node:diagnostics_channel")?.tracingChannel?.(name);
}

/** Does later work as a part of what is done now: subscribers find the same values in an `AsyncLocalStorage`. */
export function contextOfNow(): InContext {
  return moduleOf("node:async_hooks")?.AsyncLocalStorage.snapshot() ?? ((work) => work());
}

/** Not imported, because bundlers for browsers and edge runtimes would look for the module. */
function moduleOf<Name extends keyof Modules>(name: Name): Modules[Name] | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: Name): Modules[Name] | undefined } };
  try {
    return process?.getBuiltinModule?.(name);
  } catch {
    return undefined; // In Next's edge runtime, each function of `process` throws.
  }
}
