import type { Interim, Reply } from "../../local/cdn/scripted-origin.ts";
import type { CapacityInput, SiteInput } from "../../worker/site/site-input.ts";
import type { Held } from "./holds.ts";
import type { BodyPart } from "./multipart.ts";

/** The memory engine, the Workers runtime, one's own server. */
export type EngineName = "memory" | "runtime" | "server";

/**
 * A test as data: the origin's replies, the clients' requests, the passing of time, and the expected answers. One
 * interpreter (`play.ts`) runs it on all three engines: memory, the Workers runtime, one's own server. If an expectation
 * would need an `if`, write two scenarios.
 */
export interface Scenario {
  /**
   * Its area, which is its folder, and a short name: `stale-if-error/origin-hangs-up`. Docs and mutants refer to it.
   */
  readonly id: string;
  /** A sentence that could stand in the README. */
  readonly name: string;
  /** The source of the rule: a section of an RFC, or a rule of docs/protocol.md. */
  readonly source: string;
  /** The site's rules, without origin and hosts. */
  readonly site?: SiteChange;
  /** The replies of each path, in turn; the last reply repeats. */
  readonly origin?: Readonly<Record<string, readonly Reply[]>>;
  readonly steps: readonly Step[];
  /** The number of orders of events in the memory engine, for long scenarios. Default: the usual number. */
  readonly orders?: number;
  /** Set if not every engine can run it, with the reason. */
  readonly only?: { readonly on: readonly EngineName[]; readonly because: string };
}

/**
 * The rules of a site as far as they differ from the usual ones. Of its origin, how much that is asked at a time; its address
 * is that of the engine's, unless `url` names another one.
 */
export type SiteChange = Omit<Partial<SiteInput>, "origin"> & {
  readonly origin?: CapacityInput & { readonly url?: string };
};

/** A site with such rules, whose origin is at this address. */
export function siteAt(url: string, { origin, ...rules }: SiteChange): SiteInput {
  return { origin: origin ? { url, ...origin } : url, hosts: [HOST], ...rules };
}

/**
 * Changes of the log: its storage is saved and later restored; another object takes over its storage; it is renamed, so
 * that there is a second log. Running isolates keep the object that they have. `pushes`: from now on each purge is pushed
 * to all isolates, and has settled when all have confirmed it.
 */
export type LogChange = "saved" | "set back" | "taken over" | "renamed" | "pushes";

/** A client's request. Without `host` it goes to `www.example.test`. */
export interface ClientRequest {
  readonly method?: string;
  readonly path: string;
  readonly host?: string;
  /** `$token` in a value stands for the token of the last receipt. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
  /**
   * The isolate of the PoP that takes it. The isolates share the PoP's tier and the log. Default `a`; others exist in
   * memory only. `far/a` is in another PoP, which shares only the log.
   */
  readonly isolate?: string;
  /** Where the platform says that the client is. Default: it does not say. */
  readonly country?: string;
  /** The address that the platform tells of the client. Default: `192.0.2.7`. */
  readonly address?: string;
}

/** The expected answer. Properties that are not named are not checked. */
export interface Expected {
  readonly status?: number;
  readonly xCache?: string | RegExp | null;
  /** The whole body, or a pattern for a part of it. */
  readonly body?: string | RegExp;
  readonly ageSeconds?: number;
  /** The whole field, or a pattern for a part of it. */
  readonly cacheStatus?: string | RegExp;
  /** Fields by name, each as a whole value or a pattern for a part of it; `null` for one that must not be there. */
  readonly fields?: Readonly<Record<string, string | RegExp | null>>;
  /** The parts of a `multipart/byteranges` body, in order. */
  readonly parts?: readonly BodyPart[];
  /** The interim responses before the answer, with all their fields. */
  readonly interims?: readonly Interim[];
  /** True if the client must see that the body was cut off. */
  readonly cutOff?: boolean;
}

export type Step =
  | { readonly get: string; readonly fields?: Readonly<Record<string, string>>; readonly expect: Expected }
  | { readonly send: ClientRequest; readonly expect: Expected }
  /** Sends a request and continues without waiting for its answer. */
  | { readonly begin: string; readonly send: ClientRequest }
  | { readonly finish: string; readonly expect: Expected }
  /** Sends this many requests at once, and expects the same answer to each. */
  | { readonly sendMany: number; readonly request: ClientRequest; readonly expectEach: Expected }
  /** The isolate that receives it; default `a`. */
  | { readonly purge: object; readonly isolate?: string; readonly expect?: Expected }
  | { readonly advanceMs: number }
  | { readonly origin: "down" | "up" }
  | { readonly reply: Readonly<Record<string, readonly Reply[]>> }
  | { readonly release: string }
  /** Waits until the origin has received this request so many times. */
  | { readonly originSees: string; readonly count: number }
  /** Waits until so many requests wait for their turn at the origin. */
  | { readonly inLine: number }
  /** The origin's record up to here: the number of requests for each path. */
  | { readonly originSaw: Readonly<Record<string, number>> }
  /** The last request that the origin received: its method, and fields; `null` for one that must not be there. */
  | {
      readonly originLastSaw: string;
      readonly method?: string;
      readonly fields?: Readonly<Record<string, string | null>>;
    }
  /** The isolate dies and a new one takes over. Its memory is lost; the PoP's shared tier and the log remain. */
  | { readonly restart: "isolate" }
  /** Waits until no background work is left, so that everything fetched is in the shared tier. */
  | { readonly work: "finished" }
  /** The PoP's shared tier evicts all entries. */
  | { readonly sharedTier: "emptied" }
  /** The number of bytes read, up to here, of bodies that are stored apart. In memory only. */
  | { readonly bodyBytesRead: number }
  /** `made anew`: the log loses its storage and thereby becomes another log. */
  | { readonly log: "down" | "up" | "made anew" | LogChange }
  /** From now on a call of the log takes this long: half of it on the way there, half on the way back. */
  | { readonly logTakesMs: number }
  /** Holds back the next event of this kind until it is released. */
  | { readonly holdNext: Held; readonly until: string }
  /** Holds back all events of this kind until they are released. */
  | { readonly holdAll: Held; readonly until: string }
  /** The number of pushes over connections that the log has sent up to here. */
  | { readonly logPushed: number }
  /** The clock of one isolate is wrong by this much. */
  | { readonly clockOf: string; readonly aheadMs: number }
  /** Another version of the worker: isolates that start from now on run it, running isolates keep theirs. */
  | { readonly deploy: SiteChange }
  /** The client of a request under way goes away. Nothing that the request waits for resumes it. */
  | { readonly cancel: string }
  /** The most reads of the log by the isolate up to here. */
  | { readonly logReadsAtMost: number }
  /** Counters of `GET stats`, by path. */
  | { readonly stats: Readonly<Record<string, number>> };

export function runsOn({ only }: Scenario, engine: EngineName): boolean {
  return only === undefined || only.on.includes(engine);
}

/** The control plane's token in every engine. */
export const TOKEN = "scenario-token-with-32-characters!".replace("!", "0");

/** The public host of every scenario. */
export const HOST = "www.example.test";

/** The time at which every scenario begins: epoch milliseconds. */
export const BEGINNING = Date.UTC(2026, 0, 1, 12);
