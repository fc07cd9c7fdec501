import { hopByHopFields } from "../forwarding/hop-by-hop.ts";

/** The edge's treatment of a request field, and its consequences for stored responses. */
export interface FieldTreatment {
  /** When the origin sees the field as the client sent it: always, never, or only if the answer may not be stored. */
  readonly asSent: "always" | "never" | "unless-stored";
  /**
   * The meaning of the field in the origin's `Vary`. `selects`: requests with different values get different responses.
   * `nothing`: the origin sees the same value for every request of one key, whatever the client sends. `unknowable`:
   * the origin may see a value made on the way, so the value that the client sent does not show which response another
   * request selects.
   */
  readonly inVary: "selects" | "nothing" | "unknowable";
  /** Whether a route may forward the field as sent and key by it. */
  readonly mayBeKeyed: boolean;
}

const TREATMENTS = {
  /**
   * Fields with which a client could pretend to be the edge or another client, or ask for another page. Origins and
   * their gateways trust them.
   */
  claim: { asSent: "never", inVary: "unknowable", mayBeKeyed: true },
  /** Claims about the host or the scheme, both of which are in the key. */
  "host-claim": { asSent: "never", inVary: "nothing", mayBeKeyed: true },
  /** The client's address, which the edge itself states. */
  address: { asSent: "never", inVary: "unknowable", mayBeKeyed: false },
  /** Written by the edge or the runtime from values in the key, or not sent if the answer may be stored. */
  written: { asSent: "never", inVary: "nothing", mayBeKeyed: false },
  /** The edge adds a member of its own to the client's value. RFC 9110 §7.6.3, RFC 8586 §2. */
  continued: { asSent: "never", inVary: "selects", mayBeKeyed: false },
  /** Sent without ignored cookies (`identity/cookies.ts`). */
  cookies: { asSent: "never", inVary: "selects", mayBeKeyed: false },
  /** Sent as the set of known codings (`variants/accept-encoding.ts`). */
  codings: { asSent: "unless-stored", inVary: "selects", mayBeKeyed: false },
  /** Answers to requests with credentials are not stored (`identity/identity.ts`). */
  credentials: { asSent: "always", inVary: "selects", mayBeKeyed: false },
  /** The edge fetches the whole page and evaluates these itself. RFC 9110 §13, §14. */
  "answered-here": { asSent: "unless-stored", inVary: "nothing", mayBeKeyed: false },
  /**
   * Fields that would select another answer without being in the key. `Referer` is one of them, because it shows where
   * one visitor came from.
   */
  withheld: { asSent: "unless-stored", inVary: "nothing", mayBeKeyed: true },
  /** All other fields. */
  other: { asSent: "always", inVary: "selects", mayBeKeyed: true },
} as const satisfies Readonly<Record<string, FieldTreatment>>;

type Treatment = keyof typeof TREATMENTS;

/**
 * Every request field that needs its own treatment, in lower case, each once. Hop-by-hop fields are in `hop-by-hop.ts`,
 * because `Connection` adds to them. `Proxy` is not an HTTP field, but gateways turn it into a setting (CVE-2016-5385).
 */
export const REQUEST_FIELDS: Readonly<Record<Exclude<Treatment, "other">, readonly string[]>> = {
  claim: [
    "forwarded",
    "proxy",
    "x-arr-ssl",
    "x-backend-host",
    "x-proxy-host",
    "x-proxy-url",
    "x-override-url",
    "x-http-destinationurl",
    "client-ip",
    "true-client-ip",
    "remote-addr",
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-remote-ip",
    "x-remote-addr",
    "x-originating-ip",
    "x-appengine-user-ip",
    "x-azure-clientip",
    "x-azure-socketip",
  ],
  "host-claim": ["front-end-https", "x-scheme", "x-url-scheme", "x-host", "x-http-host-override"],
  address: ["x-forwarded-for"],
  written: ["host", "content-length", "max-forwards", "x-forwarded-host", "x-forwarded-proto"],
  continued: ["cdn-loop", "via"],
  cookies: ["cookie"],
  codings: ["accept-encoding"],
  credentials: ["authorization"],
  "answered-here": ["range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"],
  withheld: [
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "expect",
    "referer",
    "content-type",
    "content-encoding",
    "content-language",
    "content-location",
    "content-disposition",
    "content-range",
  ],
};

/** The prefixes of claims. */
const CLAIM_PREFIXES = [
  "x-forwarded",
  "x-original-",
  "x-rewrite-",
  "x-envoy-",
  "x-middleware-",
  "fastly-",
  "cf-",
  "mf-", // set by wrangler dev
  "tidemark-",
];

const TREATMENT_OF: ReadonlyMap<string, Treatment> = new Map(
  Object.entries(REQUEST_FIELDS).flatMap(([treatment, names]) =>
    names.map((name) => [name, treatment as Treatment] as const),
  ),
);

/**
 * The treatment of a field, whose name is in lower case. All handling of request fields goes through this function. If
 * a site could name fields itself, they would be looked up here, before the table.
 */
export function treatmentOf(name: string): FieldTreatment {
  const known = TREATMENT_OF.get(name);
  if (known !== undefined) return TREATMENTS[known];
  return isClaim(name) ? TREATMENTS.claim : TREATMENTS.other;
}

/** Gateways of origins read `X_Forwarded_Host` as `X-Forwarded-Host`, so both are the same claim. */
function isClaim(name: string): boolean {
  const dashed = name.replaceAll("_", "-");
  const known = TREATMENT_OF.get(dashed);
  if (known !== undefined && CLAIMED.has(known)) return true;
  return CLAIM_PREFIXES.some((prefix) => dashed.startsWith(prefix));
}

const CLAIMED: ReadonlySet<Treatment> = new Set<Treatment>(["claim", "host-claim"]);

/**
 * Whether the origin sees a client's field as it was sent, leaving hop-by-hop fields aside. `keyFields` are those that
 * the route keys by; `storing` is true if the answer may be stored.
 */
export function reachesOriginAsSent(name: string, keyFields: readonly string[], storing = true): boolean {
  if (keyFields.includes(name)) return true;
  const { asSent } = treatmentOf(name);
  return asSent === "always" || (asSent === "unless-stored" && !storing);
}

/** The meaning of a field in the origin's `Vary`, on a route that does not key by it. */
export function meaningInVary(name: string): FieldTreatment["inVary"] {
  return hopByHopFields(null).includes(name) ? "nothing" : treatmentOf(name).inVary;
}

/** A name, a number, or a list of them with weights. */
const LIST = /^[A-Za-z0-9*][A-Za-z0-9 ,;=.*+/_-]*$/;
/** Any printable text without characters that a page would read as markup, or a firewall as an attack. */
const WORDS = /^[^<>"'\\^`{|}]*$/;
/** The same, but with double quotes, which structured fields use. RFC 9651. */
const STRUCTURED = /^[^<>'\\^`{|}]*$/;
/** Directives for caches on the way, which every cache passes on (RFC 9111 §5.2), without extensions. */
const DIRECTIVES =
  /^(?:(?:no-cache|no-store|no-transform|only-if-cached|m(?:ax-age|in-fresh|ax-stale)(?:=\d{1,10})?)(?:, *|$))+$/i;

/**
 * Fields that browsers, crawlers and command-line clients send, with the form of their ordinary values. An origin whose
 * answer depends on one of these names it in `Vary`, or would be wrong behind any cache (RFC 9110 §12.5.5). Any other
 * field or value may have made the origin give an answer that nobody else would get.
 */
const ORDINARY_FORMS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    accept: LIST,
    "accept-charset": LIST,
    "accept-language": LIST,
    "cache-control": DIRECTIVES,
    dnt: LIST,
    "early-data": LIST,
    from: WORDS,
    pragma: DIRECTIVES,
    priority: LIST,
    purpose: LIST,
    "save-data": LIST,
    traceparent: LIST,
    "upgrade-insecure-requests": LIST,
    "user-agent": WORDS,
    "cdn-loop": STRUCTURED,
    via: WORDS,
  }),
);

/** The form of this field's ordinary values; `undefined` if the field is not an ordinary one. */
export function ordinaryForm(name: string): RegExp | undefined {
  return ORDINARY_FORMS.get(name) ?? (name.startsWith("sec-") ? STRUCTURED : undefined);
}

/** Whether a route may key by this field. Fields set by the edge, the runtime or a connection are not the client's. */
export function mayBeKeyed(name: string): boolean {
  if (name.startsWith("if-") || name.startsWith("tidemark-") || hopByHopFields(null).includes(name)) return false;
  return treatmentOf(name).mayBeKeyed;
}
