import type { Context } from "hono";
import type { SqliteOutbox } from "../../sdk/outbox/sqlite.ts";
import type { DemoDatabase } from "../data/database.ts";

/** When a page was rendered, and its number, to distinguish a fresh page from a stored copy. */
export interface RenderStamp {
  number: number;
  at: number;
}

/** An event in the origin, for a caller that writes a log. */
export type DemoEvent =
  | { kind: "answered"; method: string; path: string; status: number; tookMs: number; forwarded: boolean }
  | { kind: "purged"; tags: readonly string[]; reason: string; seq: number | undefined }
  | { kind: "purge-failed"; tags: readonly string[]; reason: string; error: unknown }
  | { kind: "outbox-failed"; error: unknown }
  | { kind: "failed"; method: string; path: string; error: unknown };

/** Everything that a page needs besides the request. There is one `Site` for each origin. */
export interface Site {
  database: DemoDatabase;
  /** The purges of saved changes, which are sent after the commit; undefined if nothing is purged. */
  outbox: SqliteOutbox<unknown> | undefined;
  autocompleteDelayMs: number;
  /** The page on another origin that calls the autocomplete. */
  searchPageUrl: string;
  /** Host names to accept in `X-Forwarded-Host`, beside those of this machine. */
  publicHosts: readonly string[];
  /** The public URL for requests that name no accepted host. */
  fallbackUrl: string;
  /** Aborted when the origin closes. */
  closing: AbortSignal;
  /** Epoch milliseconds. */
  now(): number;
  /** Counts one more rendering. */
  stamp(): RenderStamp;
  report(event: DemoEvent): void;
}

/** The variables that `app.ts` sets on every request before a handler runs. */
export interface DemoEnv {
  Variables: {
    site: Site;
    /** Scheme and host as the visitor sees them, without a trailing slash. */
    publicUrl: string;
    /** True if a proxy, such as the edge, passed the request on. */
    forwarded: boolean;
  };
}

export type DemoContext = Context<DemoEnv>;
