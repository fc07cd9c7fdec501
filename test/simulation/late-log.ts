import { DatabaseSync } from "node:sqlite";
import { Log } from "../../worker/purges/log.ts";
import type { AppendRequest, AppendResult, PurgeLogClient, ViewDelta } from "../../worker/purges/log-contract.ts";
import { sqlOf } from "../engine/memory-log.ts";
import { HOST } from "../engine/scenario.ts";
import type { Fate } from "./fate.ts";
import type { Page } from "./history.ts";

/** What the log has told one isolate: purges up to which number, and until when it may go by that. */
export interface Told {
  heard: number;
  /** Epoch milliseconds of the world's clock. */
  knewUntil: number;
}

/** The real log, reached over a network: late both ways, silent for a while, and sometimes its reply is lost. */
export class LateLog {
  isReachable = true;
  readonly #fate: Fate;
  readonly #log: Log;
  readonly #orders = new Map<number, number>();

  constructor(fate: Fate) {
    this.#fate = fate;
    const sql = sqlOf(new DatabaseSync(":memory:"));
    const settings = { replyKeys: 50, heldKeys: 1000, auditMs: 1e9 };
    this.#log = new Log(
      sql,
      settings,
      () => fate.now(),
      () => "log",
    );
  }

  /** The world's order of events when a number was given. */
  orderOf(seq: number): number {
    return this.#orders.get(seq)!;
  }

  /** The log as one isolate reaches it, which notes what it is told. */
  reachedBy(told: Told): PurgeLogClient {
    const note = ({ to, leaseMs }: ViewDelta, begunAt: number) => {
      told.heard = Math.max(told.heard, to);
      told.knewUntil = Math.max(told.knewUntil, begunAt + leaseMs);
    };
    return {
      read: async (since, leaseMs, withinMs) => {
        const begunAt = this.#fate.now();
        const delta = await this.#call(() => this.#log.read(since, leaseMs, withinMs));
        note(delta, begunAt);
        return delta;
      },
      append: async (purge) => {
        const begunAt = this.#fate.now();
        const result = await this.#call(() => this.#append(purge));
        if (result.kind === "appended") note(result.delta, begunAt);
        return result;
      },
    };
  }

  async #call<T>(work: () => T): Promise<T> {
    const fate = this.#fate;
    await fate.delay(120);
    if (!this.isReachable) throw new Error("silent");
    const reply = work();
    await fate.delay(fate.pick([50, 50, 50, 1500]));
    if (fate.random() < 0.05) {
      fate.count("lost replies of the log");
      throw new Error("lost");
    }
    return structuredClone(reply);
  }

  #append(purge: AppendRequest): AppendResult {
    const result = this.#log.append(purge);
    if (result.kind !== "appended") return result;
    const { seq, settlesInMs } = result;
    this.#orders.set(seq, this.#fate.nextOrder());
    if (purge.by === "edge") this.#noteInvalidation(seq, purge.purgeKeys, settlesInMs);
    return result;
  }

  /** Nobody has a receipt of what the edge itself tells: it is known here alone. */
  #noteInvalidation(seq: number, purgeKeys: readonly string[], settlesInMs: number): void {
    const targets = purgeKeys.map((key) => key.replace(`//${HOST}`, ""));
    this.#fate.tell(`invalidation ${seq} of ${targets}`);
    this.#fate.history.purges.push({
      name: `invalidation ${seq}`,
      kind: "invalidation",
      seq,
      order: this.orderOf(seq),
      settledAt: this.#fate.now() + settlesInMs,
      matches: ({ target }: Page) => targets.includes(target),
    });
  }
}
