/**
 * The demo site in a process of its own, which kills itself at a moment of the next save. A kill from outside would come
 * too early or too late; a SIGKILL that a process sends itself leaves no more time for cleaning up than any other.
 */
import { DatabaseSync } from "node:sqlite";
import { startDemoOrigin } from "../../demo/origin.ts";
import { createPurger } from "../../sdk/index.ts";

export type Moment = "before the commit" | "after the commit" | "after the send" | "before the row is deleted";

export interface DemoSettings {
  readonly database: string;
  readonly port: number;
  readonly endpoint: string;
  readonly token: string;
  /** How far its clock is ahead, so that the leases of a process before it are over. */
  readonly aheadMs: number;
}

/** The messages of the process: first that all purges that were due are sent, then that it will kill itself. */
export type DemoMessage = { kind: "ready"; url: string; slugs: string[]; waiting: number } | { kind: "armed" };

const { database, port, endpoint, token, aheadMs } = JSON.parse(process.argv[2]!) as DemoSettings;
let armed: Moment | undefined;

function dieAt(moment: Moment): void {
  if (armed !== moment) return;
  process.kill(process.pid, "SIGKILL");
  for (;;); // not a single statement more
}

class KilledDatabase extends DatabaseSync {
  override exec(sql: string): void {
    if (sql === "COMMIT") dieAt("before the commit");
    super.exec(sql);
    if (sql === "COMMIT") dieAt("after the commit");
  }

  override prepare(...args: Parameters<DatabaseSync["prepare"]>): ReturnType<DatabaseSync["prepare"]> {
    if (args[0].startsWith("DELETE FROM tidemark_outbox")) dieAt("before the row is deleted");
    return super.prepare(...args);
  }
}

const purger = createPurger({
  endpoint,
  token,
  async fetch(url, init) {
    const answer = await globalThis.fetch(url, init as RequestInit);
    dieAt("after the send");
    return answer;
  },
});

const origin = await startDemoOrigin({
  database: new KilledDatabase(database),
  port,
  purger,
  now: () => Date.now() + aheadMs,
});
await origin.outbox!.drain();
process.on("message", (moment: Moment) => {
  armed = moment;
  process.send!({ kind: "armed" } satisfies DemoMessage);
});
process.send!({
  kind: "ready",
  url: origin.url,
  slugs: origin.database.slugs(),
  waiting: origin.outbox!.list().length,
} satisfies DemoMessage);
