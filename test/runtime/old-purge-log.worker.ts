import { PurgeLog } from "../../worker/purges/log/purge-log.ts";

const DAYS_MS = 3 * 24 * 3600 * 1000;

/** A log that was made days ago, so that receipts settle by confirmations from the start (R25). */
export class OldPurgeLog extends PurgeLog {
  #isAtWork = false;

  constructor(...given: ConstructorParameters<typeof PurgeLog>) {
    super(...given);
    void this.read(null, 0, 0, undefined, "the first");
    this.#isAtWork = true;
  }

  protected override now(): number {
    return Date.now() - (this.#isAtWork ? 0 : DAYS_MS);
  }
}
