import type { Stamp } from "../rules/stored-response.ts";
import type { AppendRequest, AppendResult, PurgeLogClient, ViewDelta } from "./log-contract.ts";
import type { PurgeLog } from "./purge-log.ts";

/** There is one log for a site, under this name. */
const LOG_NAME = "tidemark";

/** The log behind its Durable Object. A stub belongs to the request that made it, so each call makes its own. */
export class LogStub implements PurgeLogClient {
  readonly #namespace: DurableObjectNamespace<PurgeLog>;

  constructor(namespace: DurableObjectNamespace<PurgeLog>) {
    this.#namespace = namespace;
  }

  async read(since: Stamp | null, leaseMs: number): Promise<ViewDelta> {
    // What crosses is plain data; the runtime's types take its pairs for lists.
    return (await this.#stub().read(since, leaseMs)) as unknown as ViewDelta;
  }

  async append(purge: AppendRequest): Promise<AppendResult> {
    return (await this.#stub().append(purge)) as unknown as AppendResult;
  }

  #stub(): DurableObjectStub<PurgeLog> {
    return this.#namespace.get(this.#namespace.idFromName(LOG_NAME));
  }
}
