import type { Fields } from "./rules/fields/fields.ts";
import type { PurgeAnswer } from "./rules/freshness/judge.ts";
import type { BytePart } from "./rules/ranges/range.ts";
import type { ReceiptToken } from "./rules/request/receipt-token.ts";
import type { RequestFacts, RequestHeaders } from "./rules/request/request-facts.ts";
import type { Stamp, Stored, StoredHead, StoredResponse, VariantMarker } from "./rules/storing/stored-response.ts";

export type { ReceiptToken } from "./rules/request/receipt-token.ts";

/** The corridor's interfaces to the outside. Their adapters are in `platform/`, `store/` and `purges/`. */
export interface Ports {
  readonly clock: Clock;
  readonly timer: Timer;
  /** A number from 0 up to, but not including, 1. */
  readonly random: () => number;
  readonly store: Store;
  readonly origin: Origin;
  readonly purges: PurgeState;
  readonly invalidations: Invalidations;
  readonly reporter: Reporter;
  readonly bodies: Bodies;
  readonly tokens: Tokens;
  /** Absent where the edge sends bodies as the origin did: the platform may code them itself. */
  readonly compression?: Compression;
  /** Absent where this isolate cannot know of other isolates' fetches. */
  readonly fetchesElsewhere?: FetchesElsewhere;
}

/** The time, and waiting. Instants are epoch milliseconds. */
export interface Clock {
  now(): number;
  /** Resolves after this many milliseconds, in the request that waits. */
  wait(ms: number): Wait;
  /** The same with nothing else under way, where time does not pass by itself. Default: `wait`. */
  rest?(ms: number): Wait;
}

export interface Wait {
  readonly over: Promise<void>;
  /** Frees the timer; `over` then never resolves. */
  cancel(): void;
}

/** Work that continues after the answer. The runtime keeps the request alive for it. */
export interface BackgroundWork {
  run(work: Promise<unknown>): void;
}

/**
 * The two tiers. A stored response that cannot be read completely counts as missing. Nothing here rejects: a failure is
 * reported and counts as a miss.
 */
export interface Store {
  /** The isolate's memory. No I/O. */
  recall(key: string): Stored | undefined;
  /** The PoP's shared tier. `undefined` at once if it is known to hold nothing under this key. */
  lookUp(key: string): Promise<Found | undefined> | undefined;
  /** Counts a request for what the shared tier has found, and tells whether memory would keep it. */
  admits(head: StoredHead): boolean;
  /**
   * Keeps a response from the shared tier in memory. Its stamp stays as it is (R3). `isAdmitted`: `admits` has counted the
   * request and said so.
   */
  remember(stored: Stored, isAdmitted?: boolean): void;
  /** Weighs a response in memory anew, because more is held beside its body now. */
  weighAgain(key: string): void;
  /** Stores in both tiers: in memory at once, and in the shared tier by the time the promise resolves. */
  keep(stored: Stored): Promise<void>;
  /** Removes this PoP's copy as far as possible: a put under way may still bring it back. */
  forget(key: string): Promise<void>;
  /** A body that is stored apart, or a part of it; `undefined` if it is gone. */
  readBody(bodyKey: string, part: BytePart | null): Promise<StreamedBody | undefined>;
  /** Stores the bytes that arrive of a body under a key of its own. Resolves to whether the tier accepted it. */
  keepBody(bodyKey: string, body: StreamedBody): Promise<boolean>;
}

/** Sends stored responses coded that the origin has sent plain, where the platform does not do so. */
export interface Compression {
  /**
   * The form in which a request gets a stored response: coded, or plain with the fields of a response that has two forms.
   * The same object if it has but one.
   */
  formFor(request: CodedRequest, found: FoundResponse): FoundResponse | Promise<FoundResponse>;
  /** Gives, in place, the fields of the plain form to an answer that is passed on while it is being stored. */
  mark(request: CodedRequest, head: Omit<StoredHead, "bodyBytes" | "bodyKey">, fields: Fields): void;
  /** Makes, behind the answer, the form that the request would get. `isStored` resolves when the response is stored. */
  prepare(request: CodedRequest, stored: StoredResponse, isStored: Promise<unknown>): void;
  /** The coding in which the request would get a stored response or, in words, why it would get it plain. */
  explain(request: CodedRequest, found: FoundResponse): string;
  /** The bytes of the coded forms of a body. They are held with it in memory. */
  codedBytesOf(body: Uint8Array): number;
}

/** A request, as far as compression has to know it. */
export interface CodedRequest {
  readonly facts: RequestFacts;
  readonly ports: Pick<Ports, "store" | "clock">;
  readonly background: BackgroundWork;
  /** The cache that asks, which codes what it has itself; absent or `null` if a visitor asks. */
  readonly child?: object | null;
}

/** What the shared tier has under a key. */
export type Found = FoundResponse | VariantMarker;

/** A stored response whose body may still be on its way from the shared tier. Whoever does not read it cancels it. */
export interface FoundResponse {
  readonly head: StoredHead;
  /** `null` where the body is stored apart, under `head.bodyKey`. */
  readonly body: Uint8Array<ArrayBuffer> | StreamedBody | null;
}

/**
 * Notes that the isolates of a PoP leave for each other. A note may be seen late or never, and an old one may reappear.
 * Each call may reject.
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
  readonly body: StreamedBody | null;
  /**
   * How far a cache that stands in for the origin must have read the log before it may answer from its store;
   * absent or `null` if it may not. The origin itself has no use for it.
   */
  readonly after?: Stamp | null;
}

/** The origin's answer, with its fields as they came. */
export interface OriginResponse {
  readonly status: number;
  readonly statusText: string;
  readonly fields: Fields;
  /** Not decoded. */
  readonly body: StreamedBody | null;
  /** Given by a cache that stands in for the origin. Default: by the origin itself. */
  readonly parentAge?: ParentAge | undefined;
}

/** What a cache tells of the age of an answer that it gives in place of the origin. */
export interface ParentAge {
  /** How long before the request it was fetched, in milliseconds; 0 only if it was fetched for it. */
  readonly fetchedBeforeMs: number;
  /** Its age, which the field `Age` tells in whole seconds. */
  readonly ageMs: number;
}

/**
 * The result of a request to the origin. Expected failures are values, because the rules for stale responses need them.
 */
export type OriginAnswer =
  | { readonly kind: "answered"; readonly response: OriginResponse }
  /** 101: the connection now belongs to another protocol. `connection` is the `switchedTo` of the answer. */
  | { readonly kind: "switched"; readonly connection: unknown }
  | {
      readonly kind: "failed";
      readonly because: "unreachable" | "timed-out" | "bad-response";
      readonly cause: unknown;
    };

export interface Origin {
  /** The origin's address, without a trailing slash. */
  readonly url: string;
  /**
   * True for a cache that stands in for the origin. It confirms nothing that is stored here, because its own copy of a
   * page may lack a tag by which this one has been purged. Default: false.
   */
  readonly isCache?: boolean;
  fetch(request: OriginRequest): Promise<OriginAnswer>;
}

/** This isolate's knowledge of the purges, by the rules of docs/protocol.md. */
export interface PurgeState {
  /**
   * For how long after its fetch a response of unknown purge state may be served (R8), in milliseconds, on a route that
   * accepts views of this age.
   */
  unknownForMs(now: number, maxViewAgeMs: number): number;
  /**
   * Whether the view may be used now: it has reached the token, and its lease is alive or it is younger than
   * `maxViewAgeMs`. No I/O.
   */
  isUsable(now: number, token: ReceiptToken | null, maxViewAgeMs?: number): boolean;
  /** Whether the view's renewal is due, and none is under way. */
  isDue(now: number): boolean;
  /**
   * Whether the view knows that the response is purged. `isUsable`: whether the view may be used. Default: it is asked
   * only for what it knows already. No I/O.
   */
  check(stored: StoredHead, isUsable?: boolean): PurgeAnswer;
  /** When this isolate first learned of the purge that has made the response stale (R10): epoch milliseconds. */
  madeStaleAt(stored: StoredHead): number;
  /** The stamp for a fetch that begins now (R1). */
  stamp(): Stamp | null;
  /**
   * Reads the log. Resolves when the view is usable, or when it will not become usable for now because the read failed
   * or took longer than a lease (R21). Requests share the reads under way; with a token, the read begins after this
   * call (R9). Resolves to the token if it is still in force; to `null` once the view has reached it, or if it has
   * proved false.
   */
  renew(background: BackgroundWork, token: ReceiptToken | null): Promise<ReceiptToken | null>;
}

/** Tells the log which keys unsafe requests have invalidated (R15). */
export interface Invalidations {
  /** Never waits and never rejects. It retries in the background, within its own budget. */
  tell(purgeKeys: readonly string[], background: BackgroundWork): void;
}

/** The purge log as the control plane writes to it. */
export interface PurgeLogWriter {
  /**
   * Rejects if the log cannot be reached. The purge may have been accepted all the same; its `id` makes it safe to send
   * again.
   */
  append(purge: NewPurge): Promise<AppendOutcome>;
}

/** A purge that has been checked and can be appended to the log. */
export interface NewPurge {
  /** The caller's id. A purge with the same id and content is accepted once. */
  readonly id: string | null;
  /** A fingerprint of the purge's content, which tells a replay from a conflict. */
  readonly content: string;
  readonly purgeKeys: readonly string[];
  readonly accepted: AcceptedItems;
  /** Default: hard. */
  readonly mode?: PurgeMode;
  /** The purge is repeated after this many milliseconds; `null` if it is not. */
  readonly repeatAfterMs: number | null;
  readonly reason: string | null;
  /** The name of the token that was used. */
  readonly by: string;
}

/**
 * The effect of a purge on responses (R10). `hard`: they are gone. `soft`: they are stale, but usable for a while.
 * `invalidate`: they are validated before use.
 */
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
      /** After this many milliseconds, no view without this purge can be in use. */
      readonly settlesInMs: number;
      /** True if the same id had been accepted before. */
      readonly replayed: boolean;
      /** True if confirmations may settle the purge earlier (R25), so that it is worth asking. Default: false. */
      readonly maySettleSooner?: boolean;
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
  /** Its first purge keys, as many as a row has room for. */
  readonly purgeKeys: readonly string[];
  /** How many purge keys it named in all. */
  readonly purgeKeyCount: number;
  readonly id: string | null;
  /** The purge that this one repeats. */
  readonly repeatOf: number | null;
  /** Whether the purge had settled, by the log's clock, when the row was read. */
  readonly settled: boolean;
  /** The names of the machines that had not confirmed it, while it has not settled. Default: the log cannot tell. */
  readonly waitsFor?: readonly string[];
}

/** A page of the audit trail, the newest first. */
export interface PurgeRecordPage {
  readonly purges: readonly PurgeRecord[];
  /** The `before` of the next page; `null` on the last page. */
  readonly next: number | null;
}

/** The audit trail, for the control plane. Both methods reject if the log cannot be reached. */
export interface PurgeAudit {
  /** The newest purges, or those below the number `before`: at most `limit`, and at most 500. */
  list(before: number | null, limit: number): Promise<PurgeRecordPage>;
  /**
   * `null` if the log never had this purge, or has deleted its row. `waitMs`: for how long to hold the answer until the
   * purge has settled, where the log can tell. Default: not at all.
   */
  find(seq: number, waitMs?: number): Promise<PurgeRecord | null>;
}

/**
 * How a fetch ended for those who wait for it. `kept` resolves when both tiers have the response, or when it is not
 * stored because it is purged.
 */
export type SharedFetchOutcome =
  | {
      readonly kind: "storable";
      readonly stored: StoredResponse;
      readonly kept: Promise<unknown>;
      /** True if a cache in place of the origin has answered with what it had fetched earlier (R5). */
      readonly isOfEarlierFetch?: boolean;
    }
  | EndedElsewhere;

/** The same for those who wait in another isolate. */
export type EndedElsewhere =
  /** The shared tier may have an answer now, so each looks there again. */
  | { readonly kind: "look-again" }
  /** The answer is for one request only, or cannot be shared, so each follower fetches for itself. */
  | { readonly kind: "not-shareable" }
  /**
   * The leader failed, perhaps because of its own request. The followers share one more fetch, and after that each
   * fetches for itself.
   */
  | {
      readonly kind: "failed";
      /**
       * True if the origin answered with an error or cannot be reached; then a stale response may be used for
       * followers, too.
       */
      readonly byOrigin: boolean;
    };

/** An answer has come that is being stored. */
export interface BeingStored {
  readonly kind: "being-stored";
  /** `null` if the origin has not announced it. */
  readonly lengthBytes: number | null;
  /** Whether it may answer a request like this one from the store, without validation. */
  isReusable(): boolean;
}

/** The fetches of other isolates with the same shared tier. Nothing here throws or rejects. */
export interface FetchesElsewhere {
  /**
   * Takes the turn to fetch for this key of a page. If another isolate has it, resolves when that fetch has ended, or is
   * not worth waiting for any longer. `undefined` if it cannot be known, or is not worth it: the fetch is this isolate's
   * alone.
   */
  take(key: string, page: string): FetchTurn | Promise<EndedElsewhere> | undefined;
  /** Makes this isolate wait for no fetch of this page that has begun elsewhere, as long as one may take (R15). */
  avoid(page: string): void;
}

export interface FetchTurn {
  /** Tells those who wait. After an outcome nothing more counts. */
  tell(news: SharedFetchOutcome | BeingStored): void;
}

/** The owner's tokens. */
export interface Tokens {
  /** Checks in constant time. `no-tokens`: no token is configured, so that no call is allowed. */
  check(token: string | null, scope: TokenScope): Promise<TokenVerdict>;
  /** Absent where the edge has no secret to sign them with: it knows only hashes of tokens, or no tokens. */
  readonly sessions?: Sessions;
}

/** Sessions of the dashboard. Each stands for a token, may read and no more, and ends. */
export interface Sessions {
  /** `token` is one that may read. */
  open(token: string, now: number): Promise<{ readonly id: string; readonly endsAt: number }>;
  /** The name of its token; `null` if it is none, is over, or if the token is the owner's no more. */
  nameOf(id: string, now: number): Promise<string | null>;
}

/**
 * `parent` is for a cache that asks this one in place of the origin, and `door:NAME:ZONE` for the purge calls of another
 * vendor. Each is for nothing else.
 */
export type TokenScope = "purge" | "read" | "parent" | `door:${string}`;

export type TokenVerdict =
  | { readonly kind: "allowed"; readonly name: string }
  | {
      readonly kind: "refused";
      readonly because: "no-tokens" | "unauthorized" | "forbidden";
      /** For an owner who reads the answer: why the control plane is closed, without any token. */
      readonly why?: string;
    };

/** A body that arrives in pieces. It belongs to the platform: only its `Bodies` can read it, and at most once. */
export interface StreamedBody {
  /** Nobody reads the rest of it. */
  cancel(cause?: unknown): Promise<void>;
}

/** The platform's bodies: pipes whose length it may announce, and the reading of bodies. */
export interface Bodies {
  /** Makes a pipe. With a length, its reader gets an error if fewer bytes come. */
  pipe(lengthBytes: number | null): { readonly readable: StreamedBody; readonly writable: BodyWriter };
  /** Reads a body in pieces that may be kept: none of them holds much more memory than its own bytes. */
  read(body: StreamedBody): BodyReader;
  /** Reads a body that is passed on at once, in pieces as large as they arrive, if the runtime can. */
  readThrough(body: StreamedBody): BodyReader;
  /** Writes all of a body, and leaves the writer open. Rejects if either side fails. */
  copy(body: StreamedBody, to: BodyWriter): Promise<void>;
  /**
   * Takes a body of this length at once, to be kept, if all of it is here; otherwise leaves it as it is.
   * Absent where the runtime does not tell.
   */
  takeWhole?(body: StreamedBody, lengthBytes: number): Uint8Array<ArrayBuffer> | undefined;
}

export interface BodyReader {
  /** The next piece; `null` at the end. Rejects if the body is cut off. */
  next(): Promise<Uint8Array | null>;
  /** Leaves out this many bytes without reading them, and returns their number. Absent where they come all the same. */
  skip?(bytes: number): number;
  cancel(): Promise<void>;
}

export interface BodyWriter {
  /** Resolves when the reader has room for more; rejects once it has gone. */
  write(piece: Uint8Array): Promise<void>;
  close(): Promise<void>;
  /** The reader gets an error, so that it does not take what came for the whole body. */
  abort(cause: unknown): Promise<void>;
}

/** A request as its client sent it. The web's `Request` is one. */
export interface ClientRequest {
  readonly method: string;
  readonly headers: RequestHeaders;
  readonly body: StreamedBody | null;
  /** Whether the body has been read, in part or whole, so that the request cannot be sent again. */
  readonly bodyUsed: boolean;
}

/** An answer as plain values. Each platform writes it to its client in its own way. */
export interface Answer {
  readonly status: number;
  /** The reason phrase; it may be empty. */
  readonly statusText: string;
  /**
   * Its fields. The body tells its length; a `content-length` beside it is for an answer to HEAD. Hits of the same entry
   * in the same second share them, so that a platform may keep what it makes of them. Nobody changes the fields of an
   * answer.
   */
  readonly fields: Fields;
  readonly body: Uint8Array<ArrayBuffer> | StreamedBody | null;
  /** The length of a body that streams and is a part of a stored one. */
  readonly bodyBytes?: number;
  /** True if no later answer has these fields, so that there is no use in keeping what is made of them. */
  readonly isOnce?: true;
  /** 101: the connection that now belongs to another protocol, as the platform's `Origin` made it. */
  readonly switchedTo?: unknown;
  /** Where it comes from; absent unless another cache asked, and in answers that the edge itself makes. */
  readonly source?: AnswerSource;
  /** It goes to another cache, which passes its fields on to visitors of its own. */
  readonly isForCache?: boolean;
}

/** What visitors do not see of an answer, for a cache that asks this one in place of the origin. */
export type AnswerSource =
  | {
      readonly head: Omit<StoredHead, "bodyBytes" | "bodyKey">;
      /** False if it was fetched, or confirmed by the origin, for this request. */
      readonly isOfEarlierFetch: boolean;
    }
  /** The answer of the origin, which is not stored. */
  | { readonly passedOn: OriginResponse };

/** An event, as plain data. Only an adapter writes log lines. */
export type EdgeEvent =
  | AnsweredEvent
  | { readonly kind: "answered-by-edge"; readonly detail: string }
  | { readonly kind: "origin-asked" }
  /** `bytes`: the length of the body, if the origin announced it; `null` if it did not. */
  | {
      readonly kind: "origin-answered";
      readonly route: string | null;
      readonly url: string;
      readonly bytes: number | null;
    }
  /** A body of which the origin had not announced the length was read to its end. */
  | { readonly kind: "body-measured"; readonly route: string | null; readonly url: string; readonly bytes: number }
  | { readonly kind: "origin-failed"; readonly because: string; readonly cause: unknown }
  | { readonly kind: "body-cut-off" }
  /**
   * An answer of the origin that may not be stored, by the `detail` of its `Cache-Status`. `field` is the one that is
   * not in the key, in a client's spelling.
   */
  | {
      readonly kind: "not-stored";
      readonly because: string;
      readonly route: string | null;
      readonly url: string;
      readonly at: number;
      readonly field?: string;
    }
  /** A response was fetched, or confirmed, and is stored. */
  | {
      readonly kind: "fetched";
      readonly route: string | null;
      readonly url: string;
      readonly stored: StoredResponse;
      readonly at: number;
    }
  | PassedOnEvent
  /** A request to the origin for a second look. It is one of those `origin-asked`. */
  | { readonly kind: "second-look" }
  /** A second look has found a field that chooses pages. */
  | { readonly kind: "field-marked" }
  | { readonly kind: "stored"; readonly bytes: number }
  | { readonly kind: "store-failed"; readonly cause: unknown }
  | { readonly kind: "fill-discarded"; readonly because: "purged" | "over-budget" | "too-large" | "client-stalled" }
  | { readonly kind: "collapsed" }
  /** A request for a storable page was sent to the origin: its `Authorization`, its session or `bypass` demands that. */
  | { readonly kind: "asked-past-the-cache" }
  | { readonly kind: "token-refused" }
  | { readonly kind: "log-read"; readonly purges: number }
  /** `isPurge`: the log took no purge, and may be read all the same. Whoever purges is told of it. */
  | { readonly kind: "log-failed"; readonly cause: unknown; readonly isPurge?: true }
  /** A copy of another isolate's read was used instead of reading the log. */
  | { readonly kind: "view-shared" }
  /** The log could not be told of pages that an unsafe request has invalidated. They stay until their lifetime ends. */
  | { readonly kind: "invalidation-dropped" }
  | { readonly kind: "purged"; readonly items: number }
  | { readonly kind: "failed"; readonly cause: unknown };

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

/** Measures how long something took: milliseconds from any beginning, as precise as the platform allows. */
export interface Timer {
  now(): number;
  /** Whether it advances while the isolate computes. On Workers time passes only while something is awaited. */
  readonly runsInMemory: boolean;
}

export interface Reporter {
  report(event: EdgeEvent): void;
}
