import type { EndingConnection } from "../../../server/http2/last-stream.ts";

interface Case extends EndingConnection {
  readonly name: string;
  /** Whether GOAWAY is sent now. */
  readonly expected: boolean;
}

/** When a connection that is to end says so. */
export const LAST_STREAM_CASES: readonly Case[] = [
  { name: "nothing has come yet", open: 0, mostOpen: 0, waitedMs: 0, expected: false },
  { name: "the first request has come", open: 1, mostOpen: 1, waitedMs: 0, expected: true },
  { name: "the last answer is out", open: 0, mostOpen: 1, waitedMs: 0, expected: false },
  { name: "one request less than the client ever had open", open: 7, mostOpen: 8, waitedMs: 999, expected: false },
  { name: "as many requests as the client ever had open", open: 8, mostOpen: 8, waitedMs: 999, expected: true },
  { name: "just before the time is over", open: 0, mostOpen: 8, waitedMs: 999, expected: false },
  { name: "the time is over", open: 0, mostOpen: 8, waitedMs: 1_000, expected: true },
  { name: "the time is long over", open: 1, mostOpen: 8, waitedMs: 60_000, expected: true },
];
