import type { IncomingHttpHeaders } from "node:http2";
import { ClientFields, trimmed } from "../http1/client-fields.ts";
import { FRAGMENT, isHost, type RequestTarget, refused, SERVER_RUNS } from "../http1/request-target.ts";

/** The bytes that RFC 9113 §6.5.2 adds for each field of a list. */
const FIELD_OVERHEAD_BYTES = 32;

/** The size of a list of fields, as names and values in turn. RFC 9113 §6.5.2. */
export function listBytes(raw: readonly string[]): number {
  let bytes = (raw.length / 2) * FIELD_OVERHEAD_BYTES;
  for (const text of raw) bytes += text.length;
  return bytes;
}

/** Not imported, as in `listener.ts`: an import loads Node's own `fetch`. */
const { METHODS } = process.getBuiltinModule("node:http");

/** The methods that HTTP/1.1 takes, too: neither a parent nor most origins could be asked with another one. */
const KNOWN_METHODS: ReadonlySet<string> = new Set([...METHODS, "BAN"]);

/** The characters that Node's parser accepts in HTTP/1.1. A URL would change any other character. RFC 9113 §8.3.1. */
const PATH = /^\/[!-~]*$/;

/** The fields of a request as HTTP/1.1 has them: values without spaces around them, and the host in `Host`. RFC 9113 §8.3.1. */
export function http2Fields(raw: readonly string[], authority: string | undefined): ClientFields {
  const first = raw.findIndex((name, at) => at % 2 === 0 && !name.startsWith(":"));
  const fields = new ClientFields(first === -1 ? [] : raw.slice(first).map(trimmed));
  if (authority === undefined || fields.get("host") !== null) return fields;
  return new ClientFields(["host", authority, ...fields.raw]);
}

/**
 * Resolves the target of a request in HTTP/2. nghttp2 has refused pseudo-fields that are missing or doubled, fields of
 * connections, and names in upper case. RFC 9113 §8.2, §8.3. `scheme` is that in the URL, which a trusted
 * proxy may also name in place of that of its connection.
 */
export function http2Target(pseudo: IncomingHttpHeaders, fields: ClientFields, scheme: string): RequestTarget {
  if (pseudo[":method"] === "CONNECT") return refused(501, "this server is not a proxy and does not accept CONNECT");
  if (!KNOWN_METHODS.has(pseudo[":method"]!)) return refused(501, "the method is not known"); // RFC 9110 §9.1
  if (pseudo[":scheme"] !== "https" && pseudo[":scheme"] !== scheme)
    return refused(421, "this connection is encrypted");
  if (fields.count("host") > 1) return refused(400, "more than one Host field");
  const host = fields.get("host");
  const authority = pseudo[":authority"] ?? host;
  if (host === null || authority === null) return refused(400, "no host");
  // Caches and origins would disagree on which one counts.
  if (host.toLowerCase() !== authority.toLowerCase()) return refused(400, ":authority and Host contradict each other");
  if (!isHost(authority)) return refused(400, "the host is not valid");
  const path = pseudo[":path"]!;
  if (path === "*") return SERVER_RUNS; // nghttp2 takes it only with OPTIONS
  if (path.includes("#")) return FRAGMENT;
  if (!PATH.test(path)) return refused(400, "the target is not a path");
  return { kind: "url", url: `${scheme}://${authority}${path}` };
}
