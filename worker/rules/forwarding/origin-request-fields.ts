import { acceptedCodings } from "../variants/accept-encoding.ts";
import { hopByHopFields } from "./hop-by-hop.ts";

/** What the edge knows of a request and tells the origin, whatever the client sent. */
export interface ForwardedRequest {
  readonly scheme: "http" | "https";
  /** The public host. */
  readonly host: string;
  /** The client's address; `null` where the runtime does not tell. */
  readonly clientAddress: string | null;
  /** True if the answer may be stored: then nothing that is not in the key may select it. */
  readonly storing: boolean;
  /** The `Cookie` field that remains; `null` for none. */
  readonly cookie: string | null;
  /** What is left of `Max-Forwards` after this hop; `null` for none. RFC 9110 §7.6.2. */
  readonly maxForwards: string | null;
  /** Fields, in lower case, that the route keys by: they go through as sent. */
  readonly keyFields: readonly string[];
  /** The conditions under which the edge itself asks. RFC 9111 §4.3.1. */
  readonly conditions: readonly (readonly [name: string, value: string])[];
  /** Extra fields that the site sets, a shared secret for instance. */
  readonly extra: readonly (readonly [name: string, value: string])[];
}

/**
 * Fields by which a client could pretend to be the edge, another client, or to ask for another page. They never go
 * through as sent. `Proxy` is none of HTTP's, but gateways turn it into a setting (CVE-2016-5385).
 */
const CLAIMS = new Set([
  "forwarded",
  "proxy",
  "front-end-https",
  "x-arr-ssl",
  "x-scheme",
  "x-url-scheme",
  "x-host",
  "x-http-host-override",
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
]);
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

/** Set by the runtime or by us. */
const REPLACED = new Set(["host", "cookie", "content-length", "max-forwards", "via", "cdn-loop"]);

/**
 * Fields that would select another answer than the plain one, without being in the key. They do not reach the origin
 * where the answer may be stored. `Referer` is among them because what it tells is one visitor's own.
 */
export const SELECTING_UNKEYED: readonly string[] = [
  "accept-encoding",
  "range",
  "if-range",
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "expect",
  "max-forwards",
  "referer",
  "content-type",
  "content-encoding",
  "content-language",
  "content-location",
  "content-disposition",
  "content-range",
];
const NOT_WHERE_STORED = new Set(SELECTING_UNKEYED);

/** Whether a route may key by this field: what the edge, the runtime or a connection sets is not the client's to say. */
export function mayBeKeyed(name: string): boolean {
  const ours = [
    "accept-encoding",
    "authorization",
    "range",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-for",
  ];
  if (ours.includes(name) || REPLACED.has(name) || name.startsWith("if-")) return false;
  return !name.startsWith("tidemark-") && !hopByHopFields(null).includes(name);
}

/** Whether the origin gets to see a client's field as it was sent, on a route that stores. */
export function goesThrough(name: string, keyFields: readonly string[]): boolean {
  return keyFields.includes(name) || !(isClaim(name) || REPLACED.has(name) || NOT_WHERE_STORED.has(name));
}

/** The fields of the request to the origin. RFC 9110 §7.6, §7.6.3; RFC 8586 for `CDN-Loop`. */
export function originRequestFields(
  client: Iterable<readonly [name: string, value: string]>,
  forwarded: ForwardedRequest,
): [name: string, value: string][] {
  const sent = [...client].map(([name, value]) => [name.toLowerCase(), value] as const);
  const sentValue = (name: string) => sent.find(([other]) => other === name)?.[1];
  const sentOrNull = (name: string) => sentValue(name) ?? null;
  const ownHop = new Set(hopByHopFields(sentOrNull("connection")));
  const extraNames = new Set(forwarded.extra.map(([name]) => name.toLowerCase()));
  const isKept = (name: string) =>
    forwarded.storing
      ? goesThrough(name, forwarded.keyFields)
      : forwarded.keyFields.includes(name) || !(isClaim(name) || REPLACED.has(name));
  const kept = sent.filter(([name]) => !ownHop.has(name) && !extraNames.has(name) && isKept(name));
  const fields: [string, string][] = kept.map(([name, value]) => [name, value]);
  if (forwarded.storing) {
    // In words also where it is `identity`, because the platform would else ask for an encoded answer on its own.
    fields.push([
      "accept-encoding",
      acceptedCodings(fieldForSelection("accept-encoding", sentOrNull, forwarded.keyFields)),
    ]);
    for (const [name, value] of forwarded.conditions) fields.push([name, value]);
  }
  if (!forwarded.storing && forwarded.maxForwards !== null) fields.push(["max-forwards", forwarded.maxForwards]);
  if (forwarded.cookie !== null) fields.push(["cookie", forwarded.cookie]);
  fields.push(["x-forwarded-host", forwarded.host], ["x-forwarded-proto", forwarded.scheme]);
  if (forwarded.clientAddress !== null) fields.push(["x-forwarded-for", forwarded.clientAddress]);
  fields.push(["via", append(sentValue("via"), "1.1 tidemark")]);
  fields.push(["cdn-loop", append(sentValue("cdn-loop"), loopMember(forwarded.host))]);
  for (const [name, value] of forwarded.extra) fields.push([name.toLowerCase(), value]);
  return fields;
}

/**
 * A field of a client's request as the origin gets to see it on a route that stores; `null` for one that it does not see
 * as it was sent. `field` gives what the client sent.
 */
export function fieldForSelection(
  name: string,
  field: (name: string) => string | null,
  keyFields: readonly string[],
): string | null {
  if (isClaim(name) && !keyFields.includes(name)) return null;
  const connection = field("connection");
  if (connection !== null && hopByHopFields(connection).includes(name)) return null;
  return field(name);
}

/** Gateways of origins take `X_Forwarded_Host` for `X-Forwarded-Host`, so both are one claim. */
function isClaim(name: string): boolean {
  const dashed = name.replaceAll("_", "-");
  return CLAIMS.has(dashed) || CLAIM_PREFIXES.some((prefix) => dashed.startsWith(prefix));
}

/** Whether this request has been through the edge of this host before. RFC 8586 §2. */
export function hasLooped(cdnLoop: string | null, host: string): boolean {
  return cdnLoop?.split(",").some((member) => member.trim() === loopMember(host)) ?? false;
}

function loopMember(host: string): string {
  return `tidemark; host="${host}"`;
}

function append(list: string | undefined, member: string): string {
  return list === undefined || list === "" ? member : `${list}, ${member}`;
}
