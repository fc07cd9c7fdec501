import type { AppendOutcome, NewPurge, PurgeLogWriter } from "../../ports/purge-log.ts";
import type { PurgeLogClient } from "../log/log-contract.ts";
import type { PurgeView } from "../view/purge-view.ts";
import type { ViewLease } from "./view-lease.ts";

/** Appends to the log, and brings this isolate's own view up to the new purge with the reply (R20). */
export class ReadYourWritesLog implements PurgeLogWriter {
  readonly #log: PurgeLogClient;
  readonly #view: PurgeView;
  readonly #lease: ViewLease;
  readonly #skewMs: number;

  constructor(log: PurgeLogClient, view: PurgeView, lease: ViewLease, skewMs: number) {
    this.#log = log;
    this.#view = view;
    this.#lease = lease;
    this.#skewMs = skewMs;
  }

  async append(purge: NewPurge): Promise<AppendOutcome> {
    const call = this.#lease.beginCall();
    const since = this.#view.position;
    const { leaseMs, longestViewAgeMs, name: reader } = this.#lease;
    const asked = { since, leaseMs, longestViewAgeMs, skewMs: this.#skewMs, reader };
    const result = await this.#log.append({ ...purge, ...asked });
    if (result.kind === "conflict") return result;
    const { delta, ...outcome } = result;
    await this.#lease.takeReplyAndShare(delta, call);
    return outcome;
  }
}
