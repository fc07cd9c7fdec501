import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import type { ServeOptions } from "../../../server/startup/prepare-server.ts";
import { chances } from "../../engine/chances.ts";
import { momentsOf, visitAt } from "./day-load.ts";
import { DayOrigin } from "./day-origin.ts";
import { DayPurges } from "./day-purges.ts";
import { DayRecord } from "./day-record.ts";
import { DayServer } from "./day-server.ts";
import { DayVisitors } from "./day-visitors.ts";
import type { DayWorker } from "./day-worker.ts";
import { VirtualTime } from "./virtual-time.ts";

export const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const TOKEN = "a-token-of-the-day-0123456789-0123456789";

export interface DayOptions {
  readonly folder: string;
  readonly seed: number;
  readonly requests: number;
  readonly purges: number;
}

/** Something that happens at an hour of the day. Visitors ask on meanwhile. */
export interface Act {
  readonly atHour: number;
  readonly does: (day: Day) => unknown;
}

/** The rules of the site, as its owner writes them. */
export interface Rules {
  readonly hosts: readonly string[];
  readonly [rule: string]: unknown;
}

/** The memory for pages of all workers, and the disk for pages. */
export const MEMORY_BYTES = 4 * 1024 * 1024;
export const DISK_BYTES = 6 * 1024 * 1024;

/** Every hour is looked at when so much of it has passed: then no act is under way. */
const LOOK_AT = 0.45;

/** The audit trail is kept for three hours, so that a day sees it pruned. */
export const AUDIT_MS = 3 * HOUR_MS;

/** A server, its origin and its visitors, for a day of virtual time. */
export class Day {
  readonly time: VirtualTime;
  readonly record: DayRecord;
  readonly origin: DayOrigin;
  readonly purges: DayPurges;
  readonly random: () => number;
  /** What the owner would read in the server's log, with the hour. */
  readonly said: string[] = [];
  readonly folder: string;
  readonly #options: DayOptions;
  /** Those that write files. In a process of their own they would end with their worker. */
  readonly #threads: Worker[] = [];
  readonly #visitors = new Map<DayWorker, DayVisitors>();
  readonly #left = new Set<DayVisitors>();
  #reached: readonly DayWorker[] = [];
  hasShop = false;
  server!: DayServer;
  /** Epoch milliseconds. */
  readonly begins: number;

  constructor(options: DayOptions, begins: number) {
    this.#options = options;
    this.begins = begins;
    this.folder = options.folder;
    this.random = chances(options.seed);
    this.time = new VirtualTime(begins, () => this.#underWay === 0);
    this.record = new DayRecord(this.time);
    this.origin = new DayOrigin(join(this.folder, "origin"), this.time, this.random, this.record);
    this.purges = new DayPurges(this.time, this.record, this.random);
    process.on("worker", this.#noteThread);
    mkdirSync(join(this.folder, "s"));
    mkdirSync(this.tlsFolder);
  }

  get tlsFolder(): string {
    return join(this.folder, "tls");
  }

  get accessLog(): string {
    return join(this.folder, "access.log");
  }

  /** Writes the config of the site. */
  configure(rules: Rules): void {
    writeFileSync(join(this.folder, "site.mjs"), `export default ${JSON.stringify(rules)};\n`);
  }

  async begin(): Promise<void> {
    await this.time.during(this.origin.comeUp());
    await this.time.during(this.start());
  }

  async start(): Promise<void> {
    this.server = await DayServer.start({
      serve: this.#serveOptions(),
      logSettings: { auditRetentionMs: AUDIT_MS },
      say: (line) => this.says(line),
      onWorkers: (workers) => this.#meet(workers),
    });
  }

  /** Notes a line of the server's log. */
  says(line: string): void {
    this.said.push(`${this.hourText} ${line}`);
  }

  /** What was said in this hour. */
  saidAt(hour: string): readonly string[] {
    return this.said.filter((line) => line.startsWith(`${hour}:`));
  }

  /** The requests of visitors that the ledger has counted, once all workers have reported. */
  async requestsInLedger(): Promise<number> {
    await this.time.advanceTo(this.time.elapsed + 3 * MINUTE_MS);
    const { body } = await this.time.during(this.visitors.call("GET", "stats"));
    return body.requests as number;
  }

  get hourText(): string {
    return new Date(this.time.elapsed).toISOString().slice(11, 16);
  }

  /** One of those that accept visitors. */
  get visitors(): DayVisitors {
    const all = this.#reached.map((worker) => this.#visitors.get(worker)!);
    return all[Math.floor(this.random() * all.length)]!;
  }

  get everyVisitors(): readonly DayVisitors[] {
    return this.#reached.map((worker) => this.#visitors.get(worker)!);
  }

  /** Lets the day pass, with visitors and purges by chance, and these acts. `everyHour` is called while nobody waits. */
  async pass(acts: readonly Act[], everyHour: () => Promise<void>): Promise<void> {
    const { requests, purges } = this.#options;
    let looks = 0;
    const visits = momentsOf(requests, this.random);
    const calls = momentsOf(purges, this.random);
    const ahead = [...acts].sort((one, other) => one.atHour - other.atHour);
    const next = { visit: visits.next().value as number, call: calls.next().value as number };
    let underWay: Promise<unknown> | null = null;
    const end = 24 * HOUR_MS;
    for (;;) {
      const lookAt = (looks + LOOK_AT) * HOUR_MS;
      if (this.time.elapsed >= lookAt && underWay === null) {
        looks++;
        await this.rest();
        await everyHour();
      }
      const act = ahead[0];
      const actAt = act ? act.atHour * HOUR_MS : end;
      const at = Math.min(next.visit, next.call, underWay ? this.time.elapsed + 50 : Math.min(actAt, lookAt));
      if (at >= end && !underWay) break;
      await this.time.advanceTo(at);
      if (at === next.visit) {
        void this.#comes();
        next.visit = visits.next().value as number;
      } else if (at === next.call) {
        if (this.#reached.length > 0) void this.purges.purgeBy(this.visitors);
        next.call = calls.next().value as number;
      } else if (act && !underWay && at === actAt) {
        ahead.shift();
        underWay = this.#do(act).finally(() => {
          underWay = null;
        });
      }
      await this.time.quiet();
    }
    await this.time.advanceTo(end);
    await this.rest();
  }

  /** Lets time pass until nobody waits. Resolves to what was wrong. */
  async rest(): Promise<readonly string[]> {
    while (this.#underWay > 0) await this.time.advanceTo(this.time.elapsed + 20);
    await this.time.quiet();
    return this.record.judge();
  }

  /** Lets so much time pass that what was begun for visitors who have left has ended, too. */
  async fallQuiet(): Promise<void> {
    await this.time.advanceTo(this.time.elapsed + MINUTE_MS);
    await this.time.quiet();
  }

  async end(): Promise<void> {
    await this.time.during(this.server.stop());
    await this.origin.goDown();
    for (const visitors of [...this.#visitors.values(), ...this.#left]) await visitors.leave();
    process.off("worker", this.#noteThread);
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
    await this.fallQuiet(); // The client of the visitors looks for timers of its own once more.
  }

  get threads(): number {
    return this.#threads.filter(({ threadId }) => threadId > 0).length;
  }

  readonly #noteThread = (thread: Worker) => void this.#threads.push(thread);

  async #do({ atHour, does }: Act): Promise<void> {
    try {
      await does(this);
    } catch (cause) {
      this.record.broke(`what was to happen at ${atHour} failed: ${String(cause)}`);
    }
  }

  async #comes(): Promise<void> {
    if (this.#reached.length === 0) return;
    const visit = visitAt(this.random, this.hasShop);
    const after = this.random() < 0.005 ? this.purges.last : undefined;
    await this.visitors.visit({ ...visit, after });
  }

  get #underWay(): number {
    let sum = 0;
    for (const visitors of this.#visitors.values()) sum += visitors.underWay;
    for (const visitors of this.#left) sum += visitors.underWay;
    return sum;
  }

  #meet(workers: readonly DayWorker[]): void {
    this.#reached = workers;
    for (const worker of workers) {
      if (this.#visitors.has(worker)) continue;
      const name = `visit to ${worker.name}`;
      this.#visitors.set(worker, new DayVisitors(name, worker.path, TOKEN, this.time, this.record));
    }
    for (const [worker, visitors] of this.#visitors) {
      if (workers.includes(worker)) continue;
      this.#visitors.delete(worker);
      this.#left.add(visitors);
      void visitors.leaveWhenDone().then(() => this.#left.delete(visitors));
    }
  }

  #serveOptions(): ServeOptions {
    return {
      config: join(this.folder, "site.mjs"),
      defaultConfig: null,
      sites: null,
      environment: { TIDEMARK_TOKEN: TOKEN },
      origin: `unix:${join(this.folder, "origin")}`,
      parent: null,
      parentToken: null,
      listen: [
        { host: "127.0.0.1", port: 8080 },
        { host: "127.0.0.1", port: 8443, scheme: "https" },
      ],
      sockets: [],
      predecessor: null,
      certificates: { pairs: [], folder: this.tlsFolder },
      acme: null,
      usesProxyProtocol: false,
      redirectsToHttps: null,
      strictTransportSecurity: null,
      cache: this.folder,
      log: null,
      memoryBytes: MEMORY_BYTES,
      diskBytes: DISK_BYTES,
      workers: 2,
      usesFastAnswers: true,
      accessLog: { path: this.accessLog, format: "combined" },
      ahead: null,
      report: () => undefined,
    };
  }
}
