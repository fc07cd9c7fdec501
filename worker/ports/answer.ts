import type { Fields } from "../rules/fields/fields.ts";
import type { ClientClass } from "../rules/queueing/client-class.ts";
import type { RequestHeaders } from "../rules/request/request-facts.ts";
import type { StoredHead } from "../rules/storing/stored-response.ts";
import type { StreamedBody } from "./bodies.ts";
import type { InterimResponse, OriginResponse } from "./origin.ts";

/** A request as its client sent it. The web's `Request` is one. */
export interface ClientRequest {
  readonly method: string;
  readonly headers: RequestHeaders;
  readonly body: StreamedBody | null;
  /** Whether the body has been read, in part or whole, so that the request cannot be sent again. */
  readonly bodyUsed: boolean;
  /** Sends the client an interim response before its answer, if it can take one. Absent where the platform cannot. */
  inform?(interim: InterimResponse): void;
  /**
   * Sends the client a 103 with this `Link`, of which the origin knows nothing, if its protocol is one over which browsers act
   * on it and older proxies do not take it for the answer. Absent where the platform cannot.
   */
  hint?(link: string): void;
  /**
   * Calls back when the client has closed its connection or its half of it, at once if it has already. Returns what ends
   * this. Absent where the platform cannot tell.
   */
  onceLeft?(tell: () => void): () => void;
  /** Notes for the platform's log that the request has waited for its turn at the origin. */
  noteTurn?(turn: Turn): void;
}

/** A wait for the origin that is over. Plain data. */
export interface Turn {
  readonly client: ClientClass;
  readonly waitedMs: number;
  /** Whether the origin was asked then. */
  readonly hasCome: boolean;
}

/** An answer as plain values. Each platform writes it to its client in its own way. */
export interface Answer {
  readonly status: number;
  /** The reason phrase. If it is empty, the platform writes the usual one, so that a miss and its hits are the same. */
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
  /** True if no later answer can have the same fields, so that it is useless to remember their written form. */
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
