import type { DemoDatabase } from "./database.ts";
import type { DemoPurger } from "./purger.ts";

/** When a page was made, and the how manieth it was: what tells a fresh page from a kept copy. */
export interface RenderStamp {
  number: number;
  at: number;
}

/** What happens in the origin, for whoever wants to write lines about it. */
export type DemoEvent =
  | { kind: "answered"; method: string; path: string; status: number; tookMs: number; forwarded: boolean }
  | { kind: "purged"; tags: string[]; reason: string; seq: number | undefined }
  | { kind: "purge-failed"; tags: string[]; reason: string; error: unknown }
  | { kind: "failed"; method: string; path: string; error: unknown };

/** What pages are made from. */
export interface Site {
  database: DemoDatabase;
  purger: DemoPurger | undefined;
  autocompleteDelayMs: number;
  /** Where the page of another origin is that calls the autocomplete, as far as this one knows. */
  searchPageUrl: string;
  /** Epoch milliseconds. */
  now(): number;
  /** Counts one more page. */
  stamp(): RenderStamp;
  report(event: DemoEvent): void;
}
