import type { IsolateStats } from "../../wire/stats.ts";
import type { EdgeEvent, Reporter } from "../ports.ts";

/** The stats that are counted from events. `startIsolate` adds the others. */
type Counts = Omit<IsolateStats, "version" | "scope" | "startedAt" | "memory" | "fills" | "view">;

/** The most names of fields that are counted apart, and what the others are counted as: no name has parentheses. */
const MAX_FIELD_NAMES = 50;
const OTHER_FIELDS = "(others)";

/** Counts events, and logs a line when the origin or the purge log fails and when it recovers. */
export class Counters implements Reporter {
  readonly #write: (line: string) => void;
  readonly #originUrl: string;
  readonly #answers = new Map<string, number>();
  readonly #answeredByEdge = new Map<string, number>();
  readonly #refused = new Map<string, number>();
  readonly #unkeyedFields = new Map<string, number>();
  readonly #discarded = new Map<string, number>();
  readonly #counts = {
    originAsked: 0,
    originAnswered: 0,
    originFailed: 0,
    stored: 0,
    storedBytes: 0,
    storeFailed: 0,
    secondLooks: 0,
    fieldsMarked: 0,
    collapsed: 0,
    askedPastTheCache: 0,
    tokensRefused: 0,
    logReads: 0,
    logFailed: 0,
    viewShared: 0,
    purges: 0,
    invalidationsDropped: 0,
    failures: 0,
  };
  #originIsDown = false;
  #logIsDown = false;

  constructor(originUrl: string, write: (line: string) => void) {
    this.#originUrl = originUrl;
    this.#write = write;
  }

  report(event: EdgeEvent): void {
    switch (event.kind) {
      case "answered":
        add(this.#answers, event.xCache);
        return;
      case "answered-by-edge":
        add(this.#answeredByEdge, event.detail);
        return;
      case "origin-asked":
        this.#counts.originAsked++;
        return;
      case "origin-answered":
        this.#counts.originAnswered++;
        if (this.#originIsDown) this.#write(`The origin ${this.#originUrl} answers again.`);
        this.#originIsDown = false;
        return;
      case "origin-failed":
        this.#counts.originFailed++;
        if (!this.#originIsDown) this.#write(this.#originDownLine(event.because, event.cause));
        this.#originIsDown = true;
        return;
      case "body-cut-off":
        add(this.#discarded, "cut-off");
        return;
      case "fill-discarded":
        add(this.#discarded, event.because);
        return;
      case "not-stored":
        add(this.#refused, event.because);
        if (event.field !== undefined) this.#addUnkeyedField(event.field);
        return;
      case "second-look":
        this.#counts.secondLooks++;
        return;
      case "field-marked":
        this.#counts.fieldsMarked++;
        return;
      case "stored":
        this.#counts.stored++;
        this.#counts.storedBytes += event.bytes;
        return;
      case "store-failed":
        this.#counts.storeFailed++;
        return;
      case "collapsed":
        this.#counts.collapsed++;
        return;
      case "asked-past-the-cache":
        this.#counts.askedPastTheCache++;
        return;
      case "token-refused":
        this.#counts.tokensRefused++;
        return;
      case "log-read":
        this.#counts.logReads++;
        if (this.#logIsDown) this.#write("The purge log answers again.");
        this.#logIsDown = false;
        return;
      case "log-failed":
        this.#counts.logFailed++;
        if (!this.#logIsDown) {
          this.#write(
            `The purge log cannot be reached (${String(event.cause)}). Until it answers, requests go to the origin.`,
          );
        }
        this.#logIsDown = true;
        return;
      case "view-shared":
        this.#counts.viewShared++;
        return;
      case "invalidation-dropped":
        this.#counts.invalidationsDropped++;
        return;
      case "purged":
        this.#counts.purges++;
        return;
      case "failed":
        this.#counts.failures++;
        this.#write(`Tidemark failed on a request and sent it to the origin: ${stackOf(event.cause)}`);
        return;
    }
  }

  counts(): Counts {
    const counts = this.#counts;
    return {
      answers: Object.fromEntries(this.#answers),
      answeredByEdge: Object.fromEntries(this.#answeredByEdge),
      origin: { asked: counts.originAsked, answered: counts.originAnswered, failed: counts.originFailed },
      store: {
        stored: counts.stored,
        storedBytes: counts.storedBytes,
        failed: counts.storeFailed,
        refused: Object.fromEntries(this.#refused),
        unkeyedFields: Object.fromEntries(this.#unkeyedFields),
        discarded: Object.fromEntries(this.#discarded),
      },
      secondLooks: { asked: counts.secondLooks, marked: counts.fieldsMarked },
      collapsed: counts.collapsed,
      askedPastTheCache: counts.askedPastTheCache,
      tokensRefused: counts.tokensRefused,
      log: { reads: counts.logReads, failedReads: counts.logFailed, shared: counts.viewShared },
      purges: counts.purges,
      invalidationsDropped: counts.invalidationsDropped,
      failures: counts.failures,
    };
  }

  #addUnkeyedField(name: string): void {
    const isCounted = this.#unkeyedFields.has(name) || this.#unkeyedFields.size < MAX_FIELD_NAMES;
    add(this.#unkeyedFields, isCounted ? name : OTHER_FIELDS);
  }

  #originDownLine(because: string, cause: unknown): string {
    const why = because === "timed-out" ? "took too long to answer" : `cannot be reached (${causeWords(cause)})`;
    const status = because === "timed-out" ? 504 : 502;
    return `The origin ${this.#originUrl} ${why}. Pages that are not in the cache get ${status} until it answers.`;
  }
}

/** The runtime reports an unknown host name as an internal error with a reference that does not help the owner. */
function causeWords(cause: unknown): string {
  const text = String(cause).replace(/^Error: /, "");
  return text.startsWith("internal error") ? "no such host name, or the runtime could not connect" : text;
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function stackOf(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
