import type { Fields } from "../rules/fields/fields.ts";
import type { ResolvedUrl } from "../rules/key/cache-key.ts";
import type { BytePart } from "../rules/ranges/range.ts";
import type { RequestFacts } from "../rules/request/request-facts.ts";
import type { Stored, StoredHead, StoredResponse, VariantMarker } from "../rules/storing/stored-response.ts";
import type { BackgroundWork } from "./background-work.ts";
import type { StreamedBody } from "./bodies.ts";
import type { Clock } from "./clock.ts";
import type { PurgeState } from "./purge-state.ts";

/**
 * The two tiers. A stored response that cannot be read completely counts as missing. None of it rejects: a failure is
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
  /**
   * Stores in both tiers: in memory at once, and in the shared tier by the time the promise resolves, to false if that
   * tier failed.
   */
  keep(stored: Stored): Promise<boolean>;
  /**
   * Removes this PoP's copy as far as possible: a put under way may still bring it back, but not to this isolate. For a
   * minute at most, it finds and remembers nothing that was fetched before.
   */
  forget(key: string): Promise<void>;
  /** A body that is stored apart, or a part of it; `undefined` if it is gone. */
  readBody(bodyKey: string, part: BytePart | null): Promise<StreamedBody | undefined>;
  /** Whether `readBody` gives a body that `keepBody` is still taking, as far as it has come. */
  readonly readsWhileKept?: boolean;
  /**
   * Stores the bytes that arrive of a body under a key of its own. Resolves to whether the tier accepted it. `stored`: the
   * response whose body it is, if requests of this isolate may find it meanwhile.
   */
  keepBody(bodyKey: string, body: StreamedBody, stored: StoredResponse | null): Promise<boolean>;
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
  /**
   * By which older version it would get the response or, in words, why by none; `null` where the owner wants none used.
   */
  explainDelta(request: CodedRequest, found: FoundResponse): string | null;
  /** The bytes of the coded forms of a body. They are held with it in memory. */
  codedBytesOf(body: Uint8Array): number;
}

/** A request, as far as compression has to know it. */
export interface CodedRequest {
  readonly facts: RequestFacts;
  readonly resolved: ResolvedUrl;
  readonly ports: { readonly store: Store; readonly clock: Clock; readonly purges: Pick<PurgeState, "check"> };
  readonly background: BackgroundWork;
  /** `child`: the cache that asks, which codes what it has itself; absent or `null` if a visitor asks. */
  readonly incoming: { readonly child?: object | null };
}

/** What the shared tier has under a key. */
export type Found = FoundResponse | VariantMarker;

/**
 * A stored response whose body may still be on its way from the shared tier. A caller that does not read it cancels it.
 */
export interface FoundResponse {
  readonly head: StoredHead;
  /** `null` where the body is stored apart, under `head.bodyKey`. */
  readonly body: Uint8Array<ArrayBuffer> | StreamedBody | null;
  /** Of a form by a dictionary: the bytes of the body that a client without one would get. Absent for all others. */
  readonly insteadOfBytes?: number;
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
