import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The name under which the PoPs find the purge log. */
export const LOG_WORKER = "purge-log";

/** Miniflare removes the entry of a runtime that it takes for one that has ended: an entry 5 minutes old. */
const NEVER_OLD = new Date(Date.UTC(2100, 0));

/** Longer than Miniflare leaves further changes of a file unread after one that it has read. */
const REPEAT_EVERY_S = 0.1;

/**
 * Where the PoPs find the purge log: its entry in their registry. The log's own runtime writes its entry elsewhere, because
 * Miniflare tells a runtime of a change while it still tells it of the last one. A connection that was used before waits
 * for a timer and a new one does not, so the end of a log may arrive after the start of the next. Here a change can wait
 * until the PoPs have taken up the last one.
 */
export class LogAddress {
  /** The registry of the log's own runtime. */
  readonly ownRegistry: string;
  readonly #registry: string;
  #text = "";
  #writtenAt = 0;

  /** `registry`: that of the PoPs. `temporary`: a folder for the log's own. */
  constructor({ registry, temporary }: { readonly registry: string; readonly temporary: string }) {
    this.#registry = registry;
    this.ownRegistry = join(temporary, "registry-of-log");
  }

  /** Tells the PoPs where the log is, which has started. */
  publish(): void {
    this.#text = readFileSync(join(this.ownRegistry, LOG_WORKER), "utf8");
    this.#write();
  }

  /** Tells them that there is none. An empty file is noticed at once, and one that is gone 100 ms later. */
  withdraw(): void {
    this.#text = "";
    this.#write();
  }

  /** Tells them the same again, if they have had the time to notice. They may miss a change that follows another one. */
  repeat(): void {
    if (process.uptime() - this.#writtenAt > REPEAT_EVERY_S) this.#write(); // fake timers fake the other clocks
  }

  /** At once, so that nobody in this process reads half of it. */
  #write(): void {
    const entry = join(this.#registry, LOG_WORKER);
    mkdirSync(this.#registry, { recursive: true });
    writeFileSync(entry, this.#text);
    utimesSync(entry, NEVER_OLD, NEVER_OLD);
    this.#writtenAt = process.uptime();
  }
}
