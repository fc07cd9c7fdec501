import type { ServedLog } from "../../../server/log/log-keeper.ts";
import type { PushChannel } from "../../../server/log/log-readers.ts";
import type { ViewDelta } from "../../../worker/purges/log/log-contract.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";
import type { Fate } from "../fate.ts";
import { callLate } from "./late-call.ts";
import type { Learner, Reader } from "./late-log.ts";

/** The longest time until a worker that has lost its connection tries again, and a supervisor that could not start. */
const TRIES_AGAIN_MS = 400;

/** A worker's process, as its supervisor knows it. */
interface Worker {
  readonly learner: Learner;
  /** What its view has reached, as it tells when it connects. */
  confirmed: Stamp | null;
  isAdmitted: boolean;
}

/** What a supervisor needs of its world. */
export interface SupervisorOptions {
  /** Opens the log as it keeps it. May reject, and is then tried again. */
  open(): Promise<ServedLog>;
  /** Gives a push to a worker, and records what it knows then. */
  learns(learner: Learner, pushed: ViewDelta): Promise<boolean>;
}

/**
 * The supervisor of one machine: the server's own log for its workers, behind sockets that break. Another one takes its
 * place while calls are under way.
 */
export class LateSupervisor {
  readonly #fate: Fate;
  readonly #options: SupervisorOptions;
  readonly #workers = new Map<string, Worker>();
  readonly #sockets = new Set<LateSocket>();
  #log: ServedLog | null = null;
  #opened!: Promise<void>;
  #silentUntil = Number.NEGATIVE_INFINITY;

  constructor(fate: Fate, options: SupervisorOptions) {
    this.#fate = fate;
    this.#options = options;
    this.#open();
  }

  /** Starts a worker. Resolves when it may answer visitors, or has ended before. */
  async start(learner: Learner): Promise<void> {
    const { name } = learner.reader;
    const worker: Worker = { learner, confirmed: null, isAdmitted: false };
    this.#workers.set(name, worker);
    this.#log?.readers.expect(name);
    void this.#connect(worker).catch(this.#fate.noteBug);
    while (!worker.isAdmitted && this.#workers.has(name)) {
      await this.#opened;
      // It rejects if another supervisor has taken the place of this one.
      await this.#log?.readers.admit(name).then(
        () => {
          worker.isAdmitted = true;
        },
        () => this.#fate.delay(TRIES_AGAIN_MS),
      );
    }
  }

  /** A worker's process has ended. */
  end(name: string): void {
    this.#workers.delete(name);
    this.#log?.readers.dismiss(name);
  }

  /** Nobody reaches it for this long, nor does it reach its workers. */
  fallSilent(ms: number): void {
    this.#silentUntil = this.#fate.now() + ms;
  }

  /** Another process keeps the log from now on, whose readers the workers are. */
  replace(): void {
    const before = this.#log;
    if (before === null) return; // it is being replaced
    this.#log = null;
    void before.giveAway();
    for (const socket of this.#sockets) socket.close();
    this.#open();
  }

  /** A call of the log by a worker, over its socket. */
  async call<T>(reader: Reader, work: (log: ServedLog) => Promise<T>): Promise<T> {
    if (reader.hasEnded) throw new Error("the process has ended");
    const isSilent = () => this.#isSilent || this.#log === null;
    const reply = await callLate(this.#fate, { isSilent, work: () => work(this.#log!) });
    if (reader.hasEnded) throw new Error("the process has ended");
    return reply;
  }

  get #isSilent(): boolean {
    return this.#fate.now() < this.#silentUntil;
  }

  #open(): void {
    this.#opened = this.#tryToOpen().then((log) => {
      for (const [name, { isAdmitted }] of this.#workers) {
        if (isAdmitted) log.readers.adopt(name);
        else log.readers.expect(name);
      }
      this.#log = log;
    });
  }

  async #tryToOpen(): Promise<ServedLog> {
    for (;;) {
      try {
        return await this.#options.open();
      } catch {
        await this.#fate.delay(TRIES_AGAIN_MS);
      }
    }
  }

  /** Keeps a worker connected, as long as it lives. */
  async #connect(worker: Worker): Promise<void> {
    const { reader } = worker.learner;
    for (;;) {
      await this.#fate.onTheWay(TRIES_AGAIN_MS);
      const log = this.#log;
      if (!this.#workers.has(reader.name) || reader.isDead) return;
      if (log === null || this.#isSilent || this.#fate.now() < reader.cutOffUntil) continue;
      const socket = new LateSocket(this.#fate, worker, () => this.#isSilent || this.#log !== log, {
        ...this.#options,
        confirm: (position) => log.readers.confirm(reader.name, position),
      });
      if (!log.readers.connect(reader.name, socket, worker.confirmed)) continue;
      this.#sockets.add(socket);
      await socket.closed;
      this.#sockets.delete(socket);
      log.readers.disconnect(reader.name, socket);
    }
  }
}

type SocketEnds = Pick<SupervisorOptions, "learns"> & { confirm(position: Stamp): void };

/** A worker's connection to its supervisor: what is sent comes late and in order, until the connection breaks. */
class LateSocket implements PushChannel {
  readonly #fate: Fate;
  readonly #worker: Worker;
  readonly #isBroken: () => boolean;
  readonly #ends: SocketEnds;
  readonly #closed = Promise.withResolvers<void>();
  #isClosed = false;
  #line: Promise<void> = Promise.resolve();

  constructor(fate: Fate, worker: Worker, isBroken: () => boolean, ends: SocketEnds) {
    this.#fate = fate;
    this.#worker = worker;
    this.#isBroken = isBroken;
    this.#ends = ends;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  close(): void {
    this.#isClosed = true;
    this.#closed.resolve();
  }

  push(delta: ViewDelta): void {
    this.#line = this.#line.then(() => this.#deliver(delta));
  }

  async #deliver(delta: ViewDelta): Promise<void> {
    if (!(await this.#arrives("lost pushes"))) return;
    void this.#take(delta).catch(this.#fate.noteBug);
  }

  async #take(delta: ViewDelta): Promise<void> {
    const hasReached = await this.#ends.learns(this.#worker.learner, delta);
    if (!hasReached) return;
    const position = { logId: delta.logId, seq: delta.to };
    const { confirmed } = this.#worker;
    if (confirmed?.logId !== position.logId || confirmed.seq < position.seq) this.#worker.confirmed = position;
    if (await this.#arrives("lost confirmations")) this.#ends.confirm(position);
  }

  async #arrives(unless: "lost pushes" | "lost confirmations"): Promise<boolean> {
    const fate = this.#fate;
    if (this.#isClosed) return false;
    await fate.onTheWay(fate.pick([50, 50, 50, 600]));
    const { isDead, cutOffUntil } = this.#worker.learner.reader;
    if (this.#isBroken() || isDead || fate.now() < cutOffUntil || fate.happens(unless, 0.05)) this.close();
    return !this.#isClosed;
  }
}
