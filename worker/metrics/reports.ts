import type { Clock } from "../ports/clock.ts";
import { type CountTree, countsSince, numberAt } from "./count-tree.ts";
import type { Counters, TopLists } from "./counters.ts";
import type { UnseenKey } from "./unseen-key.ts";

/** The shortest time between two reports of an isolate. Milliseconds. */
export const REPORT_EVERY_MS = 60_000;

/** The form of reports. The ledger ignores those of another form, which other versions of the worker send. */
export const REPORT_FORM = 1;

/** What one isolate tells the site's ledger: everything that it has counted since the report before. */
export interface Report {
  readonly form: typeof REPORT_FORM;
  /** The isolate, by a name that no other has. */
  readonly isolate: string;
  readonly pop: string;
  /** From 1 on. A report that may have been lost is sent again under its number. */
  readonly number: number;
  /** The time that it covers, and how long ago that ended: milliseconds of the isolate's clock, which may be wrong. */
  readonly coversMs: number;
  readonly agoMs: number;
  /** True if the isolate ends, so that no other report will come. */
  readonly isLast: boolean;
  readonly counts: CountTree;
  readonly routes: CountTree;
  readonly top: TopLists;
  readonly memory: { readonly entries: number; readonly bytes: number; readonly maxBytes: number };
  /** What `Sightings` has taken; absent in reports of versions that did not look at keys. */
  readonly seen?: readonly string[];
}

/** The ledger of a time up to now, or since it began for `null`, as JSON: `LedgerReading`. */
export type ReadLedger = (lastMs: number | null, pop: string | null) => Promise<string>;

/** Takes reports. It rejects if it cannot be reached; the report may have been taken all the same. */
export interface LedgerClient {
  report(report: string): Promise<void>;
  readLedger(...asked: Parameters<ReadLedger>): Promise<string>;
  /** The purge keys among these that no report has named, as far as that is known. */
  findUnseen(keys: readonly string[]): Promise<readonly UnseenKey[]>;
}

/** What a platform provides so that its isolates report. */
export interface LedgerAccess {
  readonly client: LedgerClient;
  /** The isolate, by a name that no other has. */
  readonly isolate: string;
  /** The PoP, where the platform knows it from the start. Default: as requests tell it. */
  readonly pop?: string;
  /**
   * Reads the ledger for the owner, after isolates have reported what they have counted up to now, with what the platform
   * knows beside it. `report` lets this one do so. Default: `readLedger`, which lacks up to a minute of each isolate.
   */
  readonly read?: (report: () => Promise<void>, ...asked: Parameters<ReadLedger>) => Promise<string>;
  /** Gets each report when it is made. Must not throw. */
  readonly onReport?: (report: Report) => void;
}

/** When a report is sent: if it is due, at once, or at once as the last one of an isolate that ends. */
type When = "due" | "now" | "last";

/**
 * Makes the reports of an isolate: one a minute at most by itself, and others when somebody asks. A report that was not
 * confirmed is sent again as it is, so that the ledger can tell that it has it already; what is counted meanwhile goes into
 * the next one.
 */
export class Reports {
  readonly #access: LedgerAccess;
  readonly #counters: Counters;
  readonly #clock: Clock;
  readonly #memory: () => Report["memory"];
  pop: string;
  #number = 0;
  #cutAt: number;
  #before: ReturnType<Counters["tree"]> = { counts: {}, routes: {} };
  #unconfirmed: Omit<Report, "agoMs"> | null = null;
  #dueAt = Number.NEGATIVE_INFINITY;
  /** The last report has been made. What is asked for after it says so, too, or the isolate would count as alive again. */
  #hasEnded = false;

  constructor(access: LedgerAccess, counters: Counters, clock: Clock, memory: () => Report["memory"]) {
    this.#access = access;
    this.#counters = counters;
    this.#clock = clock;
    this.#memory = memory;
    this.pop = access.pop ?? "";
    this.#cutAt = clock.now();
    counters.reportAt(this.#dueAt);
  }

  /** Sends the report that is due by this call, or calls without one. If the call or the report fails, it is sent again a minute later. */
  async sendBy<T>(call: (report: string | undefined) => Promise<T>, when: When = "due"): Promise<T> {
    if (when === "due" && !this.isDue) return call(undefined);
    const startedAt = this.#clock.now();
    this.#setDue(startedAt + REPORT_EVERY_MS);
    this.#unconfirmed ??= this.#make(startedAt, when === "last");
    const sent = this.#unconfirmed;
    const cutAt = this.#cutAt;
    const result = await call(JSON.stringify({ ...sent, agoMs: Math.max(0, startedAt - cutAt) }));
    const isTaken = !(result as { readonly reportFailed?: true } | undefined)?.reportFailed;
    if (isTaken && this.#unconfirmed === sent) {
      this.#unconfirmed = null;
      // A report that was sent again is late, and the next one covers more than a minute.
      if (cutAt < startedAt) this.#setDue(startedAt);
    }
    return result;
  }

  /** Reads the ledger for the owner. */
  read: ReadLedger = (...asked) => {
    const { client, read } = this.#access;
    return read ? read(() => this.sendAll("now"), ...asked) : client.readLedger(...asked);
  };

  get isDue(): boolean {
    return this.#clock.now() >= this.#dueAt;
  }

  /** How many requests are in no report that was confirmed. */
  get unreported(): number {
    const requests = (counts: CountTree = {}) => numberAt(counts, "requests");
    const { counts } = this.#counters.tree();
    return requests(counts) - requests(this.#before.counts) + requests(this.#unconfirmed?.counts);
  }

  /** Sends a report by a call of its own. Resolves to whether it is confirmed. If it is not, it is sent again later. */
  send(when: When = "now"): Promise<boolean> {
    return this.sendBy((report) => this.#access.client.report(report!), when).then(
      () => true,
      () => false,
    );
  }

  /** Sends what was counted up to now, after the reports that are not confirmed yet, to which others add while it waits. */
  async sendAll(when: "now" | "last"): Promise<void> {
    while (this.#unconfirmed !== null && (await this.send(when)));
    await this.send(when);
  }

  #make(now: number, isLast: boolean): Omit<Report, "agoMs"> {
    const { isolate, onReport } = this.#access;
    this.#hasEnded ||= isLast;
    const tree = this.#counters.tree();
    const made = {
      form: REPORT_FORM,
      isolate,
      pop: this.pop,
      number: ++this.#number,
      coversMs: Math.max(0, now - this.#cutAt),
      isLast: this.#hasEnded,
      counts: countsSince(tree.counts, this.#before.counts),
      routes: countsSince(tree.routes, this.#before.routes),
      top: this.#counters.takeTop(),
      memory: this.#memory(),
      seen: this.#counters.sightings.take(),
    } as const;
    this.#before = tree;
    this.#cutAt = now;
    onReport?.({ ...made, agoMs: 0 });
    return made;
  }

  #setDue(at: number): void {
    this.#dueAt = at;
    this.#counters.reportAt(at);
  }
}
