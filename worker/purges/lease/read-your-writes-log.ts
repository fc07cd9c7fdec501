import type { AppendOutcome, NewPurge, PurgeLogWriter } from "../../ports/purge-log.ts";
import type { PurgeLogClient } from "../log/log-contract.ts";
import type { ViewLease } from "./view-lease.ts";

/** Appends to the log, and brings this isolate's own view up to the new purge with the reply (R20). */
export class ReadYourWritesLog implements PurgeLogWriter {
  readonly #log: PurgeLogClient;
  readonly #lease: ViewLease;

  constructor(log: PurgeLogClient, lease: ViewLease) {
    this.#log = log;
    this.#lease = lease;
  }

  async append(purge: NewPurge): Promise<AppendOutcome> {
    const call = this.#lease.beginCall();
    const result = await this.#log.append({ ...purge, ...this.#lease.asReader });
    if (result.kind === "conflict") return result;
    const { delta, ...outcome } = result;
    await this.#lease.takeReplyAndShare(delta, call);
    return outcome;
  }
}
