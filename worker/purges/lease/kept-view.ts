import type { BackgroundWork } from "../../ports/background-work.ts";
import type { Clock } from "../../ports/clock.ts";
import { within } from "../../within.ts";
import type { ConnectingReader, LogConnection, PurgeLogClient, ViewDelta } from "../log/log-contract.ts";
import type { PurgeView } from "../view/purge-view.ts";
import type { LeaseTiming } from "./lease-timing.ts";
import type { LeasedView, LogCall } from "./leased-view.ts";
import type { PopSharing } from "./pop-sharing.ts";

/** The platform ends work behind an answer after 30 s. Requests hand the work over in good time. */
const KEPT_BY_ONE_REQUEST_MS = 25_000;
const HANDED_OVER_AFTER_MS = 15_000;

/** The longest wait for a message of the log, as a part of the patience. There must still be time for a read. */
const MAX_SILENCE = 0.5;

export interface KeptViewParts {
  readonly identity: ReaderIdentity;
  readonly log: PurgeLogClient;
  readonly view: PurgeView;
  readonly leased: LeasedView;
  readonly timing: LeaseTiming;
  readonly pop: PopSharing;
  readonly clock: Clock;
}

/** The isolate, as the log knows it. */
export interface ReaderIdentity {
  /**
   * The name under which it confirms what its view has reached (R25); `undefined` where it keeps no connection, or where
   * the log has too many. It then shares its reads.
   */
  readonly name: string | undefined;
  /** Goes on without a name, and without what the log has granted under it. */
  giveUpName(): void;
  /** Whether its view may be used now, on any route. */
  isUsable(now: number, token: null): boolean;
  /** Takes in purges that the log sends (R24). */
  learn(delta: ViewDelta, background: BackgroundWork): Promise<boolean>;
}

/**
 * Keeps the view alive behind a request for a while, so that the next one need not wait (R26). With a name, that happens
 * over a connection to the log, which only the request that has opened it can use.
 */
export class KeptView {
  readonly #parts: KeptViewParts;
  /** The work that keeps the view now; `null` if there is none. */
  #keeper: { readonly since: number } | null = null;

  constructor(parts: KeptViewParts) {
    this.#parts = parts;
  }

  /** Whether an earlier request sees to the next renewal, so that this one need not. */
  isKept(now: number): boolean {
    return this.#keeper !== null && !this.#parts.timing.isEnding(now);
  }

  /** Whether the request that keeps the view has done so for long enough, so that this one takes over. */
  needsSuccessor(now: number): boolean {
    return this.#keeper !== null && now >= this.#keeper.since + HANDED_OVER_AFTER_MS;
  }

  /**
   * Renews the lease by opening a connection. Resolves to `null` if that fails, or if the isolate has no name. If the log
   * has too many connections, the isolate goes on without a name.
   */
  async connect(background: BackgroundWork): Promise<LogConnection | null> {
    const { identity, log, view, leased, timing } = this.#parts;
    const { name } = identity;
    if (name === undefined || log.connect === undefined) return null;
    const { leaseMs, longestViewAgeMs } = timing;
    const reader: ConnectingReader = {
      name,
      since: view.readerPosition,
      leaseMs,
      longestViewAgeMs,
      learn: (delta) => identity.learn(delta, background),
    };
    const call = leased.beginCall();
    let isLate = false;
    const opening = log.connect(reader).then((connection) => {
      if (connection === null) {
        this.#keeper = null; // which may have a connection of that name
        identity.giveUpName();
        return null;
      }
      const isUsable = this.#take(connection.first, call) && !isLate;
      if (!isUsable) connection.close();
      return isUsable ? connection : null;
    });
    const connection = await this.#soon(opening);
    isLate = connection === null;
    if (isLate) background.run(opening.catch(() => null));
    return connection;
  }

  /** Keeps the view in the background of a request, until another request takes over or none has come for a while. */
  async keep(connection: LogConnection | null, renew: () => Promise<boolean>): Promise<void> {
    const { timing, leased, clock } = this.#parts;
    const keeper = { since: clock.now() };
    this.#keeper = keeper;
    try {
      for (;;) {
        const now = clock.now();
        const end = Math.min(timing.keptUntil, keeper.since + KEPT_BY_ONE_REQUEST_MS);
        if (this.#keeper !== keeper) return;
        if (now >= end) {
          if (connection) {
            leased.giveUp(); // so that no receipt has to wait for an isolate that nobody can tell
            await this.#soon(connection.release());
          }
          return;
        }
        const idleMs = Math.min(timing.dueAt, end) - now;
        if (idleMs > 0) await (clock.rest?.(idleMs) ?? clock.wait(idleMs)).over;
        else if (!(await (connection ? this.#renewOver(connection) : renew()))) return;
      }
    } finally {
      if (this.#keeper === keeper) this.#keeper = null;
      connection?.close();
    }
  }

  /** The lease counts from when the message is sent (R6). */
  async #renewOver(connection: LogConnection): Promise<boolean> {
    const { view, leased, timing } = this.#parts;
    const call = leased.beginCall();
    const reply = connection.renew(view.readerPosition, timing.leaseMs, timing.longestViewAgeMs);
    return (await this.#soon(reply.then((delta) => this.#take(delta, call)))) ?? false;
  }

  #take(delta: ViewDelta, call: LogCall): boolean {
    this.#parts.pop.noteReadTook(call.startedAt);
    return this.#parts.leased.takeReply(delta, call);
  }

  /** `null` if the log fails, or does not answer in time. */
  #soon<T>(answer: Promise<T>): Promise<T | null> {
    const { clock, timing } = this.#parts;
    const none = () => null;
    return within(clock, timing.patienceMs * MAX_SILENCE, answer.catch(none), none);
  }
}
