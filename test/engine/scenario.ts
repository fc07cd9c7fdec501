import type { Reply } from "../../cdn/scripted-origin.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import type { Held } from "./holds.ts";
import type { BodyPart } from "./multipart.ts";

/**
 * A test as data: what the origin says, what clients ask, how much time passes, what must be seen.
 * The one interpreter (`play.ts`) runs it on both engines. If an expectation would need an `if`, it is two scenarios.
 */
export interface Scenario {
  /** Its area, which is its folder, and a short name: `stale-if-error/origin-hangs-up`. Docs and mutants refer to it. */
  readonly id: string;
  /** A sentence that could stand in the README. */
  readonly name: string;
  /** Where the rule stands: a section of an RFC, or a rule of docs/protocol.md. */
  readonly source: string;
  /** The site's rules beside origin and hosts. */
  readonly site?: SiteChange;
  /** What each path answers, in turn; the last reply goes on for ever. */
  readonly origin?: Readonly<Record<string, readonly Reply[]>>;
  readonly steps: readonly Step[];
  /** In how many orders of events the memory engine plays it, where it is long. Default: as many as the others. */
  readonly orders?: number;
  /** Set if only one engine can run it, with the reason. */
  readonly only?: { readonly engine: "memory" | "runtime"; readonly because: string };
}

/** The rules of a site beside its origin, as far as they are not the usual ones. */
export type SiteChange = Omit<Partial<SiteInput>, "origin">;

/**
 * What can happen to the log besides: its storage is saved and set back to then; another object takes over its storage;
 * it is renamed, so that there is a second one. Isolates that run go on with the object that they have.
 */
export type LogChange = "saved" | "set back" | "taken over" | "renamed";

/** What a client sends. Without `host` it goes to `www.example.test`. */
export interface ClientRequest {
  readonly method?: string;
  readonly path: string;
  readonly host?: string;
  /** `$token` in a value stands for the token of the last receipt. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
  /**
   * Which isolate of the PoP takes it; they share the PoP's tier and the log. Default `a`; others in memory only.
   * `far/a` is one of another PoP, with which they share the log alone.
   */
  readonly isolate?: string;
}

/** What a client must see. What is not named is not looked at. */
export interface Expected {
  readonly status?: number;
  readonly xCache?: string | RegExp | null;
  /** The whole body, or a part of it as a pattern. */
  readonly body?: string | RegExp;
  readonly ageSeconds?: number;
  /** The whole field, or a part of it as a pattern. */
  readonly cacheStatus?: string | RegExp;
  /** Fields by name, whole or a part as a pattern; `null` for one that must not be there. */
  readonly fields?: Readonly<Record<string, string | RegExp | null>>;
  /** The parts of a `multipart/byteranges` body, in order. */
  readonly parts?: readonly BodyPart[];
  /** True if the body must visibly end before its time. */
  readonly cutOff?: boolean;
}

export type Step =
  | { readonly get: string; readonly fields?: Readonly<Record<string, string>>; readonly expect: Expected }
  | { readonly send: ClientRequest; readonly expect: Expected }
  /** Sends a request and goes on without its answer. */
  | { readonly begin: string; readonly send: ClientRequest }
  | { readonly finish: string; readonly expect: Expected }
  /** Sends so many at once and expects the same of each. */
  | { readonly sendMany: number; readonly request: ClientRequest; readonly expectEach: Expected }
  /** Through which isolate; default `a`. */
  | { readonly purge: object; readonly isolate?: string; readonly expect?: Expected }
  | { readonly advanceMs: number }
  | { readonly origin: "down" | "up" }
  | { readonly reply: Readonly<Record<string, readonly Reply[]>> }
  | { readonly release: string }
  /** Waits until the origin has been asked for this so many times. */
  | { readonly originSees: string; readonly count: number }
  /** The origin's record: how often each path was asked for, up to here. */
  | { readonly originSaw: Readonly<Record<string, number>> }
  /** Fields of the last request that the origin saw; `null` for one that must not be there. */
  | { readonly originLastSaw: string; readonly fields: Readonly<Record<string, string | null>> }
  /** The isolate dies and a new one takes over: its memory is gone, the PoP's shared tier and the log are not. */
  | { readonly restart: "isolate" }
  /** Waits until nothing goes on behind the answers: all that was fetched lies in the shared tier. */
  | { readonly work: "finished" }
  /** The PoP's shared tier evicts all that it holds. */
  | { readonly sharedTier: "emptied" }
  /** How many bytes were read of bodies that are stored apart, up to here. In memory only. */
  | { readonly bodyBytesRead: number }
  /** `made anew`: its storage is gone, and so it is another log. */
  | { readonly log: "down" | "up" | "made anew" | LogChange }
  /** From now on a call of the log takes so long: half of it on the way there, half on the way back. */
  | { readonly logTakesMs: number }
  /** The next of its kind arrives when it is released. */
  | { readonly holdNext: Held; readonly until: string }
  /** The clock of one isolate is off. */
  | { readonly clockOf: string; readonly aheadMs: number }
  /** Another version of the worker: isolates that start from now on run it, those that run go on as they are. */
  | { readonly deploy: SiteChange }
  /** The client of a begun request goes away. Nothing that the request waits for comes back to it. */
  | { readonly cancel: string }
  /** How often the isolate has read the log, at most, up to here. */
  | { readonly logReadsAtMost: number }
  /** Counters of `GET stats`, by their path. */
  | { readonly stats: Readonly<Record<string, number>> };

/** The token of every engine's control plane. */
export const TOKEN = "scenario-token-with-32-characters!".replace("!", "0");

/** The public host of every scenario. */
export const HOST = "www.example.test";

/** When every scenario begins: epoch milliseconds. */
export const BEGINNING = Date.UTC(2026, 0, 1, 12);
