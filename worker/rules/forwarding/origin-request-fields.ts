import type { RequestHeaders } from "../request/request-facts.ts";
import { type KeyAndOwnersFields, nameAtGateways, reachesOriginAsSent } from "../request/request-fields.ts";
import { hopByHopFields } from "./hop-by-hop.ts";

/** The parts of a request that the edge itself states to the origin, whatever the client sent. */
export interface ForwardedRequest {
  readonly scheme: "http" | "https";
  /** The public host. */
  readonly host: string;
  /** The client's address; `null` if the runtime does not provide it. */
  readonly clientAddress: string | null;
  /** True if the answer may be stored. Then no field outside the key may select it. */
  readonly storing: boolean;
  /** Whether `X-Real-IP` and `Forwarded` tell the same as `X-Forwarded-*`. */
  readonly forward: { readonly realIp: boolean; readonly forwarded: boolean };
  /** The codings that the client accepts, sent if the answer may be stored. */
  readonly acceptedCodings: string;
  /** The `Cookie` field after filtering; `null` for none. */
  readonly cookie: string | null;
  /** `Max-Forwards` after this hop; `null` for none. RFC 9110 §7.6.2. */
  readonly maxForwards: string | null;
  /** What the route says of fields. */
  readonly fieldRules: KeyAndOwnersFields;
  /** Fields, in lower case, that the origin gets in place of the client's; `null` for none at all. */
  readonly chosenFields: ReadonlyMap<string, string | null>;
  /** The edge's own conditions. RFC 9111 §4.3.1. */
  readonly conditions: readonly (readonly [name: string, value: string])[];
  /** Extra fields that the site sets, a shared secret for instance, with names in lower case. */
  readonly extra: readonly (readonly [name: string, value: string])[];
  /** True for TRACE, whose answer shows the client what the origin received. RFC 9110 §9.3.8. */
  readonly isReflected: boolean;
}

/** The fields of the request to the origin. RFC 9110 §7.6, §7.6.3; RFC 8586 for `CDN-Loop`. */
export function originRequestFields(
  client: RequestHeaders,
  forwarded: ForwardedRequest,
): (readonly [name: string, value: string])[] {
  const { chosenFields, extra, fieldRules, storing, isReflected } = forwarded;
  const ownHop = hopByHopFields(client.get("connection"));
  const extraNames = new Set(extra.map(([own]) => nameAtGateways(own)));
  const isExtra = (name: string) => extraNames.size > 0 && extraNames.has(nameAtGateways(name));
  const isChosen = (name: string) => chosenFields.size > 0 && chosenFields.has(nameAtGateways(name));
  const isKept = (name: string, value: string) =>
    !isChosen(name) && reachesOriginAsSent(name, value, fieldRules, storing);
  const fields: (readonly [name: string, value: string])[] = [];
  for (const field of client) {
    const [name, value] = field;
    if (!ownHop.has(name) && !isExtra(name) && isKept(name, value)) fields.push(field);
  }
  for (const [name, value] of chosenFields) {
    if (value !== null && !isExtra(name)) fields.push([name, value]);
  }
  const own: (readonly [name: string, value: string])[] = [];
  if (storing) {
    // Sent even if it is `identity`: without the field, the platform would ask for an encoded answer by itself.
    own.push(["accept-encoding", forwarded.acceptedCodings], ...forwarded.conditions);
  }
  if (!storing && forwarded.maxForwards !== null) own.push(["max-forwards", forwarded.maxForwards]);
  if (forwarded.cookie !== null) own.push(["cookie", forwarded.cookie]);
  own.push(["x-forwarded-host", forwarded.host], ["x-forwarded-proto", forwarded.scheme]);
  const port = /:(\d+)$/.exec(forwarded.host)?.[1];
  if (port) own.push(["x-forwarded-port", port]);
  if (forwarded.clientAddress !== null) {
    own.push(["x-forwarded-for", forwarded.clientAddress]);
    if (forwarded.forward.realIp) own.push(["x-real-ip", forwarded.clientAddress]);
  }
  if (forwarded.forward.forwarded) own.push(["forwarded", forwardedElement(forwarded)]);
  own.push(
    ["via", append(client.get("via"), "1.1 tidemark")],
    ["cdn-loop", append(client.get("cdn-loop"), loopMember(forwarded.host))],
  );
  for (const field of own) if (isReflected || !isExtra(field[0])) fields.push(field);
  if (!isReflected) fields.push(...extra);
  return fields;
}

/** RFC 7239 §4, §6: an address of version 6 is in brackets and so, as a host with a port, in quotes. */
function forwardedElement({ clientAddress, host, scheme }: ForwardedRequest): string {
  const node = clientAddress?.includes(":") ? `"[${clientAddress}]"` : (clientAddress ?? "unknown");
  return `for=${node};host="${host}";proto=${scheme}`;
}

/** Whether this request has already been through the edge of this host. RFC 8586 §2. */
export function hasLooped(cdnLoop: string | null, host: string): boolean {
  const own = loopMember(host);
  return cdnLoop?.split(",").some((member) => `${member.trim()};`.startsWith(`${own};`)) ?? false;
}

function loopMember(host: string): string {
  return `tidemark; host="${host}"`;
}

function append(list: string | null, member: string): string {
  return list ? `${list}, ${member}` : member;
}
