import type { AppendRequest, AppendResult, ViewDelta } from "../../../worker/purges/log/log-contract.ts";
import type { LogSettings } from "../../../worker/purges/log/log-settings.ts";
import type { Sql } from "../../../worker/purges/log/sql.ts";
import { SqlPurgeLog } from "../../../worker/purges/log/sql-purge-log.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";
import { HOST } from "../../engine/scenario.ts";
import type { Fate } from "../fate.ts";
import type { Matches, Page, Purged } from "../history.ts";

/** A repetition that a log is to carry out. */
interface Repetition {
  readonly of: Purged;
  /** Epoch milliseconds of the log's clock. */
  readonly dueAt: number;
}

/** A log's storage, with the repetitions that are in there. */
export interface RecordedStorage {
  readonly sql: Sql;
  repetitions: Repetition[];
  /**
   * Until when readers of the log before may use what they read there, of which this one does not know: epoch milliseconds.
   * `undefined` if there was none, or once somebody has named it (R13).
   */
  unknownUntil: number | undefined;
}

/** All purges of a world that a log has given a number. */
export class NumberedPurges {
  /** The pages that purges under way cover, by the reason that the purges carry. */
  readonly planned = new Map<string, Matches>();
  readonly #fate: Fate;
  readonly #byNumber = new Map<string, Purged>();

  constructor(fate: Fate) {
    this.#fate = fate;
  }

  /** `undefined` if that log has given this number to none. */
  numbered({ logId, seq }: Stamp): Purged | undefined {
    return this.#byNumber.get(`${logId} ${seq}`);
  }

  noteAppended(
    { id, purgeKeys, by, mode = "hard", reason }: AppendRequest,
    result: AppendResult,
    unknownUntil: number | undefined,
  ): Purged | null {
    if (result.kind === "conflict") return null;
    const { logId, seq, settlesInMs, replayed } = result;
    if (id !== null) this.#noteId(`${logId} ${id}`, seq);
    if (replayed) return null;
    const targets = purgeKeys.map((key) => key.replace(`//${HOST}`, ""));
    const isOfEdge = by === "edge";
    return this.#note({
      name: `${isOfEdge ? "invalidation" : "purge"} ${seq} of ${logId}`,
      kind: isOfEdge ? "invalidation" : "purge",
      mode,
      logId,
      seq,
      order: this.#fate.nextOrder(),
      // Nobody has a receipt of the edge's own invalidations, so only this code knows when they settle.
      settledAt: isOfEdge ? this.#fate.now() + settlesInMs : Number.POSITIVE_INFINITY,
      unknownUntil,
      matches: isOfEdge ? ({ target }: Page) => targets.includes(target) : this.planned.get(reason!)!,
    });
  }

  noteRepeated({ kind, mode, matches, seq, logId, unknownUntil }: Purged, as: Stamp): void {
    const name = `purge ${as.seq} of ${as.logId}, which repeats ${seq} of ${logId},`;
    const order = this.#fate.nextOrder();
    this.#note({ name, kind, mode, ...as, order, settledAt: Number.POSITIVE_INFINITY, unknownUntil, matches });
  }

  #noteId(id: string, seq: number): void {
    const { numbersOfIds } = this.#fate.history;
    numbersOfIds.set(id, (numbersOfIds.get(id) ?? new Set()).add(seq));
  }

  #note(given: Omit<Purged, "at">): Purged {
    const purged = { ...given, at: this.#fate.now() };
    this.#byNumber.set(`${purged.logId} ${purged.seq}`, purged);
    this.#fate.history.purges.push(purged);
    this.#fate.tell(`${purged.name} has its number`);
    return purged;
  }
}

/** The real log, which records each purge as it gives it a number. */
export class RecordedLog extends SqlPurgeLog {
  readonly #purges: NumberedPurges;
  readonly #storage: RecordedStorage;
  readonly #now: () => number;

  constructor(
    purges: NumberedPurges,
    storage: RecordedStorage,
    settings: Partial<LogSettings>,
    now: () => number,
    newId: () => string,
  ) {
    super(storage.sql, settings, now, newId);
    this.#purges = purges;
    this.#storage = storage;
    this.#now = now;
  }

  override read(...asked: Parameters<SqlPurgeLog["read"]>): ViewDelta {
    this.#noteNamed(asked[0]);
    return super.read(...asked);
  }

  override append(purge: AppendRequest): AppendResult {
    this.#noteNamed(purge.since);
    const result = super.append(purge);
    const of = this.#purges.noteAppended(purge, result, this.#storage.unknownUntil);
    if (of !== null && purge.repeatAfterMs !== null) {
      this.#storage.repetitions.push({ of, dueAt: this.#now() + purge.repeatAfterMs });
    }
    return result;
  }

  /** A reader that names another log has told this one that there was one before it. */
  #noteNamed(since: Stamp | null): void {
    if (since !== null && since.logId !== this.head.logId) this.#storage.unknownUntil = undefined;
  }

  override runDue(): void {
    const now = this.#now();
    const before = this.head;
    super.runDue();
    const { logId } = this.head; // another one if the numbers ran out
    const isDue = ({ dueAt }: Repetition) => dueAt <= now;
    const due = this.#storage.repetitions.filter(isDue).toSorted((one, other) => one.dueAt - other.dueAt);
    this.#storage.repetitions = this.#storage.repetitions.filter((each) => !isDue(each));
    const isNews = (seq: number) => logId !== before.logId || seq > before.seq;
    const rows = this.list(null, 500).purges.filter(({ repeatOf, seq }) => repeatOf !== null && isNews(seq));
    // The newest first, as far as they are in this log: if the numbers ran out in between, the others went with theirs.
    for (const [index, { seq }] of rows.entries()) this.#purges.noteRepeated(due.at(-1 - index)!.of, { logId, seq });
  }
}
