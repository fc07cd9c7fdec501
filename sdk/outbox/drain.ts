import { channel } from "node:diagnostics_channel";
import { type Clock, systemClock } from "../clock.ts";
import { tellError } from "../tell-error.ts";
import { afterFailure, backOffMs, type FailureScope, failureScope, MAX_PAUSE_MS } from "./after-failure.ts";
import {
  afterBegin,
  afterClaim,
  afterRelease,
  afterSending,
  beginPass,
  type DrainPass,
  leaseMs,
  nextStep,
  type SendResult,
} from "./drain-pass.ts";
import { type DeadPurge, type DrainReport, type FailedPurge, joinReports, type SentPurge } from "./drain-report.ts";
import { type OutboxSettings, parseStartOptions, type StartOptions } from "./outbox-options.ts";
import { errorText, type OutboxStore } from "./outbox-store.ts";
import { isHalfAccepted, type WaitingRow } from "./queued-purge.ts";

/** Everything that an outbox needs from the platform it runs on. Tests give their own. */
export interface OutboxPlatform {
  readonly clock: Clock;
  /** Sleeps like the clock, but does not keep the process alive. */
  idle(ms: number, signal: AbortSignal): Promise<void>;
  /** A number from 0 up to, not including, 1. */
  random(): number;
  newId(): string;
}

export const outboxPlatform: OutboxPlatform = {
  clock: systemClock,
  idle(ms, signal) {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (signal.aborted) return Promise.resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms).unref();
    signal.addEventListener("abort", end);
    return promise;
  },
  random: () => Math.random(),
  newId: () => crypto.randomUUID(),
};

/** A lease of another process may last as long, that of a deadline of a minute. Milliseconds. */
const LEASE_OF_OTHERS_MS = 180_000;

/** Sends the purges of a table. */
export class Drain<Answer> {
  readonly #store: OutboxStore;
  readonly #settings: OutboxSettings<Answer>;
  readonly #platform: OutboxPlatform;
  readonly #closing = new AbortController();
  #running: Promise<DrainReport<Answer>> | undefined;
  #following: Promise<DrainReport<Answer>> | undefined;
  #background: Promise<void> | undefined;
  /** When another purge may be due, by the clock; and the end of the background pause, if that changes. */
  #dueAt = Number.POSITIVE_INFINITY;
  #dueChanged = new AbortController();
  /** The errors of the database since the last call that had none. */
  #errors = 0;
  #onError: StartOptions["onError"] = (error) => console.error("onDead failed:", error);

  constructor(store: OutboxStore, settings: OutboxSettings<Answer>, platform: OutboxPlatform) {
    this.#store = store;
    this.#settings = settings;
    this.#platform = platform;
  }

  /**
   * A call during another waits for it and then looks again, because its row may have been written too late for the
   * first; its report covers both. All waiting calls share one. After `close` it sends nothing.
   */
  drain(): Promise<DrainReport<Answer>> {
    if (!this.#running) {
      this.#running = this.#pass()
        .then(
          (report) => {
            this.#errors = 0;
            this.#pauseFor(report.nextDueInMs ?? Number.POSITIVE_INFINITY);
            return report;
          },
          (error: unknown) => {
            this.#errors += 1;
            this.#pauseFor(backOffMs(this.#errors, this.#platform.random()));
            throw error;
          },
        )
        .finally(() => {
          this.#running = undefined;
          this.#dueChanged.abort();
        });
      return this.#running;
    }
    const running = this.#running;
    this.#following ??= running
      .catch(() => null)
      .then(async (first) => {
        this.#following = undefined;
        const second = await this.drain();
        return first ? joinReports(first, second) : second;
      });
    return this.#following;
  }

  /** Drains now and whenever a purge falls due, until `close`. */
  start(options: StartOptions): void {
    const { onError, everyMs } = parseStartOptions(options);
    if (this.#background) throw new TypeError("start: this outbox was started already");
    this.#onError = onError;
    this.#background = (async () => {
      while (!this.#closing.signal.aborted) {
        try {
          await this.drain();
        } catch (error) {
          if (!this.#closing.signal.aborted) tellError("onError", onError, error);
        }
        await this.#untilDue(this.#platform.clock.now() + everyMs);
      }
    })();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled([this.#running, this.#following, this.#background]);
  }

  #pauseFor(ms: number): void {
    this.#dueAt = this.#platform.clock.now() + ms;
  }

  /** Calls of `drain` by the backend may bring the end of the pause forward, or put it off. */
  async #untilDue(atLatest: number): Promise<void> {
    for (;;) {
      const leftMs = Math.min(this.#dueAt, atLatest) - this.#platform.clock.now();
      if (leftMs <= 0 || this.#closing.signal.aborted) return;
      this.#dueChanged = new AbortController();
      await this.#platform.idle(leftMs, AbortSignal.any([this.#closing.signal, this.#dueChanged.signal]));
    }
  }

  /** Carries out the steps of one call. When it throws, nothing is running any more. */
  async #pass(): Promise<DrainReport<Answer>> {
    const { deadlineMs } = this.#settings;
    const outcomes: Outcomes<Answer> = { sent: [], failed: [], dead: [] };
    const underWay = new Map<WaitingRow, Promise<{ readonly row: WaitingRow; readonly result: SendResult }>>();
    let pass = beginPass(outcomes);
    for (;;) {
      const isClosing = this.#closing.signal.aborted;
      const step = nextStep(pass, { now: this.#platform.clock.now(), deadlineMs, isClosing });
      switch (step.kind) {
        case "claim":
          pass = await this.#claim(pass, step.limit);
          break;
        case "send": {
          const { leaseId } = pass;
          for (const row of step.rows) {
            underWay.set(
              row,
              this.#sendOrBreak(row, leaseId, outcomes).then((result) => ({ row, result })),
            );
          }
          pass = afterBegin(pass, step.rows);
          break;
        }
        case "wait": {
          const { row, result } = await Promise.race(underWay.values());
          underWay.delete(row);
          pass = afterSending(pass, row, result);
          break;
        }
        case "release": {
          const seqs = step.rows.map(({ seq }) => seq);
          pass = await this.#store.release(seqs, pass.leaseId).then(
            () => afterRelease(pass, null),
            (error: unknown) => afterRelease(pass, { error }),
          );
          break;
        }
        case "end":
          return { ...outcomes, nextDueInMs: step.nextDueInMs };
        case "throw":
          throw step.error;
      }
    }
  }

  async #claim(pass: DrainPass, limit: number): Promise<DrainPass> {
    const { clock, newId } = this.#platform;
    const lastsMs = leaseMs(this.#settings.deadlineMs);
    const leaseEndsAt = clock.now() + lastsMs;
    const now = await this.#now();
    const lease = { id: newId(), until: now + lastsMs };
    const latestAt = now + Math.max(lastsMs, LEASE_OF_OTHERS_MS) + MAX_PAUSE_MS;
    const claims = await this.#store.claim(lease, { now, latestAt, limit });
    return afterClaim(pass, claims, { now, leaseId: lease.id, leaseEndsAt });
  }

  /** Whole milliseconds, as the columns of the table are. */
  async #now(): Promise<number> {
    return Math.floor(await this.#store.now());
  }

  /** An error of the database or of a callback is a result, so that the rows sent at the same time can finish. */
  #sendOrBreak(row: WaitingRow, leaseId: string, outcomes: Outcomes<Answer>): Promise<SendResult> {
    return this.#send(row, leaseId, outcomes).catch((error: unknown) => ({ kind: "broken", error }));
  }

  async #send(row: WaitingRow, leaseId: string, outcomes: Outcomes<Answer>): Promise<SendResult> {
    const { purger, deadlineMs } = this.#settings;
    const { request } = row;
    // Its pages were fetched again by another edge, or take too long.
    const skipsRefresh = isHalfAccepted(row) || row.failureScope === "refresh";
    const sent = request.refresh && skipsRefresh ? { ...request, refresh: false } : request;
    let receipt: Answer;
    try {
      receipt = await purger.purge(sent, { deadlineMs });
    } catch (error) {
      return await this.#recordFailure(row, leaseId, outcomes, error, failureScope(error, sent));
    }
    await this.#store.remove(row.seq);
    const purge = { id: request.id, request, receipt, failures: row.failures };
    outcomes.sent.push(purge);
    publish("tidemark:outbox:sent", purge);
    return { kind: "happened" };
  }

  async #recordFailure(
    row: WaitingRow,
    leaseId: string,
    { failed, dead }: Outcomes<Answer>,
    error: unknown,
    scope: FailureScope,
  ): Promise<SendResult> {
    const { maxAttempts, onDead } = this.#settings;
    const { request } = row;
    const { id } = request;
    const failures = row.failures + 1;
    const now = await this.#now();
    const next = afterFailure(error, { failures, maxAttempts, now, random: this.#platform.random() });
    const dueAt = next.kind === "retry" ? next.dueAt : now;
    const deadAt = next.kind === "dead" ? now : null;
    // Otherwise another edge has accepted it only now, and may accept others.
    const edgeFails = scope === "edge" || scope === "blocked" || (scope === "some-edges" && isHalfAccepted(row));
    const isMine = await this.#store.fail(row.seq, leaseId, {
      failures,
      scope,
      error: errorText(error),
      dueAt,
      deadAt,
    });
    // Otherwise the row was requeued, or this process was stopped for longer than its lease, and another one is sending it.
    if (isMine && next.kind === "retry") {
      const purge = { id, request, error, failures, dueInMs: dueAt - now };
      failed.push(purge);
      publish("tidemark:outbox:failed", purge);
    } else if (isMine && next.kind === "dead") {
      const purge = { id, request, error, failures, because: next.because };
      dead.push(purge);
      publish("tidemark:outbox:dead", purge);
      // Not awaited, because it may wait for this drain.
      Promise.resolve(onDead(purge)).catch((reason: unknown) => tellError("onError", this.#onError, reason));
      // A purge that was given up does not hold up others.
      if (!edgeFails) return { kind: "happened" };
    }
    if (edgeFails) return { kind: "edge-fails" };
    return { kind: scope === "some-edges" ? "happened" : "failed" };
  }
}

interface Outcomes<Answer> {
  readonly sent: SentPurge<Answer>[];
  readonly failed: FailedPurge[];
  readonly dead: DeadPurge[];
}

/** The channels of `node:diagnostics_channel` to which an outbox publishes, and the messages on them. */
interface Channels {
  "tidemark:outbox:sent": SentPurge<unknown>;
  "tidemark:outbox:failed": FailedPurge;
  "tidemark:outbox:dead": DeadPurge;
}

/** Publishes the outcome of a purge to the subscribers of a channel. */
function publish<Name extends keyof Channels>(name: Name, message: Channels[Name]): void {
  const subscribed = channel(name);
  if (subscribed.hasSubscribers) subscribed.publish(message);
}
