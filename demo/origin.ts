import type { DatabaseSync } from "node:sqlite";
import type { SqliteOutbox } from "../sdk/outbox/sqlite.ts";
import { DemoDatabase } from "./data/database.ts";
import { listen } from "./listen.ts";
import { demoApp } from "./site/app.ts";
import type { DemoEvent, Site } from "./site/context.ts";
import { type DemoPurger, openOutbox } from "./site/purger.ts";

export type { DemoEvent } from "./site/context.ts";
export type { DemoPurger } from "./site/purger.ts";

export interface DemoOriginOptions {
  /** The port to listen on. The default, 0, takes a free one. */
  port?: number;
  /** The address to listen on; default `127.0.0.1`. */
  host?: string;
  /** Purges the pages that a saved change outdates. Without a purger, saving works and says that nothing was purged. */
  purger?: DemoPurger;
  /** The database file, or a connection; default `:memory:`. A new database is always filled with the same rows. */
  database?: string | DatabaseSync;
  /** Host names, without a port, to accept in `X-Forwarded-Host` beside those of this machine. Default: none. */
  publicHosts?: readonly string[];
  /** The page on another origin, which the front page links to; default `http://localhost:8789/`. */
  searchPageUrl?: string;
  /** How long the autocomplete takes, in milliseconds; default 200. */
  autocompleteDelayMs?: number;
  /** Counts the renderings. Pass the same object again to continue the count after a restart. Default: from 0. */
  renders?: { count: number };
  /** The clock, in epoch milliseconds; default: the system's. */
  now?: () => number;
  /** Called for each answer, purge and failure. Default: nothing is called. */
  log?: (event: DemoEvent) => void;
}

export interface DemoOrigin {
  url: string;
  port: number;
  database: DemoDatabase;
  /** The purges that are still to be sent; undefined if there is no purger. */
  outbox: SqliteOutbox<unknown> | undefined;
  close(): Promise<void>;
}

/** Starts the demo's site. */
export async function startDemoOrigin(options: DemoOriginOptions = {}): Promise<DemoOrigin> {
  const database = new DemoDatabase(options.database);
  const now = options.now ?? Date.now;
  const closing = new AbortController();
  const renders = options.renders ?? { count: 0 };
  const publicHosts = options.publicHosts ?? [];
  const report = options.log ?? (() => {});
  const outbox = options.purger && openOutbox(database.connection, options.purger, now, report);
  const site: Site = {
    database,
    outbox,
    autocompleteDelayMs: options.autocompleteDelayMs ?? 200,
    searchPageUrl: options.searchPageUrl ?? "http://localhost:8789/",
    publicHosts,
    fallbackUrl: publicHosts[0] === undefined ? "http://localhost" : `http://${publicHosts[0]}`,
    closing: closing.signal,
    now,
    stamp: () => {
      renders.count += 1;
      return { number: renders.count, at: now() };
    },
    report,
  };
  try {
    const server = await listen(demoApp(site).fetch, options.port ?? 0, options.host ?? "127.0.0.1");
    if (publicHosts.length === 0) site.fallbackUrl = server.url;
    // It sends the purges left from before the last stop, and later repeats failed ones.
    outbox?.start({ onError: (error) => report({ kind: "outbox-failed", error }) });
    return {
      url: server.url,
      port: server.port,
      database,
      outbox,
      async close() {
        closing.abort();
        await server.close();
        await outbox?.close();
        database.close();
      },
    };
  } catch (error) {
    database.close();
    throw error;
  }
}
