import { isToken } from "../fields/token.ts";

/** Fields that concern one connection only and are never forwarded or stored. RFC 9110 §7.6.1. */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authentication-info",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/**
 * The names, in lower case, of the fields that this message keeps to its own hop, its `Connection` members included.
 */
export function hopByHopFields(connection: string | null): readonly string[] {
  if (connection === null) return HOP_BY_HOP;
  const named = connection
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  return [...HOP_BY_HOP, ...named.filter(isToken)];
}
