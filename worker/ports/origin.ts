import type { Fields } from "../rules/fields/fields.ts";
import type { Stamp } from "../rules/storing/stored-response.ts";
import type { StreamedBody } from "./bodies.ts";

/** An answer that comes before the final one, and has no body. RFC 9110 §15.2. */
export interface InterimResponse {
  /** From 102 to 199. */
  readonly status: number;
  readonly fields: Fields;
}

export interface OriginRequest {
  readonly method: string;
  readonly pathAndQuery: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: StreamedBody | null;
  /** Aborts when the body ends before its end. The runtime would send what has come as a whole. Absent if that cannot be. */
  readonly cutOff?: AbortSignal | undefined;
  /**
   * How far a cache that stands in for the origin must have read the log before it may answer from its store;
   * absent or `null` if it may not. The origin itself has no use for it.
   */
  readonly after?: Stamp | null;
  /** Whether a token or a receipt shows that an editor asks. Only a cache in place of the origin uses it. Default: false. */
  readonly isOfEditor?: boolean;
  /**
   * All that the platform tells of the visitor, if the answer is for this visitor alone. Only a worker in the origin's place
   * gets it.
   */
  readonly visitor?: object | undefined;
  /** Takes the interim responses, one by one as they come. It does not throw. Absent if nobody waits for them. */
  readonly inform?: ((interim: InterimResponse) => void) | undefined;
}

/** The origin's answer, with its fields as they came. */
export interface OriginResponse {
  readonly status: number;
  readonly statusText: string;
  readonly fields: Fields;
  /** Not decoded. */
  readonly body: StreamedBody | null;
  /**
   * Resolves when the origin has no more to do with this answer: its last byte is here, or the body has failed or was
   * cancelled. Never rejects. Absent if that is so with the head already.
   */
  readonly ended?: (() => Promise<void>) | undefined;
  /** Given by a cache that stands in for the origin. Default: by the origin itself. */
  readonly parentAge?: ParentAge | undefined;
  /**
   * True if a cache in place of the origin gives it because the origin gave it no answer; with 503, the origin is known
   * to be down, and was not asked. Default: false.
   */
  readonly isOriginLost?: boolean | undefined;
  /** True if that cache has other rules, and may have asked for the choice of another visitor. Default: false. */
  readonly isByOtherRules?: boolean | undefined;
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
  /**
   * 101: the connection now belongs to another protocol. `connection` is the `switchedTo` of the answer. `ended` resolves
   * when the origin has closed it or lost it; absent where nobody can tell.
   */
  | { readonly kind: "switched"; readonly connection: unknown; readonly ended?: () => Promise<void> }
  | {
      readonly kind: "failed";
      readonly because: "unreachable" | "timed-out" | "bad-response";
      readonly cause: unknown;
      /**
       * True if the failure does not say that the origin is down: a connection took the request and ended without an answer,
       * perhaps because of that request, a cache that failed took it in place of the origin, or this machine could not send
       * it. Absent where nobody can tell.
       */
      readonly saysNothing?: boolean;
      /** True if a cache in place of the origin has failed itself, and tells the owner of that. Default: false. */
      readonly isTold?: boolean;
      /** True if no byte of the request was sent, so that it may be sent elsewhere. Absent where nobody can tell. */
      readonly wasNeverSent?: boolean;
    };

/** No answer. */
export type OriginFailure = Extract<OriginAnswer, { kind: "failed" }>;

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
