import type { PurgeRecord } from "../../../worker/ports/purge-log.ts";
import { ConnectedLog } from "../../../worker/purges/log/connected-log.ts";
import {
  type AppendRequest,
  type AppendResult,
  type ConnectingReader,
  type LogConnection,
  type PurgeLogClient,
  REMEMBERED_MS,
  type ViewDelta,
} from "../../../worker/purges/log/log-contract.ts";
import type { LogSettings } from "../../../worker/purges/log/log-settings.ts";
import type { SqlPurgeLog } from "../../../worker/purges/log/sql-purge-log.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";
import type { Fate } from "../fate.ts";
import type { Matches, Purged } from "../history.ts";
import { callLate } from "./late-call.ts";
import { LateLine } from "./late-line.ts";
import { LateServers } from "./late-servers.ts";
import { NumberedPurges, RecordedLog, type RecordedStorage } from "./recorded-log.ts";
import { NO_LEASE, type Told } from "./told.ts";

/** A reply within this time is a quick one: its reader may use it for most of its lease. Milliseconds. */
const QUICK_MS = 250;
/** The age of the log when a world begins: no reader of its beginning counts any more (R25). Milliseconds. */
const LONG_AGO_MS =
  2 *
  REMEMBERED_MS; /** A server may be out of reach of its log when a repetition falls due, and looks again with each beat. Milliseconds. */
const REPEATS_WITHIN_MS = 60_000;

/** An isolate that the log pushes to. */
export interface Learner {
  readonly reader: Reader;
  learn(delta: ViewDelta): Promise<boolean>;
}

/** When a call began: epoch milliseconds, and its place in the order of events. */
interface Begun {
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
  /**
   * The time from which its replies count. Calls from before two logs answered it at once, or before it gave up its lease,
   * prove nothing.
   */
  doubtAt: number;
  /** The PoP where it runs: its place among them. */
  readonly pop: number;
  /** It takes in and confirms nothing any more. What it has begun goes on. */
  isDead: boolean;
  /** Its process has ended, and with it what it had begun. Default: it has not. */
  hasEnded?: boolean;
  /** Until then it alone does not reach the log, nor the log it: epoch milliseconds. */
  cutOffUntil: number;
  /** Until then it reaches the log, whose replies do not reach it: epoch milliseconds. Default: they do. */
  unheardUntil?: number;
  /** How late the reply to its next read without a connection comes, in milliseconds. Default: 0. */
  nextReadLateMs?: number;
}

/**
 * How a world's log pushes: not at all; over connections, as on Workers; to the workers of one
 * supervisor, as on one's own server; or by a database to the supervisors of several.
 */
export type Pushing = "none" | "over-connections" | "to-workers" | "to-machines";

export interface LateLogOptions {
  readonly settings: Partial<LogSettings>;
  /** Default: `none`. */
  readonly pushing?: Pushing;
  readonly maxConnections?: number | undefined;
}

/**
 * The real log behind a network: late both ways and silent for a while. Messages and replies are lost, repeated, or
 * hang. Its object restarts over the same storage while calls of the old one are under way, and the log is made anew.
 */
export class LateLog {
  readonly #fate: Fate;
  readonly #settings: Partial<LogSettings>;
  readonly #purges: NumberedPurges;
  #storage!: RecordedStorage;
  #log!: RecordedLog;
  #connected!: ConnectedLog;
  readonly #maxConnections: number;
  #logs = 0;
  #behindMs = 0;
  #silentUntil = Number.NEGATIVE_INFINITY;
  #fullUntil = Number.NEGATIVE_INFINITY;
  readonly #pushing: Pushing;
  /** `null` in a world without servers. */
  readonly #servers: LateServers | null;

  constructor(fate: Fate, { settings, pushing = "none", maxConnections }: LateLogOptions) {
    this.#maxConnections = maxConnections ?? Number.POSITIVE_INFINITY;
    this.#fate = fate;
    this.#purges = new NumberedPurges(fate);
    this.#pushing = pushing;
    this.#settings = settings;
    this.#behindMs = LONG_AGO_MS;
    this.makeAnew();
    this.#log.read(null, 0, 0, "the first");
    this.#behindMs = 0;
    const kept = {
      log: () => this.#log,
      learns: this.#learns.bind(this),
      longestUseMs: settings.longestUseMs ?? 0,
    };
    const hasServers = pushing === "to-workers" || pushing === "to-machines";
    this.#servers = hasServers ? new LateServers(fate, kept, pushing === "to-machines" ? 2 : 1) : null;
  }

  /** The pages that purges under way cover, by the reason that the purges carry. */
  get planned(): Map<string, Matches> {
    return this.#purges.planned;
  }

  /** From now on, nobody reaches it for this long. */
  fallSilent(ms: number): void {
    if (this.#servers) this.#servers.fallSilent(ms);
    else this.#silentUntil = this.#fate.faultFor(ms);
  }

  /** From now on, readers elsewhere hold all its connections for this long. */
  fillUp(ms: number): void {
    this.#fullUntil = this.#fate.faultFor(ms);
  }

  /** The log loses all its stored data, and begins again under another id. */
  makeAnew(): void {
    const { longestUseMs = 0 } = this.#settings;
    const unknownUntil = this.#logs === 0 ? undefined : this.#fate.now() + longestUseMs;
    this.#storage = { sql: this.#fate.storages.empty(), repetitions: [], unknownUntil };
    this.#open();
    this.#servers?.noteLogMadeAnew();
  }

  /** Another object takes over the log's storage. Calls under way are answered by the old object. */
  restart(): void {
    if (this.#servers) this.#servers.restart();
    else this.#open();
  }

  #open(): void {
    let isOpening = true;
    this.#log = new RecordedLog(
      this.#purges,
      this.#storage,
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

  /** From now on, this isolate is one of a server's workers. Resolves when it may answer visitors; `null` at once. */
  admit(learner: Learner): Promise<void> | null {
    return this.#servers?.start(learner) ?? null;
  }

  /** An isolate has died. Where it is a worker of a server, its process ends, now or later. */
  noteDeath(reader: Reader): void {
    this.#servers?.noteDeath(reader);
  }

  /** The log's id and its highest number. */
  get head(): Stamp {
    return this.#log.head;
  }

  numbered(logId: string, seq: number): Purged {
    return this.#purges.numbered({ logId, seq })!;
  }

  /** Whether the log that gave this number has not been replaced. */
  lives({ logId }: Purged): boolean {
    return logId === `log-${this.#logs}`;
  }

  /** Whether that log no longer has a row of this purge. */
  hasForgotten(purged: Purged): boolean {
    return this.lives(purged) && this.#log.find(purged.seq) === null;
  }

  /** A repetition is carried out within this time after it falls due: milliseconds. */
  get repeatsWithinMs(): number {
    return this.#servers ? REPEATS_WITHIN_MS : 1;
  }

  /** The numbers that repeat this one. */
  repeatsOf({ seq }: Purged): number {
    return this.#log.list(null, 500).purges.filter(({ repeatOf }) => repeatOf === seq).length;
  }

  /** The log as one isolate reaches it. Its replies and the isolate's reads are recorded. */
  reachedBy(reader: Reader): PurgeLogClient {
    let good: { readonly begunAt: number; readonly logId: string } | null = null;
    const hasConnections = this.#pushing === "over-connections";
    return {
      ...(hasConnections && { connect: (connecting: ConnectingReader) => this.#connect(reader, connecting) }),
      read: async (since, leaseMs, longestViewAgeMs, _, name) => {
        const begun = this.#begin();
        const begunAt = begun.at;
        // What did not fit into a reply is asked for at once, also if a reply that was under way has come since.
        const isGood = good !== null && good.begunAt > reader.doubtAt && since?.unread === null;
        this.#noteRead(reader, begunAt, isGood ? good!.begunAt : null, leaseMs);
        good = null;
        this.#failIfCutOff(reader);
        const delta = await (this.#servers
          ? this.#servers.call(reader, (log) => log.read(since, leaseMs, longestViewAgeMs))
          : this.#call((log) => log.read(since, leaseMs, longestViewAgeMs, name), Number.POSITIVE_INFINITY));
        if (reader.nextReadLateMs) await this.#fate.scheduler.wait(reader.nextReadLateMs).over;
        reader.nextReadLateMs = 0;
        this.#failIfUnheard(reader);
        const isTold = this.#noteDelta(reader, delta, begun);
        const isWhole = delta.truncatedAt === 0 && delta.unread === null;
        const isSameLog = delta.logId === (since?.logId ?? delta.logId);
        if (isTold && isWhole && isSameLog && this.#fate.now() < begunAt + QUICK_MS) {
          good = { begunAt, logId: delta.logId };
        }
        return delta;
      },
      append: async (purge) => {
        const begun = this.#begin();
        this.#failIfCutOff(reader);
        const result = await (this.#servers
          ? this.#servers.call(reader, (log) => log.append(purge))
          : this.#call((log) => this.#append(log, purge)));
        this.#failIfUnheard(reader);
        if (result.kind === "appended") {
          this.#fate.count("purges that settled by confirmations", result.settlesInMs === 0);
          // The part that did not fit into a reply is requested at once.
          if (good?.logId !== result.logId || result.delta.truncatedAt > 0) good = null;
          this.#noteDelta(reader, result.delta, begun);
        }
        return result;
      },
    };
  }

  /** From now on, this isolate alone does not reach the log for this long. */
  cutOff(reader: Reader, ms: number): void {
    reader.cutOffUntil = this.#fate.faultFor(ms);
    if (this.#fate.isCalm) this.#fate.tell(`${reader.name} does not reach the log for ${ms} ms`);
    this.#fate.count("isolates that alone did not reach the log");
  }

  /** From now on, no reply of the log reaches this isolate for this long. */
  keepUnheard(reader: Reader, ms: number): void {
    reader.unheardUntil = this.#fate.faultFor(ms);
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
  async find(reader: Reader, seq: number, waitMs: number): Promise<PurgeRecord | null> {
    if (this.#servers) return this.#servers.call(reader, (log) => log.find(seq, waitMs));
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
    const line = new LateLine(fate, reader, (delta) => this.#learns({ reader, learn }, delta), {
      isSilent: () => fate.now() < this.#silentUntil,
      isReplaced: () => connected !== this.#connected,
      call: (work) => this.#call(work, Number.POSITIVE_INFINITY, false),
    });
    const call = async (work: () => ViewDelta): Promise<ViewDelta> => {
      const begun = this.#begin();
      const delta = await line.call(work);
      this.#noteDelta(reader, delta, begun);
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

  /** A call of the log begins. */
  #begin(): Begun {
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
  #noteDelta(reader: Reader, { logId, to, leaseMs }: ViewDelta, { at: askedAt, order }: Begun): boolean {
    const { told, lastReply } = reader;
    if (lastReply && lastReply.logId !== logId && order < lastReply.order) {
      reader.doubtAt = this.#fate.now();
      return false;
    }
    reader.lastReply = { logId, order: this.#fate.nextOrder() };
    told.hear({ logId, to, at: this.#fate.now() }, { askedAt, until: askedAt + leaseMs });
    return true;
  }

  /** Gives a push to an isolate, and records what it knows then. */
  async #learns(learner: Learner, pushed: ViewDelta): Promise<boolean> {
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

  /** `isRepeatable`: whether its message may come twice, which those over a connection cannot. */
  async #call<T>(work: (log: SqlPurgeLog) => T, givenUpMs?: number, isRepeatable = true): Promise<T> {
    const fate = this.#fate;
    const [log, logs, storage] = [this.#log, this.#logs, this.#storage];
    const reply = await callLate(fate, {
      isSilent: () => fate.now() < this.#silentUntil,
      // The object that was called may have been replaced; a log that was made anew has another object.
      work: () => work(storage === this.#storage ? log : this.#log),
      ...(isRepeatable && { again: () => void work(this.#log) }),
      ...(givenUpMs !== undefined && { givenUpMs }),
    });
    fate.count("replies of a log that had been replaced", logs !== this.#logs);
    return reply;
  }

  #append(log: SqlPurgeLog, purge: AppendRequest): AppendResult {
    const result = log.append(purge);
    if (log === this.#log) this.#connected.push();
    const { repeatAfterMs } = purge;
    if (result.kind === "appended" && !result.replayed && repeatAfterMs !== null) void this.#repeat(repeatAfterMs);
    return result;
  }

  /** The alarm of the log's object. */
  async #repeat(afterMs: number): Promise<void> {
    const storage = this.#storage;
    await this.#fate.scheduler.wait(afterMs).over;
    if (storage !== this.#storage) return; // the repetition was lost together with the log's storage
    this.#log.runDue();
    this.#connected.push();
  }
}
