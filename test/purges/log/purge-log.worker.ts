/** The log's Durable Object behind HTTP, for the contract suite: `POST /` with a `LogCall`. The test sets its clock. */
import { PurgeLog as DeployedLog, sqlOf } from "../../../worker/purges/log/purge-log.ts";
import { SqlPurgeLog } from "../../../worker/purges/log/sql-purge-log.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";
import type { LogCall } from "./log-call.ts";

let now = 0;

export class PurgeLog extends DeployedLog {
  readonly #lent = new Map<string, Awaited<ReturnType<DeployedLog["openConnection"]>>>();

  protected override now(): number {
    return now;
  }

  protected override async wakeAt(): Promise<void> {
    // The test calls `runDue`.
  }

  async perform(call: LogCall["call"], parameters: readonly unknown[]): Promise<unknown> {
    // The object does without some calls of its storage, which only a server makes.
    const newId = () => crypto.randomUUID();
    const callee = call in this ? this : new SqlPurgeLog(sqlOf(this.ctx.storage), {}, () => now, newId);
    const work = (callee as never)[call] as (...given: readonly unknown[]) => unknown;
    return work.apply(callee, [...parameters]);
  }

  /** A reader opens a connection, and answers no push. */
  async join(name: string, leaseMs: number, skewMs: number): Promise<void> {
    const reader = { name, since: null, leaseMs, longestViewAgeMs: leaseMs, skewMs };
    this.#lent.set(name, await this.openConnection(reader, async () => false));
  }

  async confirm(name: string, position: Stamp, leaseMs: number): Promise<void> {
    await this.#lent.get(name)?.connection.renew(position, leaseMs, leaseMs);
  }

  leave(name: string): void {
    this.#lent.get(name)?.connection.release();
  }

  /** The object ends, and the next call starts another one over the same storage. */
  restart(): void {
    this.ctx.abort();
  }
}

export default {
  async fetch(request, { PURGE_LOG }) {
    const { log, call, parameters, ...at } = (await request.json()) as LogCall;
    now = at.now;
    const stub = PURGE_LOG.get(PURGE_LOG.idFromName(log));
    try {
      const result = await stub.perform(call, parameters);
      const text = JSON.stringify({ result }, (_, value) => (value instanceof Uint32Array ? [...value] : value));
      return new Response(text);
    } catch (cause) {
      return Response.json({ error: String(cause) });
    }
  },
} satisfies ExportedHandler<{ PURGE_LOG: DurableObjectNamespace<PurgeLog> }>;
