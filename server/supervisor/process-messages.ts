import type { Scheme } from "../connections/arrival.ts";
import type { ServiceAnswer, ServiceMessage } from "./process-line.ts";

/** What a worker needs to reach the log of a site. */
export interface LogOfSite {
  readonly site: string;
  /** Where it reaches the log. */
  readonly socket: string;
  /** The worker holds a shared lock on this file from before it reaches the log until it ends. */
  readonly lock: string;
}

/** What the supervisor tells a worker. Handles travel beside the message. */
export type ToWorker =
  | {
      readonly kind: "start";
      readonly name: string;
      readonly settings: unknown;
      /** The logs of its sites, and the name by which they expect it. */
      readonly logs: readonly LogOfSite[];
      readonly reader: string;
      /** The worker holds a shared lock on this file for as long as it lives. */
      readonly lock: string;
      /** How long it may drain once its supervisor has died, in milliseconds. */
      readonly drainMs: number;
    }
  /** A handle of a listening socket, of which there are `count` in all. Listening begins with the last one. */
  | { readonly kind: "socket"; readonly address: string; readonly scheme: Scheme; readonly count: number }
  /** Comes before the sockets: the logs of these sites do not answer, so they are not served until "admitted". */
  | { readonly kind: "not-admitted"; readonly sites: readonly string[] }
  | { readonly kind: "admitted"; readonly site: string }
  | ServiceAnswer
  /** The log goes to another process: calls of it are held back, and go on with "resume". */
  | { readonly kind: "hold" }
  | { readonly kind: "resume" }
  /** Some look at the machine, each for something. */
  | { readonly kind: "survey"; readonly lookedFor: readonly unknown[] }
  /** It is to give a "sign". */
  | { readonly kind: "give-sign" }
  /** The log files of the worker were moved away. */
  | { readonly kind: "reopen" }
  /** It is killed if that takes longer than `withinMs`. */
  | { readonly kind: "drain"; readonly withinMs: number };

/** What a worker tells its supervisor. */
export type ToSupervisor =
  | ServiceMessage
  /** The program has started. */
  | { readonly kind: "started" }
  /** It accepts connections. */
  | { readonly kind: "listening" }
  /** No call of the log is under way. */
  | { readonly kind: "held" }
  /** It wants a survey of the machine, which is told by an "answer". */
  | { readonly kind: "survey-asked"; readonly number: number; readonly lookedFor: unknown }
  /** What it says of itself in a survey: plain data. */
  | { readonly kind: "surveyed"; readonly said: unknown }
  /** It comes to its messages. */
  | { readonly kind: "sign" }
  /** It writes to log files that it has opened anew, or could not open them. */
  | { readonly kind: "reopened"; readonly hasWorked: boolean }
  /** It could not start or listen, and ends. `isLockedOut`: because it could not lock its files. */
  | { readonly kind: "failed"; readonly because: string; readonly isLockedOut: boolean };
