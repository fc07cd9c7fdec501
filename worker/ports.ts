import type { PurgeAnswer } from "./rules/freshness/judge.ts";
import type { BytePart } from "./rules/ranges/range.ts";
import type { Stamp, Stored, StoredHead } from "./rules/storing/stored-response.ts";

/** What the corridor needs from outside. Types only; the adapters stand in `edge/` and `purges/`. */
export interface Ports {
  readonly clock: Clock;
  /** A number from 0 up to, not including, 1. */
  readonly random: () => number;
  readonly store: Store;
  readonly origin: Origin;
  readonly purges: PurgeState;
  readonly invalidations: Invalidations;
  readonly reporter: Reporter;
  readonly bodies: Bodies;
  readonly tokens: Tokens;
}

/** Time and its waits. Instants are epoch milliseconds. */
export interface Clock {
  now(): number;
  /** Resolves after so many milliseconds, in the request that waits. */
  wait(ms: number): Wait;
}

export interface Wait {
  readonly over: Promise<void>;
  /** Frees the timer; `over` then never resolves. */
  cancel(): void;
}

/** Work that goes on behind the answer: the runtime keeps the request alive for it. */
export interface BackgroundWork {
  run(work: Promise<unknown>): void;
}

/** The two tiers. A stored response that cannot be read whole is none. Nothing here rejects: a failure is a miss, and is reported. */
export interface Store {
  /** The isolate's memory. No I/O. */
  recall(key: string): Stored | undefined;
  /** The PoP's shared tier. */
  lookUp(key: string): Promise<Stored | undefined>;
  /** Puts into memory what was found in the shared tier. Its stamp stays as it is (R3). */
  remember(stored: Stored): void;
  /** Keeps in both tiers; in memory at once, in the shared tier when the promise is done. */
  keep(stored: Stored): Promise<void>;
  /** Drops this PoP's own copy as far as that goes: a put under way may still bring it back. */
  forget(key: string): Promise<void>;
  /** A body that is stored apart, or that part of it; `undefined` if it is gone. */
  readBody(bodyKey: string, part: BytePart | null): Promise<ReadableStream<Uint8Array> | undefined>;
  /** Keeps a body apart, as far as it comes. Resolves to whether the tier took it. */
  keepBody(bodyKey: string, body: ReadableStream<Uint8Array>): Promise<boolean>;
}

/**
 * Notes that the isolates of a PoP leave for each other. One that is written may be seen late, or never, and an old one may
 * come back. Each call may reject.
 */
export interface PopNotes {
  /** `null` if there is none. */
  read(name: string): Promise<Uint8Array | null>;
  write(name: string, bytes: Uint8Array): Promise<void>;
}

export interface OriginRequest {
  readonly method: string;
  readonly pathAndQuery: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: ReadableStream | null;
}

/** What asking the origin came to. Expected failures are values: stale rules need to know them. */
export type OriginAnswer =
  | { readonly kind: "answered"; readonly response: Response }
  /** 101: the connection now belongs to another protocol, and the answer goes to the client as it is. */
  | { readonly kind: "switched"; readonly response: Response }
  | {
      readonly kind: "failed";
      readonly because: "unreachable" | "timed-out" | "bad-response";
      readonly cause: unknown;
    };

export interface Origin {
  /** The origin's address, without a trailing slash. */
  readonly url: string;
  fetch(request: OriginRequest): Promise<OriginAnswer>;
}

/** What a receipt's token asks: to be answered from a view at least this far along. */
export type ReceiptToken = Stamp;

/** What this isolate knows of the purges. The protocol's rules stand in docs/protocol.md. */
export interface PurgeState {
  /** The lease in force, in milliseconds. */
  readonly leaseMs: number;
  /**
   * Whether a view may be judged with now: its lease lives, or it is younger than `withinMs`, and it has reached the
   * token. No I/O.
   */
  isUsable(now: number, after: ReceiptToken | null, withinMs?: number): boolean;
  /** Whether the view has reached the time of its renewal, and nobody renews it yet. */
  isDue(now: number): boolean;
  /** What the view held says, usable or not. No I/O. */
  check(stored: StoredHead, usable: boolean): PurgeAnswer;
  /** Since when this isolate knows of the purge that has made the response stale (R10): epoch milliseconds. */
  madeStaleAt(stored: StoredHead): number;
  /** The stamp for a fetch that begins now (R1). */
  stamp(): Stamp | null;
  /**
   * Reads the log. Resolves when a view is usable, or when it is clear that none will be for now: the read failed, or
   * took longer than a waiter waits. Reads in flight are shared; with a token, the read begins after this call (R9).
   * Resolves to the token that still has to be honoured: `null` once it is reached or found false.
   */
  renew(background: BackgroundWork, after: ReceiptToken | null): Promise<ReceiptToken | null>;
}

/** How the log hears of what unsafe requests put out of date (R15). */
export interface Invalidations {
  /** Never waits, never rejects: it tries again behind the answer, within a budget of its own. */
  tell(purgeKeys: readonly string[], background: BackgroundWork): void;
}

/** The purge log as the control plane needs it. */
export interface PurgeLogWriter {
  /** Rejects if the log cannot be reached; the purge may then have happened, and its `id` makes trying again safe. */
  append(purge: NewPurge): Promise<AppendOutcome>;
}

/** One checked purge on its way into the log. */
export interface NewPurge {
  /** The caller's id; the same id with the same content happens once. */
  readonly id: string | null;
  /** A fingerprint of what the purge names, to tell a replay from a conflict. */
  readonly content: string;
  readonly purgeKeys: readonly string[];
  readonly accepted: AcceptedItems;
  /** Default: hard. */
  readonly mode?: PurgeMode;
  /** After how many milliseconds the same is purged once more; `null` for not at all. */
  readonly repeatAfterMs: number | null;
  readonly reason: string | null;
  /** The name of the token that was used. */
  readonly by: string;
}

/** What a purge does to what it names: gone; stale, but of use; or to be validated first (R10). */
export type PurgeMode = "hard" | "soft" | "invalidate";

/** How many items of each kind a purge names. */
export interface AcceptedItems {
  readonly urls: number;
  readonly tags: number;
  readonly prefixes: number;
  readonly hosts: number;
  readonly everything: boolean;
}

export type AppendOutcome =
  | {
      readonly kind: "appended";
      readonly seq: number;
      readonly logId: string;
      /** When the purge was accepted, by the log's clock: epoch milliseconds. */
      readonly at: number;
      /** From now until no view without this purge can be alive, in milliseconds. */
      readonly settlesInMs: number;
      /** True if the same id had been accepted before. */
      readonly replayed: boolean;
    }
  | { readonly kind: "conflict" };

/** One row of the audit trail. */
export interface PurgeRecord {
  readonly seq: number;
  /** Epoch milliseconds of the log's clock. */
  readonly at: number;
  /** The name of the token that was used. */
  readonly by: string;
  readonly reason: string | null;
  readonly mode: PurgeMode;
  readonly accepted: AcceptedItems;
  /** The first of its purge keys, as many as a row has room for. */
  readonly purgeKeys: readonly string[];
  /** How many purge keys it named in all. */
  readonly purgeKeyCount: number;
  readonly id: string | null;
  /** The purge that this one repeats. */
  readonly repeatOf: number | null;
  /** Whether its settle time was over, by the log's clock, when the row was read. */
  readonly settled: boolean;
}

/** A page of the audit trail, the newest first. */
export interface PurgeRecordPage {
  readonly purges: readonly PurgeRecord[];
  /** What to hand in as `before` for the next page; `null` after the last. */
  readonly next: number | null;
}

/** The audit trail as the control plane reads it. Both reject when the log cannot be reached. */
export interface PurgeAudit {
  /** Purges below the number `before`, or the newest; at most `limit` of them, and at most 500. */
  list(before: number | null, limit: number): Promise<PurgeRecordPage>;
  /** `null` if the log never had this purge, or has it no more. */
  one(seq: number): Promise<PurgeRecord | null>;
}

/** What the owner's tokens open. */
export interface Tokens {
  /** Checks in constant time. `closed`: no token is configured, so nothing is open. */
  check(token: string | null, scope: TokenScope): Promise<TokenVerdict>;
}

export type TokenScope = "purge" | "read";

export type TokenVerdict =
  | { readonly kind: "allowed"; readonly name: string }
  | {
      readonly kind: "refused";
      readonly because: "closed" | "unauthorized" | "forbidden";
      /** For an owner who reads the answer: why the control plane is closed, without any token. */
      readonly why?: string;
    };

/** Streams whose length the runtime may announce, and their reading. */
export interface Bodies {
  /** A pipe; with a length, the reader sees an error if fewer bytes come. */
  pipe(lengthBytes: number | null): {
    readonly readable: ReadableStream;
    readonly writable: WritableStream<Uint8Array>;
  };
  /** Reads a body that is passed on at once: in pieces as large as they come, where the runtime can. */
  read(body: ReadableStream<Uint8Array>): BodyReader;
}

export interface BodyReader {
  /** The next piece; `null` at the end. */
  next(): Promise<Uint8Array | null>;
  cancel(): Promise<void>;
}

/** What happened, as plain data. Only an adapter writes lines. */
export type EdgeEvent =
  | { readonly kind: "answered"; readonly xCache: string }
  | { readonly kind: "answered-by-edge"; readonly detail: string }
  | { readonly kind: "origin-asked" }
  | { readonly kind: "origin-answered" }
  | { readonly kind: "origin-failed"; readonly because: string; readonly cause: unknown }
  | { readonly kind: "body-cut-off" }
  /** An answer of the origin that may not be kept, by the `detail` of its `Cache-Status`. */
  | { readonly kind: "not-stored"; readonly because: string }
  | { readonly kind: "stored"; readonly bytes: number }
  | { readonly kind: "store-failed"; readonly cause: unknown }
  | { readonly kind: "fill-discarded"; readonly because: "purged" | "over-budget" | "too-large" | "client-stalled" }
  | { readonly kind: "collapsed" }
  /** Something that could be stored was asked of the origin all the same, because of the request's credentials. */
  | { readonly kind: "asked-past-the-cache" }
  | { readonly kind: "token-refused" }
  | { readonly kind: "log-read"; readonly purges: number }
  | { readonly kind: "log-failed"; readonly cause: unknown }
  /** What another isolate of the PoP has read was taken instead of reading the log. */
  | { readonly kind: "view-shared" }
  /** Pages that an unsafe request put out of date could not be told to the log; they stay until their lifetime ends. */
  | { readonly kind: "invalidation-dropped" }
  | { readonly kind: "purged"; readonly items: number }
  | { readonly kind: "failed"; readonly cause: unknown };

export interface Reporter {
  report(event: EdgeEvent): void;
}
