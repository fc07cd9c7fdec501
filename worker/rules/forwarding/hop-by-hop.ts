import { memoize } from "../fields/memoize.ts";
import { isToken } from "../fields/token.ts";

/** Fields that concern only one connection, and are never forwarded or stored. RFC 9110 §7.6.1. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "http2-settings", // RFC 7540 §3.2.1
  "keep-alive",
  "proxy-authenticate",
  "proxy-authentication-info",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** The names, in lower case, of this message's hop-by-hop fields, including the members of its `Connection`. */
export function hopByHopFields(connection: string | null): ReadonlySet<string> {
  if (connection === null) return HOP_BY_HOP;
  return withNamed(connection);
}

const withNamed = memoize((connection: string): ReadonlySet<string> => {
  const named = connection
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  return new Set([...HOP_BY_HOP, ...named.filter(isToken)]);
});
