import { CONFIRM_WITHIN_MS } from "../../server/log/log-readers.ts";
import type { PurgeRecord } from "../../worker/ports.ts";
import { ConnectedLog } from "../../worker/purges/log/connected-log.ts";
import {
  type AppendRequest,
  type AppendResult,
  type ConnectingReader,
  type LogConnection,
  type PurgeLogClient,
  REMEMBERED_MS,
  type ViewDelta,
} from "../../worker/purges/log/log-contract.ts";
import type { LogSettings } from "../../worker/purges/log/log-settings.ts";
import type { Sql } from "../../worker/purges/log/sql.ts";
import { SqlPurgeLog } from "../../worker/purges/log/sql-purge-log.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";
import { HOST } from "../engine/scenario.ts";
import type { Fate } from "./fate.ts";
import type { Matches, Page, Purged } from "./history.ts";
import { LateLine } from "./late-line.ts";
import type { LateRelay } from "./late-relay.ts";
import type { Occurrence } from "./occurrences.ts";
import { NO_LEASE, type Told } from "./told.ts";

/** A reply within this time is a quick one: its reader may use it for most of its lease. Milliseconds. */
const QUICK_MS = 250;
/** The age of the log when a world begins: no reader of its beginning counts any more (R25). Milliseconds. */
const LONG_AGO_MS = 2 * REMEMBERED_MS;
/** An append without an answer is given up after this time; a read hangs for ever. Milliseconds. */
const GIVEN_UP_MS = 30_000;

/** An isolate that the log pushes to. */
export interface Learner {
  readonly reader: Reader;
  learn(delta: ViewDelta): Promise<boolean>;
}

/** When a call began: epoch milliseconds, and its place in the order of events. */
export interface Begun {
  readonly at: number;
  readonly order: number;
}

/** An isolate, with the properties that the record of its reads needs. */
export interface Reader {
  readonly name: string;
  readonly told: Told;
  /** How many bearers of a token wait there, for whom it may read, and when the last one was answered. */
  bearers: number;
  lastBearerAt: number;
  /** The log whose reply it had last, and the place of that in the order of events. */
  lastReply?: { readonly logId: string; readonly order: number };
  /** The time from which its replies count: when two logs answered it at once, earlier calls prove nothing. */
  doubtAt: number;
  /** It has ended, and takes in and confirms nothing any more. */
  isDead: boolean;
  /** Until then it alone does not reach the log, nor the log it: epoch milliseconds. */
  cutOffUntil: number;
  /** Until then it reaches the log, whose replies do not reach it: epoch milliseconds. Default: they do. */
  unheardUntil?: number;
  /** How late the reply to its next read without a connection comes, in milliseconds. Default: 0. */
  nextReadLateMs?: number;
}

/**
 * How a world's log pushes: not at all; to all isolates, which it has admitted, as on one's own server; over connections,
 * as on Workers; or over relays, some of them.
 */
export type Pushing = "none" | "to-admitted" | "over-connections" | "over-relays";

/**
 * The real log behind a network: late both ways and silent for a while. Messages and replies are lost, repeated, or
 * hang. Its object restarts over the same storage while calls of the old one are under way, and the log is made anew.
 */
export class LateLog {
  /** The pages that purges under way cover, by the reason that the purges carry. */
  readonly planned = new Map<string, Matches>();
  readonly #fate: Fate;
  readonly #settings: Partial<LogSettings>;
  readonly #byNumber = new Map<string, Purged>();
  #sql!: Sql;
  #log!: SqlPurgeLog;
  #connected!: ConnectedLog;
  readonly #maxConnections: number;
  #logs = 0;
  #behindMs = 0;
  #silentUntil = Number.NEGATIVE_INFINITY;
  #fullUntil = Number.NEGATIVE_INFINITY;
  /** The isolates that it pushes to; `null` in a world in which the log does not push. Those that have died stay. */
  readonly #learners: Learner[] | null;
  readonly #pushing: Pushing;

  constructor(
    fate: Fate,
    settings: Partial<LogSettings>,
    pushing: Pushing = "none",
    maxConnections = Number.POSITIVE_INFINITY,
  ) {
    this.#maxConnections = maxConnections;
    this.#fate = fate;
    this.#pushing = pushing;
    this.#learners = pushing === "to-admitted" ? [] : null;
    this.#settings = settings;
    this.#behindMs = LONG_AGO_MS;
    this.makeAnew();
    this.#log.read(null, 0, 0, "the first");
    this.#behindMs = 0;
  }

  /** From now on, nobody reaches it for this long. */
  fallSilent(ms: number): void {
    this.#silentUntil = this.#fate.now() + ms;
  }

  /** From now on, readers elsewhere hold all its connections for this long. */
  fillUp(ms: number): void {
    this.#fullUntil = this.#fate.now() + ms;
  }

  /** The log loses all its stored data, and begins again under another id. */
  makeAnew(): void {
    this.#sql = this.#fate.storages.empty();
    this.restart();
  }

  /** Another object takes over the log's storage. Calls under way are answered by the old object. */
  restart(): void {
    let isOpening = true;
    this.#log = new SqlPurgeLog(
      this.#sql,
      { auditRetentionMs: 1e9, ...this.#settings },
      () => this.#fate.now() - this.#behindMs,
      () => {
        this.#fate.count("logs whose numbers ran out", !isOpening);
        return `log-${++this.#logs}`;
      },
    );
    isOpening = false;
    const { scheduler } = this.#fate;
    const clock = { now: () => this.#fate.now(), wait: (ms: number) => scheduler.wait(ms) };
    this.#connected = new ConnectedLog(this.#log, clock, this.#maxConnections);
  }

  /**
   * From now on, this isolate is pushed to, and a purge settles early only if it has confirmed it. Resolves when it has
   * reached the head.
   */
  async admit(learner: Learner): Promise<void> {
    if (this.#learners === null) return;
    this.#learners.push(learner);
    for (;;) {
      const { head } = this.#log;
      const hasReached = await this.learns(learner, this.#log.changesSince(head));
      if (hasReached && this.#log.head.logId === head.logId && this.#log.head.seq === head.seq) return;
      await this.#fate.scheduler.wait(100).over;
    }
  }

  /** The log's id and its highest number. */
  get head(): Stamp {
    return this.#log.head;
  }

  numbered(logId: string, seq: number): Purged {
    return this.#byNumber.get(`${logId} ${seq}`)!;
  }

  /** Whether the log that gave this number has not been replaced. */
  lives({ logId }: Purged): boolean {
    return logId === `log-${this.#logs}`;
  }

  /** Whether that log no longer has a row of this purge. */
  hasForgotten(purged: Purged): boolean {
    return this.lives(purged) && this.#log.find(purged.seq) === null;
  }

  /** The numbers that repeat this one. */
  repeatsOf({ seq }: Purged): number {
    return this.#log.list(null, 500).purges.filter(({ repeatOf }) => repeatOf === seq).length;
  }

  /**
   * The log as one isolate reaches it, or a relay. Its replies and the isolate's reads are recorded. `relay`: the one to
   * which its connections go. Default: they go to the log itself.
   */
  reachedBy(reader: Reader, relay: LateRelay | null = null): PurgeLogClient {
    let good: { readonly begunAt: number; readonly logId: string } | null = null;
    const hasConnections = this.#pushing === "over-connections" || this.#pushing === "over-relays";
    const connect = (connecting: ConnectingReader) =>
      relay ? relay.connect(reader, connecting, this) : this.#connect(reader, connecting);
    return {
      ...(hasConnections && { connect }),
      read: async (since, leaseMs, longestViewAgeMs, _, name) => {
        const begun = this.begin();
        const begunAt = begun.at;
        this.#fate.count("isolates of a relay that read the log itself", relay !== null);
        this.#noteRead(reader, begunAt, good && good.begunAt > reader.doubtAt ? good.begunAt : null, leaseMs);
        good = null;
        this.#failIfCutOff(reader);
        const delta = await this.#call(
          (log) => log.read(since, leaseMs, longestViewAgeMs, name),
          Number.POSITIVE_INFINITY,
        );
        if (reader.nextReadLateMs) await this.#fate.scheduler.wait(reader.nextReadLateMs).over;
        reader.nextReadLateMs = 0;
        this.#failIfUnheard(reader);
        const isTold = this.noteDelta(reader, delta, begun);
        const isWhole = delta.truncatedAt === 0 && delta.unread === null;
        const isSameLog = delta.logId === (since?.logId ?? delta.logId);
        if (isTold && isWhole && isSameLog && this.#fate.now() < begunAt + QUICK_MS) {
          good = { begunAt, logId: delta.logId };
        }
        return delta;
      },
      append: async (purge) => {
        const begun = this.begin();
        this.#failIfCutOff(reader);
        const result = await this.#call(
          (log) => this.#append(log, purge),
          GIVEN_UP_MS,
          (appended, pushed) => this.#settledBy(appended, pushed),
        );
        this.#failIfUnheard(reader);
        if (result.kind === "appended") {
          // The part that did not fit into a reply is requested at once.
          if (good?.logId !== result.logId || result.delta.truncatedAt > 0) good = null;
          this.noteDelta(reader, result.delta, begun);
        }
        return result;
      },
    };
  }

  /** From now on, this isolate alone does not reach the log for this long. */
  cutOff(reader: Reader, ms: number): void {
    reader.cutOffUntil = this.#fate.now() + ms;
    if (this.#fate.isCalm) this.#fate.tell(`${reader.name} does not reach the log for ${ms} ms`);
    this.#fate.count("isolates that alone did not reach the log");
  }

  /** From now on, no reply of the log reaches this isolate for this long. */
  keepUnheard(reader: Reader, ms: number): void {
    reader.unheardUntil = this.#fate.now() + ms;
    this.#fate.count("isolates that reached the log and heard nothing");
  }

  /** The reply to this isolate's next read without a connection comes late by this much. */
  delayNextRead(reader: Reader, ms: number): void {
    reader.nextReadLateMs = ms;
  }

  #failIfUnheard({ unheardUntil = 0 }: Reader): void {
    if (this.#fate.now() < unheardUntil) throw new Error("the reply is lost");
  }

  #failIfCutOff({ cutOffUntil }: Reader): void {
    if (this.#fate.now() < cutOffUntil) throw new Error("cut off");
  }

  /** One purge, as an isolate asks for it. The answer is held for up to `waitMs` until the purge has settled. */
  async find(seq: number, waitMs: number): Promise<PurgeRecord | null> {
    const fate = this.#fate;
    await fate.onTheWay(120);
    if (fate.now() < this.#silentUntil) throw new Error("silent");
    const record = await this.#connected.find(seq, waitMs);
    await fate.onTheWay(50);
    return record;
  }

  /**
   * A connection that is late both ways. Either side may lose it without notice, and it ends with the object that it
   * leads to.
   */
  async #connect(reader: Reader, connecting: ConnectingReader): Promise<LogConnection | null> {
    const { name, learn, ...asked } = connecting;
    const fate = this.#fate;
    const connected = this.#connected;
    const line = new LateLine(fate, reader, (delta) => this.learns({ reader, learn }, delta), {
      isSilent: () => fate.now() < this.#silentUntil,
      isReplaced: () => connected !== this.#connected,
      call: (work) => this.#call(work, Number.POSITIVE_INFINITY, null, true),
    });
    const call = async (work: () => ViewDelta): Promise<ViewDelta> => {
      const begun = this.begin();
      const delta = await line.call(work);
      this.noteDelta(reader, delta, begun);
      return delta;
    };
    const isFull = fate.now() < this.#fullUntil;
    const opened = isFull ? null : connected.connect(name, (delta) => line.push(delta));
    if (opened === null) {
      fate.count("connections that were one too many");
      if (fate.chance(isFull ? 1 : 0.3)) this.cutOff(reader, fate.pick([500, 4000]));
      await fate.delay(200);
      return null;
    }
    const connection = opened;
    const first = await call(() => connected.renew(connection, asked.since, asked.leaseMs, asked.longestViewAgeMs));
    fate.count("connections to the log");
    return {
      first,
      renew: (since, leaseMs, longestViewAgeMs) =>
        call(() => connected.renew(connection, since, leaseMs, longestViewAgeMs)),
      release: () => line.release(() => connected.release(connection)),
      close: () => connected.disconnect(connection),
    };
  }

  /** A call of the log, or of a relay, begins. */
  begin(): Begun {
    return { at: this.#fate.now(), order: this.#fate.nextOrder() };
  }

  #noteRead({ name, bearers, lastBearerAt }: Reader, begunAt: number, goodSince: number | null, leaseMs: number): void {
    const isForToken = bearers > 0 || begunAt < lastBearerAt + leaseMs;
    this.#fate.history.reads.push({ isolate: name, begunAt, goodSince: isForToken ? null : goodSince });
  }

  /**
   * Records a reply. If two logs answer at once, the reader cannot know which of them is the current one, so the second
   * reply tells it nothing.
   */
  noteDelta(reader: Reader, { logId, to, leaseMs }: ViewDelta, { at: askedAt, order }: Begun): boolean {
    const { told, lastReply } = reader;
    if (lastReply && lastReply.logId !== logId && order < lastReply.order) {
      reader.doubtAt = this.#fate.now();
      return false;
    }
    reader.lastReply = { logId, order: this.#fate.nextOrder() };
    told.hear({ logId, to, at: this.#fate.now() }, { askedAt, until: askedAt + leaseMs });
    return true;
  }

  /** Pushes a purge to all isolates. If all of them confirm it in time, it has settled. */
  async #settledBy(result: AppendResult, pushed: ViewDelta): Promise<AppendResult> {
    if (this.#learners === null || result.kind === "conflict") return result;
    const fate = this.#fate;
    const confirmations = this.#learners.map(async (learner) => {
      await fate.delay(fate.pick([50, 50, 50, 600]));
      if (this.#happens("lost pushes", 0.05) || fate.now() < this.#silentUntil) return false;
      return this.learns(learner, pushed);
    });
    const all = Promise.all(confirmations).then((confirmed) => confirmed.every((isSo) => isSo));
    const hasSettled = await Promise.race([all, fate.scheduler.wait(CONFIRM_WITHIN_MS).over.then(() => false)]);
    fate.count("purges that settled by confirmations", hasSettled);
    return hasSettled ? { ...result, settlesInMs: 0 } : result;
  }

  /** Gives a push to an isolate, and records what it knows then. */
  async learns(learner: Learner, pushed: ViewDelta): Promise<boolean> {
    const { reader } = learner;
    const delivered = this.#fate.nextOrder();
    reader.bearers++; // a read that it causes has a reason
    const hasReached = await learner.learn(pushed);
    reader.bearers--;
    reader.lastBearerAt = this.#fate.now();
    this.#fate.count("pushes taken in", hasReached);
    if (!hasReached) return false;
    const { logId, to } = pushed;
    // It has changed the view when it was delivered, so that calls from before that can no longer tell which log is the
    // living one. If the view has reached it by a read instead, that was noted later.
    if (delivered > (reader.lastReply?.order ?? -1)) reader.lastReply = { logId, order: delivered };
    reader.told.hear({ logId, to, at: this.#fate.now() }, NO_LEASE);
    return true;
  }

  /**
   * `after`: what happens to the reply before it is sent, given the purges that the work has added. `isInSession`: whether it
   * is a call of the runtime's own, over a connection, which comes once.
   */
  async #call<T>(
    work: (log: SqlPurgeLog) => T,
    givenUpMs: number,
    after: ((reply: T, added: ViewDelta) => Promise<T>) | null = null,
    isInSession = false,
  ): Promise<T> {
    const fate = this.#fate;
    const [log, logs] = [this.#log, this.#logs];
    await fate.onTheWay(120);
    if (fate.now() < this.#silentUntil) throw new Error("silent");
    if (this.#happens("lost messages to the log", 0.03)) throw new Error("lost");
    // The object that was called may have been replaced; a log that was made anew has another object.
    const called = logs === this.#logs ? log : this.#log;
    const { head } = called;
    let reply = work(called);
    if (after && this.#learners) reply = await after(reply, called.changesSince(head));
    if (after && called === this.#log) this.#connected.push();
    if (this.#happens("repeated messages to the log", 0.03)) {
      void fate.delay(2000).then(() => (isInSession ? undefined : work(this.#log)));
    }
    if (this.#happens("replies of the log that never came", 0.01)) {
      await fate.scheduler.wait(givenUpMs).over;
      throw new Error("given up");
    }
    await fate.onTheWay(fate.pick([50, 50, 50, 1500]));
    if (this.#happens("lost replies of the log", 0.05)) throw new Error("lost");
    fate.count("replies of a log that had been replaced", logs !== this.#logs);
    return reply;
  }

  #happens(name: Occurrence, probability: number): boolean {
    const isSo = this.#fate.chance(probability);
    this.#fate.count(name, isSo);
    return isSo;
  }

  #append(log: SqlPurgeLog, purge: AppendRequest): AppendResult {
    const result = log.append(purge);
    if (result.kind !== "appended") return result;
    const { seq, logId, settlesInMs, replayed } = result;
    if (purge.id !== null) this.#noteId(`${logId} ${purge.id}`, seq);
    if (replayed) return result;
    const targets = purge.purgeKeys.map((key) => key.replace(`//${HOST}`, ""));
    const isOfEdge = purge.by === "edge";
    this.#register({
      name: `${isOfEdge ? "invalidation" : "purge"} ${seq} of ${logId}`,
      kind: isOfEdge ? "invalidation" : "purge",
      mode: purge.mode ?? "hard",
      logId,
      seq,
      order: this.#fate.nextOrder(),
      // Nobody has a receipt of the edge's own invalidations, so only this code knows when they settle.
      settledAt: isOfEdge ? this.#fate.now() + settlesInMs : Number.POSITIVE_INFINITY,
      matches: isOfEdge ? ({ target }: Page) => targets.includes(target) : this.planned.get(purge.reason!)!,
    });
    if (purge.repeatAfterMs !== null) void this.#repeat(logId, seq, purge.repeatAfterMs);
    return result;
  }

  #noteId(id: string, seq: number): void {
    const { numbersOfIds } = this.#fate.history;
    numbersOfIds.set(id, (numbersOfIds.get(id) ?? new Set()).add(seq));
  }

  #register(purged: Purged): void {
    this.#byNumber.set(`${purged.logId} ${purged.seq}`, purged);
    this.#fate.history.purges.push(purged);
    this.#fate.tell(`${purged.name} has its number`);
  }

  /** The alarm of the log's object. */
  async #repeat(logId: string, seq: number, afterMs: number): Promise<void> {
    const logs = this.#logs;
    await this.#fate.scheduler.wait(afterMs).over;
    if (logs !== this.#logs) return; // the repetition was lost together with the log's storage
    const log = this.#log;
    log.runDue();
    this.#connected.push();
    const { kind, mode, matches } = this.numbered(logId, seq);
    const { logId: ofLog } = log.head; // another one if the numbers ran out
    for (const row of log.list(null, 500).purges) {
      if (row.repeatOf !== seq || this.#byNumber.has(`${ofLog} ${row.seq}`)) continue;
      const name = `purge ${row.seq} of ${ofLog}, which repeats ${seq} of ${logId},`;
      const order = this.#fate.nextOrder();
      const settledAt = Number.POSITIVE_INFINITY;
      this.#register({ name, kind, mode, logId: ofLog, seq: row.seq, order, settledAt, matches });
    }
  }
}
