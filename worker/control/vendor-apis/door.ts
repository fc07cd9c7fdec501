import type { PurgeReceiptBody } from "../../../wire/purge-receipt.ts";
import { ordinaryForm, treatmentOf } from "../../rules/request/request-fields.ts";

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
  /** The fields of the JSON object in the body; none if it has none. Then a door refuses a call that names nothing else. */
  readonly json: Readonly<Record<string, unknown>>;
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
  /** A refusal with this text; `because` is a reason, or empty. */
  readonly refuse: (words: Words, because: string) => Response;
}

/** The fields in which a `PURGE` names tags, and so more than its URL, with the mode of the purge. */
export const TAGS_OF_PURGE: Readonly<Record<string, "hard" | "soft">> = {
  "xkey-purge": "hard",
  "xkey-softpurge": "soft",
  // Shopware and API Platform; the last is this cache's own.
  xkey: "hard",
  "surrogate-key": "hard",
  "x-cache-tags": "hard",
  "cache-tags": "hard",
  "cache-tag": "hard",
  "purge-cache-tags": "hard", // Drupal
};
/** Magento's field: a regular expression of tags. */
export const MAGENTO_TAGS = "x-magento-tags-pattern";
/** The field of tags of WordPress's Proxy Cache Purge: `p-12|t-5`. */
export const TAGS_PATTERN = "x-cache-tags-pattern";
/** TYPO3's mkvarnish purges everything by this field, with the value 1. */
export const PURGE_EVERYTHING = "x-varnish-purge-all";
/** The field of WordPress's plugins: `regex` if the URL of the `PURGE` is a regular expression, `tags` if tags are named. */
export const PURGE_METHOD = "x-purge-method";

/** Fields of browsers, hosters and plugins, and those for secrets, which do not change what a purge is of. */
const OF_SENDERS =
  /^(?:access-control|fly|sec|x-amzn|x-azure|x-vc)-|^(?:content-type|date|idempotency-key|origin|x-requested-with|x-typo3-sitename)$|token|secret|auth|api-?key/;

/** Whether a field is of the application's own, and neither of HTTP, its software and the sender, nor a secret. */
export function isOfApplication(name: string): boolean {
  return ordinaryForm(name) === undefined && treatmentOf(name).asSent === "always" && !OF_SENDERS.test(name);
}

/**
 * The fields by which a `PURGE` may mean more than its URL, whether a door reads them or not. A door that cannot must
 * refuse the purge: a purge of the URL alone would leave pages that the sender believes purged.
 */
export function wideningFields(fields: Headers): string[] {
  const named = [...fields.keys()].filter((name) => name !== PURGE_METHOD && isOfApplication(name));
  const method = fields.get(PURGE_METHOD) ?? fields.get("x-vc-purge-method") ?? "";
  const saysNoMore = fields.has(TAGS_PATTERN) ? /^(tags)?$/i : /^(default|exact)?$/i;
  return saysNoMore.test(method) ? named : [...named, PURGE_METHOD];
}

/** The fields of a JSON object, of which another value has none; `null` for a text that is not JSON. */
export function jsonObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return Object(JSON.parse(text));
  } catch {
    return null;
  }
}
