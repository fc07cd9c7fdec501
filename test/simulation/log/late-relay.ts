import type { ConnectingReader, LogConnection, ViewDelta } from "../../../worker/purges/log/log-contract.ts";
import type { LogSettings } from "../../../worker/purges/log/log-settings.ts";
import type { Sql } from "../../../worker/purges/log/sql.ts";
import { SqlPurgeLog } from "../../../worker/purges/log/sql-purge-log.ts";
import { Relay, type RelayedLog } from "../../../worker/purges/relay/relay.ts";
import type { Fate } from "../fate.ts";
import { LateLine } from "./late-line.ts";
import type { LateLog, Reader } from "./late-log.ts";
import { Told } from "./told.ts";

/** A connection whose opening nobody has heard of ends after this time: milliseconds. */
const UNHEARD_MS = 5000;

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * A real relay between a late log and late readers. Its object restarts over the same storage or over none, while the
 * object before it is dead or goes on; and it may lose its readers, or the log, for a while.
 */
export class LateRelay {
  readonly #fate: Fate;
  readonly #log: LateLog;
  readonly #settings: Partial<LogSettings>;
  readonly #name: string;
  /** Its clock has nothing to do with the others. */
  readonly #offsetMs: number;
  #sql!: Sql;
  #relay!: Relay;
  /** The relay's object, as the log's other readers are recorded. */
  #self!: Reader;
  #objects = 0;
  #silentUntil = NEVER;
  readonly #served = new WeakSet<Reader>();
  #rested = Promise.withResolvers<void>();
  #hearsLateUntil = NEVER;
  #lastPush: (() => Promise<boolean>) | null = null;

  constructor(fate: Fate, log: LateLog, settings: Partial<LogSettings>, name: string) {
    this.#fate = fate;
    this.#log = log;
    this.#settings = settings;
    this.#name = name;
    this.#offsetMs = (fate.random() - 0.5) * 7_200_000;
    this.#begin(true);
  }

  get name(): string {
    return this.#name;
  }

  /** Whether it has answered this reader. */
  hasServed(reader: Reader): boolean {
    return this.#served.has(reader);
  }

  /** Another object takes its place. `isDead`: the one before does nothing any more. */
  restart(isDead: boolean, isStorageLost: boolean): void {
    this.#self.isDead = isDead;
    this.#fate.count("restarts of a relay");
    this.#begin(isStorageLost);
  }

  /** From now on, none of its readers reaches it for this long. */
  fallSilent(ms: number): void {
    this.#fate.count("relays that their readers did not reach");
    this.#silentUntil = this.#fate.faultFor(ms);
  }

  /** From now on, it alone does not reach the log, nor the log it, for this long. */
  loseLog(ms: number): void {
    this.#fate.count("relays that did not reach the log");
    this.#self.cutOffUntil = this.#fate.faultFor(ms);
  }

  /** When its last read of the log began that has been answered: epoch milliseconds. */
  get readAt(): number {
    return this.#self.told.lease.askedAt;
  }

  /** What the log sends it from now on, for this long, arrives a second later. */
  hearLate(ms: number): void {
    this.#hearsLateUntil = this.#fate.faultFor(ms);
  }

  /** Sends it again what the log has sent it last; `null` if that is nothing. */
  get lastPush(): (() => Promise<boolean>) | null {
    return this.#lastPush;
  }

  /** Resolves when it next gives up its lease; to false if it does not within this time. */
  rests(withinMs: number): Promise<boolean> {
    const tooLate = this.#fate.scheduler.wait(withinMs).over.then(() => false);
    return Promise.race([this.#rested.promise.then(() => true), tooLate]);
  }

  /** A reader's connection to it. */
  async connect(reader: Reader, { learn, ...asked }: ConnectingReader, log: LateLog): Promise<LogConnection> {
    const fate = this.#fate;
    const [relay, self] = [this.#relay, this.#self];
    const line = new LateLine(fate, reader, (delta) => log.learns({ reader, learn }, delta), {
      isSilent: () => fate.now() < this.#silentUntil,
      isReplaced: () => self.isDead,
      call: (work) => this.#call(work),
    });
    const call = async (work: () => Promise<ViewDelta>): Promise<ViewDelta> => {
      const begun = log.begin();
      const delta = await line.call(work);
      log.noteDelta(reader, delta, begun);
      return delta;
    };
    let opened: Awaited<ReturnType<Relay["open"]>> = null;
    const opening = call(async () => {
      opened = await relay.open(asked, (delta) => line.push(delta));
      return opened!.first;
    });
    const first = await opening.catch(async (cause: unknown) => {
      // The runtime closes what nobody has got.
      void fate.scheduler.wait(UNHEARD_MS).over.then(() => opened && relay.disconnect(opened.connection));
      throw cause;
    });
    const { connection } = opened!;
    fate.count("connections to a relay");
    this.#served.add(reader);
    return {
      first,
      renew: (since, leaseMs, longestViewAgeMs) =>
        call(() => relay.renew(connection, since, leaseMs, longestViewAgeMs)),
      release: () => line.release(() => relay.release(connection)),
      close: () => relay.disconnect(connection),
    };
  }

  #begin(isStorageLost: boolean): void {
    const fate = this.#fate;
    if (isStorageLost) this.#sql = fate.storages.empty();
    const clock = { now: () => fate.now() + this.#offsetMs, wait: (ms: number) => fate.scheduler.wait(ms) };
    const id = `copy ${++this.#objects} of ${this.#name}`;
    const copy = new SqlPurgeLog(this.#sql, this.#settings, clock.now, () => id);
    this.#self = {
      name: `${this.#name}.${fate.nextOrder()}`,
      told: new Told(),
      bearers: 1, // its reads are not those of visitors
      lastBearerAt: NEVER,
      doubtAt: NEVER,
      pop: 0,
      isDead: false,
      cutOffUntil: NEVER,
    };
    const { read, connect } = this.#log.reachedBy(this.#self) as RelayedLog;
    const root: RelayedLog = {
      read,
      connect: async ({ learn, ...asked }) => {
        const connection = await connect({ ...asked, learn: (delta) => this.#learns(learn, delta) });
        const release = () => {
          const released = connection!.release();
          this.#rested.resolve();
          this.#rested = Promise.withResolvers();
          return released;
        };
        return connection && { ...connection, release };
      },
    };
    this.#relay = new Relay(copy, root, clock, () => fate.random(), this.#settings.rememberedByNameMs);
  }

  /** It is sent a purge by the log. */
  async #learns(learn: ConnectingReader["learn"], delta: ViewDelta): Promise<boolean> {
    const fate = this.#fate;
    if (fate.now() < this.#hearsLateUntil) await fate.scheduler.wait(1000).over;
    this.#lastPush = () => learn(delta);
    const hasReached = await learn(delta);
    fate.count("purges that a relay confirmed", hasReached);
    return hasReached;
  }

  /** A call of the relay's object, and its reply. */
  async #call<T>(work: () => T): Promise<T> {
    const fate = this.#fate;
    await fate.delay(80);
    if (fate.now() < this.#silentUntil) throw new Error("silent");
    this.#fail("lost messages to a relay", 0.01);
    const reply = await work();
    await fate.delay(fate.pick([50, 50, 50, 50, 50, 50, 50, 1500]));
    this.#fail("lost replies of a relay", 0.02);
    return reply;
  }

  #fail(name: "lost messages to a relay" | "lost replies of a relay", probability: number): void {
    if (this.#fate.happens(name, probability)) throw new Error("lost");
  }
}
