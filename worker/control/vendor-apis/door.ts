import type { PurgeReceiptBody } from "../../../wire/purge-receipt.ts";

/** A call at a door whose token has been accepted. */
export interface DoorCall {
  readonly method: string;
  /** The path below the door as it was sent, without its first slash. */
  readonly path: string;
  /** The query with its `?`; empty for none. */
  readonly search: string;
  /** The URL of this site that a PURGE names. */
  readonly page: string;
  readonly fields: Headers;
  /** The zone, service, site or project for which the door is open; empty for a vendor that has none. */
  readonly zone: string;
  readonly body: string;
}

/** The meaning of a call: the body of a purge with the answer to its receipt, or a refusal. */
export type DoorReading =
  | { readonly purge: object; readonly answer: (receipt: PurgeReceiptBody) => Response }
  | { readonly refusal: "token" | "zone" | "invalid"; readonly because?: string };

/** A status, and what the vendor says with it. */
export type Words = readonly [status: number, ...texts: readonly string[]];

/** The purge calls of another vendor, in the vendor's own forms. */
export interface Door {
  /** The token in the vendor's credential field; `null` for none. */
  readonly token: (fields: Headers) => string | null;
  readonly read: (call: DoorCall) => DoorReading;
  /**
   * The vendor's words for a wrong token, or none at all; for an unknown zone or path; for a wrong item; and while the
   * purge log is silent.
   */
  readonly words: {
    readonly token: Words;
    readonly noToken?: Words;
    readonly zone: Words;
    readonly invalid: Words;
    readonly unavailable: Words;
  };
  /** A refusal in these words; `because` is empty or says more. */
  readonly refuse: (words: Words, because: string) => Response;
}

/** The fields of a JSON object; none if the text is not one. Then the door refuses the call, because it names nothing. */
export function jsonObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
