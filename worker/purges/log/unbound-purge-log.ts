import type { LedgerClient } from "../../metrics/reports.ts";
import type { PurgeAudit } from "../../ports/purge-log.ts";
import type { PurgeLogClient } from "./log-contract.ts";

/** Stands in for the log of a worker that has no binding for it. Every call rejects, as for a log that is silent. */
export class UnboundPurgeLog implements PurgeLogClient, PurgeAudit, LedgerClient {
  /** The notes of isolates that have a log are not for this one. */
  readonly objectId = "unbound";

  read(): Promise<never> {
    return unbound();
  }

  append(): Promise<never> {
    return unbound();
  }

  list(): Promise<never> {
    return unbound();
  }

  find(): Promise<never> {
    return unbound();
  }

  report(): Promise<never> {
    return unbound();
  }

  readLedger(): Promise<never> {
    return unbound();
  }

  findUnseen(): Promise<never> {
    return unbound();
  }
}

async function unbound(): Promise<never> {
  throw new Error("the worker has no binding PURGE_LOG");
}
