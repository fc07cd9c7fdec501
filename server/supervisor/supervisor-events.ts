import { messageOf } from "../message-of.ts";
import { type Ending, endingInWords } from "./worker-process.ts";

/** What happens to the processes and to the log. */
export type SupervisorEvent =
  | {
      readonly kind: "listening";
      readonly addresses: readonly string[];
      readonly workers: number;
      readonly version: string;
    }
  | { readonly kind: "worker-listening"; readonly name: string; readonly pid: number }
  /** A worker ended that was not told to. Another one takes its place after `againInMs`. */
  | { readonly kind: "worker-died"; readonly name: string; readonly ending: Ending; readonly againInMs: number }
  /** A worker did not finish its answers: it was killed when its time was over, or ended for the reason that is given. */
  | { readonly kind: "worker-killed"; readonly name: string; readonly because?: string }
  | { readonly kind: "reloaded" }
  | { readonly kind: "reload-failed"; readonly cause: unknown }
  /** What the owner should know of the settings that were just loaded. */
  | { readonly kind: "warning"; readonly line: string }
  | { readonly kind: "reopened" }
  /** A new server answers, and the workers of this one finish. */
  | { readonly kind: "upgraded"; readonly pid: number }
  | { readonly kind: "upgrade-failed"; readonly cause: unknown }
  | { readonly kind: "stopping" }
  /** The log is another one than before, so that everything stored is fetched anew. */
  | { readonly kind: "log-replaced"; readonly why: string }
  /** The disk of the log takes no writes, and the server has started all the same. */
  | { readonly kind: "log-unwritable"; readonly cause: unknown }
  | { readonly kind: "log-writable" }
  /** The log could not be written. What failed is tried again, or was refused to its caller. */
  | { readonly kind: "log-failed"; readonly cause: unknown }
  /** The log has begun to refuse purges; it may be read all the same. */
  | { readonly kind: "purges-refused"; readonly cause: unknown }
  /** `site`: `null` for the only one. */
  | { readonly kind: "purges-taken"; readonly site: string | null }
  /** The log is out of reach. It is tried again, for `withinMs` in all, before the server starts. */
  | { readonly kind: "log-awaited"; readonly cause: unknown; readonly withinMs: number }
  | { readonly kind: "broken-peer"; readonly cause: unknown };

/** A line for the owner. */
export function eventInWords(event: SupervisorEvent): string {
  switch (event.kind) {
    case "listening":
      return `listening on ${event.addresses.join(", ")} with ${event.workers} workers (tidemark ${event.version})`;
    case "worker-listening":
      return `${event.name} (process ${event.pid}) accepts connections`;
    case "worker-died": {
      const again = event.againInMs === 0 ? "now" : `in ${event.againInMs} ms`;
      return `${event.name} died: ${endingInWords(event.ending)}; another worker starts ${again}`;
    }
    case "worker-killed":
      return `${event.name} ${event.because === undefined ? "did not finish in time and was killed" : `died: ${event.because}`}`;
    case "reloaded":
      return "the new settings are in use";
    case "reload-failed":
      return `the old settings stay in use: ${messageOf(event.cause)}`;
    case "warning":
      return event.line;
    case "reopened":
      return "log files were reopened";
    case "upgraded":
      return `process ${event.pid} has taken over; the old workers finish their answers`;
    case "upgrade-failed":
      return `the old server goes on: ${messageOf(event.cause)}`;
    case "stopping":
      return "stopping";
    case "log-replaced":
      return `the purge log counts as a new log, so the server fetches every stored page again: ${event.why}`;
    case "log-unwritable":
      return `${messageOf(event.cause)} Until it can be written again, pages are kept only in memory, and purges are refused.`;
    case "log-writable":
      return "the purge log can be written again, and accepts purges";
    case "log-failed":
      return `the purge log failed: ${messageOf(event.cause)}`;
    case "purges-refused":
      return `the purge log refuses purges: ${messageOf(event.cause)}`;
    case "purges-taken":
      return `the purge log ${event.site === null ? "" : `of site ${event.site} `}accepts purges again`;
    case "log-awaited": {
      const seconds = event.withinMs / 1000;
      return `${messageOf(event.cause)} The server tries again each second, and stops if the log cannot be used within ${seconds} s.`;
    }
    case "broken-peer":
      return `a connection to the purge log was closed: ${messageOf(event.cause)}`;
  }
}
