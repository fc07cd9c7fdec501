import { join, resolve } from "node:path";
import { CacheFolder } from "../../../server/disk/cache-folder.ts";
import { Janitor } from "../../../server/disk/eviction/janitor.ts";
import { type Prepared, prepare, type ServeOptions } from "../../../server/startup/prepare-server.ts";
import { ONLY_SITE, SiteLogs } from "../../../server/supervisor/site-logs.ts";
import { eventInWords } from "../../../server/supervisor/supervisor-events.ts";
import { systemClock } from "../../../server/system-clock.ts";
import type { LogSettings } from "../../../worker/purges/log/log-settings.ts";
import { DayWorker } from "./day-worker.ts";

export interface DayServerOptions {
  readonly serve: ServeOptions;
  readonly logSettings: Partial<LogSettings>;
  /** Gets what the owner would read. */
  readonly say: (line: string) => void;
  /** These workers accept visitors from now on, and no others. */
  readonly onWorkers: (workers: readonly DayWorker[]) => void;
}

/** What a server hands over to the next one, which has read its settings already. */
interface HandOver {
  readonly prepared: Prepared;
  readonly workers: readonly DayWorker[];
  readonly lock: string;
}

/** How long a worker may take for its answers when another one takes its place. Milliseconds. */
const REPLACE_WITHIN_MS = 60_000;

/**
 * A supervisor with its workers in one process, over the engine's own parts: settings, log, janitor and the program of the
 * workers. It does in order what `Supervisor` does with processes, which has tests of its own.
 */
export class DayServer {
  readonly #options: DayServerOptions;
  readonly #logs: SiteLogs;
  readonly #janitor: Janitor;
  #prepared: Prepared;
  #workers: DayWorker[] = [];
  #started = 0;

  private constructor(options: DayServerOptions, prepared: Prepared, from: HandOver | null) {
    this.#options = options;
    this.#prepared = prepared;
    const { logSettings, say, serve } = options;
    const folder = resolve(serve.cache, "log");
    const report = (event: Parameters<typeof eventInWords>[0]) => say(eventInWords(event));
    this.#logs = new SiteLogs({ folder, clock: systemClock, logSettings, report }, from?.lock ?? null);
    const { disk } = prepared.settings;
    this.#janitor = new Janitor(CacheFolder.open(disk!.folder), disk!.maxBytes);
  }

  static async start(options: DayServerOptions, from: HandOver | null = null): Promise<DayServer> {
    const prepared = from?.prepared ?? (await prepare(options.serve));
    for (const line of prepared.warnings) options.say(line);
    const server = new DayServer(options, prepared, from);
    await server.#logs.open(server.#grants, () => (from?.workers ?? []).map(({ reader }) => reader));
    for (const worker of from?.workers ?? []) worker.resume();
    void server.#janitor.scan();
    server.#workers = await server.#startWorkers();
    server.#tell();
    return server;
  }

  get workers(): readonly DayWorker[] {
    return this.#workers;
  }

  /** The janitor's index, and what is being written. */
  get diskBytes(): number {
    return this.#janitor.usedBytes;
  }

  /** Reads the settings anew. If they are not valid, those in use stay, and it resolves to false. */
  async reload(): Promise<boolean> {
    try {
      this.#prepared = await prepare(this.#options.serve, this.#prepared);
    } catch (cause) {
      this.#options.say(eventInWords({ kind: "reload-failed", cause }));
      return false;
    }
    for (const line of this.#prepared.warnings) this.#options.say(line);
    const old = this.#workers;
    this.#workers = await this.#startWorkers();
    this.#tell();
    await this.#end(old, REPLACE_WITHIN_MS);
    return true;
  }

  /** A worker ends, and another one takes its place. */
  async replace(index: number): Promise<void> {
    const [old] = this.#workers.splice(index, 1);
    this.#tell();
    await this.#end([old!], REPLACE_WITHIN_MS);
    this.#workers.splice(index, 0, await this.#startWorker());
    this.#tell();
  }

  async reopen(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.reopen()));
  }

  /** Hands over to a new server, and ends. Resolves to that. */
  async upgrade(): Promise<DayServer> {
    const prepared = await prepare(this.#options.serve);
    await Promise.all(this.#workers.map((worker) => worker.hold()));
    await this.#logs.giveAway();
    void this.#janitor.close();
    const lock = this.#logs.workersLock;
    const old = this.#workers;
    this.#workers = [];
    const next = await DayServer.start(this.#options, { prepared, workers: old, lock });
    await next.#end(old, REPLACE_WITHIN_MS);
    next.#logs.forget(lock);
    return next;
  }

  async stop(): Promise<void> {
    const workers = this.#workers;
    this.#workers = [];
    this.#tell();
    await this.#end(workers, 10_000);
    await this.#logs.close();
    await this.#janitor.close();
  }

  #tell(): void {
    this.#options.onWorkers([...this.#workers]);
  }

  get #grants() {
    return new Map([...this.#prepared.sites].map(([name, { site }]) => [name, site.purge]));
  }

  async #startWorkers(): Promise<DayWorker[]> {
    return Promise.all(Array.from({ length: this.#options.serve.workers }, () => this.#startWorker()));
  }

  async #startWorker(): Promise<DayWorker> {
    const name = `worker-${++this.#started}`;
    const reader = this.#logs.readerOf(name);
    this.#logs.expect(reader, this.#grants);
    const [log] = this.#logs.of(this.#grants);
    const folder = join(this.#options.serve.cache, "s");
    const worker = await DayWorker.start({
      ...{ name: `${name}-${reader.slice(-4)}`, folder, settings: this.#prepared.settings, reader },
      logSocket: log!.socket,
      workersLock: this.#logs.workersLock,
      janitor: this.#janitor,
    });
    await this.#logs.admit(reader, [ONLY_SITE], () => undefined);
    await worker.listen();
    return worker;
  }

  async #end(workers: readonly DayWorker[], withinMs: number): Promise<void> {
    await Promise.all(
      workers.map(async (worker) => {
        await worker.end(withinMs);
        this.#logs.dismiss(worker.reader);
      }),
    );
  }
}
