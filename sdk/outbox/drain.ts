import { type Clock, systemClock } from "../clock.ts";
import { afterFailure, isOfEveryPurge } from "./after-failure.ts";
import { nextWave } from "./claims.ts";
import { type DeadPurge, type DrainReport, type FailedPurge, joinReports, type SentPurge } from "./drain-report.ts";
import { publish } from "./outbox-diagnostics.ts";
import { type OutboxSettings, parseStartOptions, type StartOptions } from "./outbox-options.ts";
import { errorText, type Lease, type OutboxStore } from "./outbox-store.ts";
import { orderedItems, type WaitingRow } from "./queued-purge.ts";

/** Bounds of one call of `drain`: the rows that it handles, that it leases at a time, and that it sends side by side. */
const MAX_ROWS = 1_000;
const CLAIMED_ROWS = 50;
const SENT_AT_ONCE = 8;

/** A lease covers three attempts, one after the other. A row is sent only while the lease covers the whole attempt. */
const LEASE_DEADLINES = 3;

/** The pause of all purges after one was given up because the edge cannot be reached. */
const PAUSE_AFTER_DEATH_MS = 1_000;

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

/** The sending of the purges in a table. */
export interface Drain<Answer> {
  drain(): Promise<DrainReport<Answer>>;
  start(options: StartOptions): void;
  close(): Promise<void>;
}

export function createDrain<Answer>(
  store: OutboxStore,
  { purger, maxAttempts, deadlineMs, onDead }: OutboxSettings<Answer>,
  { clock, idle, random, newId }: OutboxPlatform,
): Drain<Answer> {
  const closing = new AbortController();
  let running: Promise<DrainReport<Answer>> | undefined;
  let following: Promise<DrainReport<Answer>> | undefined;
  let background: Promise<void> | undefined;
  /** When another purge may be due, by the clock; and the end of the background's pause, if that changes. */
  let dueAt = Number.POSITIVE_INFINITY;
  let dueChanged = new AbortController();

  /**
   * A call during another one waits for that and looks once more, because its row may have been written too late for the
   * other; its report is of both. All calls that wait share one.
   */
  function drain(): Promise<DrainReport<Answer>> {
    if (closing.signal.aborted) return Promise.reject(new Error("This outbox was closed."));
    if (!running) {
      running = pass()
        .then((report) => {
          dueAt = report.nextDueInMs === null ? Number.POSITIVE_INFINITY : clock.now() + report.nextDueInMs;
          return report;
        })
        .finally(() => {
          running = undefined;
          dueChanged.abort();
        });
      return running;
    }
    following ??= running
      .catch(() => null)
      .then(async (first) => {
        following = undefined;
        const second = await drain();
        return first ? joinReports(first, second) : second;
      });
    return following;
  }

  async function pass(): Promise<DrainReport<Answer>> {
    const sent: SentPurge<Answer>[] = [];
    const failed: FailedPurge[] = [];
    const dead: DeadPurge[] = [];
    for (
      let handled = 0;
      handled < MAX_ROWS && !closing.signal.aborted;
      handled = sent.length + failed.length + dead.length
    ) {
      const leasedAt = clock.now();
      const now = await store.now();
      const lease = { id: newId(), until: now + LEASE_DEADLINES * deadlineMs };
      const { rows, nextAt } = await store.claim(lease, now, Math.min(CLAIMED_ROWS, MAX_ROWS - handled));
      if (rows.length === 0) {
        return { sent, failed, dead, nextDueInMs: nextAt === null ? null : Math.max(0, nextAt - now) };
      }
      const isUseless = await sendClaimed(rows, lease, leasedAt + LEASE_DEADLINES * deadlineMs, { sent, failed, dead });
      if (isUseless) {
        // The others are due, but would fail, too.
        const dueInMs = failed.length > 0 ? Math.min(...failed.map((purge) => purge.dueInMs)) : PAUSE_AFTER_DEATH_MS;
        return { sent, failed, dead, nextDueInMs: dueInMs };
      }
    }
    return { sent, failed, dead, nextDueInMs: 0 };
  }

  interface Outcomes {
    readonly sent: SentPurge<Answer>[];
    readonly failed: FailedPurge[];
    readonly dead: DeadPurge[];
  }

  /**
   * Sends rows in their order, as far as the lease reaches, and gives back the others. Resolves to true if it is of no use
   * to send more of them now. An error of the database or of a callback is thrown when nothing is under way any more.
   */
  async function sendClaimed(
    rows: readonly WaitingRow[],
    lease: Lease,
    leaseEndsAt: number,
    outcomes: Outcomes,
  ): Promise<boolean> {
    const held = new Set<string>();
    let left = rows;
    let isUseless = false;
    const broken: unknown[] = [];
    while (!isUseless && broken.length === 0 && !closing.signal.aborted && leaseEndsAt - clock.now() >= deadlineMs) {
      const wave = nextWave(left, held, SENT_AT_ONCE);
      if (wave.length === 0) break;
      left = left.filter((row) => !wave.includes(row));
      await Promise.all(
        wave.map(async (row) => {
          try {
            const outcome = await send(row, lease, outcomes);
            if (outcome === "happened") return;
            if (outcome === "useless") isUseless = true;
          } catch (error) {
            broken.push(error);
          }
          for (const item of orderedItems(row.request)) held.add(item);
        }),
      );
    }
    if (left.length > 0) {
      await store
        .release(
          left.map(({ seq }) => seq),
          lease.id,
        )
        .catch((error: unknown) => broken.push(error));
    }
    if (broken.length > 0) throw broken[0];
    return isUseless;
  }

  /** `happened`: later rows of the same items may follow. `useless`: neither these nor any others, for now. */
  async function send(row: WaitingRow, lease: Lease, outcomes: Outcomes): Promise<"happened" | "failed" | "useless"> {
    const { request } = row;
    const { id } = request;
    let receipt: Answer;
    try {
      receipt = await purger.purge(request, { deadlineMs });
    } catch (error) {
      return await recordFailure(row, lease, outcomes, error);
    }
    await store.remove(row.seq);
    const purge = { id, request, receipt, failures: row.failures };
    outcomes.sent.push(purge);
    publish("tidemark:outbox:sent", purge);
    return "happened";
  }

  async function recordFailure(
    row: WaitingRow,
    lease: Lease,
    { failed, dead }: Outcomes,
    error: unknown,
  ): Promise<"happened" | "failed" | "useless"> {
    const { request } = row;
    const { id } = request;
    const failures = row.failures + 1;
    const now = await store.now();
    const next = afterFailure(error, { failures, maxAttempts, now, random: random() });
    const dueAt = next.kind === "retry" ? next.dueAt : now;
    const deadAt = next.kind === "dead" ? now : null;
    const isMine = await store.fail(row.seq, lease.id, { failures, error: errorText(error), dueAt, deadAt });
    // Otherwise this process was stopped for longer than its lease, and another one is sending the row.
    if (isMine && next.kind === "retry") {
      const purge = { id, request, error, failures, dueInMs: dueAt - now };
      failed.push(purge);
      publish("tidemark:outbox:failed", purge);
    } else if (isMine && next.kind === "dead") {
      const purge = { id, request, error, failures, because: next.because };
      dead.push(purge);
      publish("tidemark:outbox:dead", purge);
      onDead(purge);
      // A purge that was given up holds back no other.
      if (!isOfEveryPurge(error)) return "happened";
    }
    return isOfEveryPurge(error) ? "useless" : "failed";
  }

  function start(options: StartOptions): void {
    const { onError, everyMs } = parseStartOptions(options);
    if (background) throw new TypeError("start: this outbox was started before");
    background = (async () => {
      while (!closing.signal.aborted) {
        try {
          await drain();
        } catch (error) {
          dueAt = Number.POSITIVE_INFINITY;
          if (!closing.signal.aborted) onError(error);
        }
        await untilDue(clock.now() + everyMs);
      }
    })();
  }

  /** Calls of `drain` by the backend may bring the end of the pause forward, or put it off. */
  async function untilDue(atLatest: number): Promise<void> {
    for (;;) {
      const leftMs = Math.min(dueAt, atLatest) - clock.now();
      if (leftMs <= 0 || closing.signal.aborted) return;
      dueChanged = new AbortController();
      await idle(leftMs, AbortSignal.any([closing.signal, dueChanged.signal]));
    }
  }

  async function close(): Promise<void> {
    closing.abort();
    await Promise.allSettled([running, following, background]);
  }

  return { drain, start, close };
}
