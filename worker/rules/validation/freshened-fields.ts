import { hopByHopFields } from "../forwarding/hop-by-hop.ts";

/** Fields in lower case, as they are stored. */
type Fields = readonly (readonly [name: string, value: string])[];

/**
 * Fields that are never taken from a 304. The first three describe the stored bytes, which a 304 does not replace: a
 * wrong one would make them unreadable. A cookie is for the one visitor whose request brought the 304.
 */
const NEVER_FROM_304 = new Set(["content-length", "content-encoding", "content-range", "set-cookie", "set-cookie2"]);

/**
 * The fields of a stored response after a 304 confirmed it. RFC 9111 §3.2, §4.3.4. Each field of the 304 replaces all
 * lines of that name, the others stay. `Content-Type` and the other `Content-` fields are replaced, too: the stored
 * bytes are as the origin sent them, so what it now says about them, a charset or a security policy, has to count.
 * Tag fields and `Age` are the caller's, as they are when a response is stored.
 */
export function freshenedFields(stored: Fields, from304: Fields): Fields {
  const connection = from304.filter(([name]) => name === "connection").map(([, value]) => value);
  const ownHop = new Set(hopByHopFields(connection.length === 0 ? null : connection.join(",")));
  const taken = from304.filter(([name]) => !NEVER_FROM_304.has(name) && !ownHop.has(name));
  const replaced = new Set(taken.map(([name]) => name));
  return [...stored.filter(([name]) => !replaced.has(name)), ...taken];
}
