import { join } from "node:path";
import type { Janitor } from "../../../server/disk/eviction/janitor.ts";
import { janitorService } from "../../../server/disk/eviction/janitor-service.ts";
import { FileLock } from "../../../server/log/file-lock.ts";
import { SupervisedLog } from "../../../server/log/log-client.ts";
import { startWorker } from "../../../server/program/edge-program.ts";
import type { RunningWorker } from "../../../server/program/worker-program.ts";
import type { EdgeSettings } from "../../../server/startup/edge-settings.ts";
import { ONLY_SITE } from "../../../server/supervisor/site-logs.ts";
import { systemClock } from "../../../server/system-clock.ts";
import { LogWire } from "./log-wire.ts";

export interface WorkerPlace {
  readonly name: string;
  /** Where its sockets are. */
  readonly folder: string;
  readonly settings: EdgeSettings;
  /** The name by which the log expects it. */
  readonly reader: string;
  readonly logSocket: string;
  readonly workersLock: string;
  readonly janitor: Janitor;
}

/** A worker of the day: what its process would be, in this one. */
export class DayWorker {
  readonly reader: string;
  readonly #lock: FileLock;
  readonly #wire: LogWire;
  readonly #log: SupervisedLog;
  readonly #running: RunningWorker;
  readonly #line: { close(): void };
  readonly #folder: string;
  readonly name: string;

  private constructor(
    { name, folder, reader }: WorkerPlace,
    parts: { lock: FileLock; wire: LogWire; log: SupervisedLog; running: RunningWorker; line: { close(): void } },
  ) {
    this.name = name;
    this.#folder = folder;
    this.reader = reader;
    this.#lock = parts.lock;
    this.#wire = parts.wire;
    this.#log = parts.log;
    this.#running = parts.running;
    this.#line = parts.line;
  }

  /** It accepts nobody before `listen`. */
  static async start(place: WorkerPlace): Promise<DayWorker> {
    const { name, folder, settings, reader, logSocket, workersLock, janitor } = place;
    const lock = FileLock.take(workersLock, "shared")!;
    const wire = await LogWire.open(join(folder, `${name}.log`), logSocket);
    const log = new SupervisedLog({ socketPath: wire.path, name: reader, clock: systemClock });
    const line = janitorService(janitor).connect();
    const logs = new Map([[ONLY_SITE, log]]);
    const running = await startWorker({ name, settings: structuredClone(settings), logs, line });
    log.learnBy((delta) => running.learn(delta, ONLY_SITE));
    return new DayWorker(place, { lock, wire, log, running, line });
  }

  get path(): string {
    return join(this.#folder, `${this.name}.http`);
  }

  get tlsPath(): string {
    return join(this.#folder, `${this.name}.tls`);
  }

  listen(): Promise<void> {
    return this.#running.listen(
      [
        { address: this.path, scheme: "http", handles: [{ path: this.path }] },
        { address: this.tlsPath, scheme: "https", handles: [{ path: this.tlsPath }] },
      ],
      [],
    );
  }

  set isLogSilent(isSilent: boolean) {
    this.#wire.isSilent = isSilent;
  }

  hold(): Promise<void> {
    return this.#log.hold();
  }

  resume(): void {
    this.#log.resume();
  }

  async reopen(): Promise<void> {
    await this.#running.reopen?.();
  }

  /** Ends it as its process ends. */
  async end(withinMs: number): Promise<void> {
    await this.#running.drain(withinMs);
    await this.#log.close();
    await this.#wire.close();
    this.#line.close();
    this.#lock.release();
  }
}
