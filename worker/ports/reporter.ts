import type { ClientClass } from "../rules/queueing/client-class.ts";
import type { NotStored } from "../rules/storing/not-stored.ts";
import type { StoredHead, StoredResponse } from "../rules/storing/stored-response.ts";

/** An event, as plain data. Only an adapter writes log lines. */
export type EdgeEvent =
  | AnsweredEvent
  | AnsweredByEdgeEvent
  | { readonly kind: "origin-asked" }
  /** `bytes`: the length of the body, if the origin announced it; `null` if it did not. */
  | {
      readonly kind: "origin-answered";
      readonly route: string | null;
      readonly url: string;
      readonly bytes: number | null;
    }
  /** A body whose length the origin had not announced was read to its end. */
  | { readonly kind: "body-measured"; readonly route: string | null; readonly url: string; readonly bytes: number }
  /** `isTold`: whether a cache in place of the origin has failed, and tells the owner of that. Default: no. */
  | {
      readonly kind: "origin-failed";
      readonly because: string;
      readonly cause: unknown;
      readonly isTold?: boolean | undefined;
      readonly at: number;
    }
  /** A request has to wait for its turn at the origin. */
  | { readonly kind: "origin-awaited"; readonly client: ClientClass }
  /** A request was not sent to the busy origin, because too many wait or it has waited too long. */
  | { readonly kind: "origin-turned-away"; readonly client: ClientClass }
  /**
   * An answer of the origin that may not be stored, by the `detail` of its `Cache-Status`, or whose body has turned out
   * on its way not to be. `field` is in a client's spelling.
   */
  | ({
      readonly kind: "not-stored";
      readonly route: string | null;
      readonly url: string;
      readonly at: number;
    } & NotStored)
  /** A response was fetched, or confirmed, and is stored. */
  | {
      readonly kind: "fetched";
      readonly route: string | null;
      /** Those of the route: its pages vary by them because the owner says so. */
      readonly selectingNames: readonly string[];
      readonly url: string;
      readonly stored: StoredResponse;
      readonly at: number;
    }
  /** A stored response was found in the shared tier, usable or not. */
  | { readonly kind: "found"; readonly head: StoredHead }
  | PassedOnEvent
  /** A request to the origin for a second look. It is one of those `origin-asked`. */
  | { readonly kind: "second-look" }
  /** A second look has found a field that chooses pages. */
  | { readonly kind: "field-marked" }
  | { readonly kind: "stored"; readonly bytes: number }
  | { readonly kind: "store-failed"; readonly cause: unknown }
  | { readonly kind: "fill-discarded"; readonly because: "purged" | "client-stalled" }
  | { readonly kind: "collapsed" }
  /** A body went out by the dictionary that its client held. `insteadOfBytes`: what it would have got without one. */
  | { readonly kind: "delta-sent"; readonly bytes: number; readonly insteadOfBytes: number }
  /** A request for a storable page was sent to the origin: its `Authorization`, its session or `bypass` demands that. */
  | { readonly kind: "asked-past-the-cache" }
  | { readonly kind: "token-refused" }
  | { readonly kind: "log-read"; readonly purges: number }
  /** `isPurge`: the log took no purge, although it may still be readable. The caller of the purge is told. */
  | { readonly kind: "log-failed"; readonly cause: unknown; readonly isPurge?: true }
  /** A copy of another isolate's read was used instead of reading the log. */
  | { readonly kind: "view-shared" }
  /** The log could not be told of pages that an unsafe request has invalidated. They stay until their lifetime ends. */
  | { readonly kind: "invalidation-dropped" }
  | { readonly kind: "purged"; readonly items: number }
  | { readonly kind: "failed"; readonly cause: unknown; readonly isSentOn: boolean };

/** An answer that the edge has made itself. The rest is absent for a request whose route was not known yet. */
export interface AnsweredByEdgeEvent {
  readonly kind: "answered-by-edge";
  readonly status: number;
  readonly detail: string;
  readonly arrivedAt: number;
  readonly route?: string | null | undefined;
  /** The cache key. */
  readonly url?: string | undefined;
  /** When the request arrived, by the timer. */
  readonly startedAt?: number | undefined;
}

/** The body of an answer that is for one visitor, or may be: one of a few, read on its way. */
export interface PassedOnEvent {
  readonly kind: "passed-on";
  readonly route: string | null;
  /** The cache key. */
  readonly url: string;
  /** What tells the visitor from others: the address and the cookies, as far as there are any. */
  readonly visitor: readonly string[];
  readonly bytes: Uint8Array;
  readonly at: number;
}

/** An answer with an `X-Cache`, when its head is there. */
export interface AnsweredEvent {
  readonly kind: "answered";
  readonly xCache: string;
  readonly status: number;
  /** The pattern of the route; `null` for paths that match none. */
  readonly route: string | null;
  /** The cache key. */
  readonly url: string;
  /** The slowest place that the request waited for. */
  readonly tier: "memory" | "shared" | "origin";
  /** The bytes of its body that come out of a stored response. */
  readonly cachedBytes: number;
  /** Whether the answer is stored, so that its URL may be shown with its query. */
  readonly isStored: boolean;
  /** When the request arrived: by the clock in epoch milliseconds, and by the timer. */
  readonly arrivedAt: number;
  readonly startedAt: number;
}

export interface Reporter {
  report(event: EdgeEvent): void;
}
