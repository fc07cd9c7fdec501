import type { IncomingMessage } from "node:http";
import { HOST_OF_NONE, type Scheme } from "../connections/arrival.ts";
import { PARENT_TOKEN_FIELD } from "../tiers/parent-fields.ts";
import { ADDED_FIELDS } from "../tiers/room-for-tiers.ts";
import type { ClientFields } from "./client-fields.ts";

/** The URL that a request asks for, or the listener's own answer: why it is refused, except for `SERVER_RUNS`. */
export type RequestTarget = { readonly kind: "url"; readonly url: string } | RefusedRequest;

export interface RefusedRequest {
  readonly kind: "refused";
  readonly status: number;
  /** A word for programs, in `Cache-Status`. */
  readonly detail: string;
  /** For a person. */
  readonly because: string;
}

/** A request line and the fields that frame the request. */
export interface RequestLine {
  readonly method: string;
  readonly target: string;
  readonly versionMajor: number;
  readonly versionMinor: number;
}

/** The line of a request that Node's parser has read. */
export function lineOf({ method, url, httpVersionMajor, httpVersionMinor }: IncomingMessage): RequestLine {
  return { method: method!, target: url!, versionMajor: httpVersionMajor, versionMinor: httpVersionMinor };
}

/** Fields of a request, in either protocol. In HTTP/2 browsers send each cookie as one of its own. */
export const MAX_FIELDS = 1000;

/** A name or an IPv4 address, or an IPv6 address in brackets; with or without a port. RFC 9110 §7.2. */
const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?$/;

/** The hosts that were last found valid. A site has few, so a hit needs no regular expression. */
const validHosts = new Set<string>();
const MAX_VALID_HOSTS = 100;

/** No target has a fragment (RFC 9112 §3.2). What comes before it is another page, which its DELETE must not reach. */
export const FRAGMENT = refused(400, "the URL has a #; write %23 for one");

/**
 * To a request for the server and no page of a site, as health checks send: `OPTIONS *` (RFC 9110 §9.3.7), and the
 * `OPTIONS / HTTP/1.0` without Host of HAProxy's plain `option httpchk`. It ends the connection in HTTP/1, as a refusal does.
 */
export const SERVER_RUNS = refused(200, "this server runs", "health");

export function isHost(text: string): boolean {
  if (validHosts.has(text)) return true;
  if (!HOST.test(text) || !URL.canParse(`http://${text}/`)) return false;
  if (validHosts.size < MAX_VALID_HOSTS && text.length < 300) validHosts.add(text);
  return true;
}

/**
 * Resolves the target of a request. Node's parser accepts more than one reading of some requests; those are refused
 * here: several `Host` fields, `Transfer-Encoding` in HTTP/1.0 or with a coding beside `chunked`, and other versions.
 * RFC 9112 §3.2, §6.1; RFC 9110 §7.2. `scheme` is that of the connection.
 */
export function requestTarget(line: RequestLine, fields: ClientFields, scheme: Scheme): RequestTarget {
  const { method, target, versionMajor, versionMinor } = line;
  if (versionMajor !== 1) return refused(505, "this server speaks only HTTP/1.0 and HTTP/1.1");
  if (fields.raw.length > 2 * MAX_FIELDS && fields.raw.length > 2 * mostFields(fields)) {
    return refused(431, `the request has more than ${mostFields(fields)} fields`);
  }
  const coding = fields.get("transfer-encoding");
  if (coding !== null) {
    if (versionMinor === 0) return refused(400, "a request in HTTP/1.0 cannot have Transfer-Encoding");
    if (coding.toLowerCase() !== "chunked") return refused(501, "the only accepted Transfer-Encoding is chunked, once");
    if (fields.get("content-length") !== null)
      return refused(400, "Content-Length and Transfer-Encoding contradict each other");
  }
  const length = fields.get("content-length");
  if (length !== null && !/^[0-9]+$/.test(length)) return refused(400, "Content-Length is not one number");
  const hosts = fields.count("host");
  if (hosts > 1) return refused(400, "more than one Host field");
  if (hosts === 0 && versionMinor === 1) return refused(400, "no Host field");
  const host = hosts === 0 ? HOST_OF_NONE : fields.get("host")!;
  if (!isHost(host)) return refused(400, "the Host field is not a host");
  if (target.includes("#")) return FRAGMENT;
  if (method === "OPTIONS" && (target === "*" || (target === "/" && hosts === 0))) return SERVER_RUNS;
  if (target.startsWith("/")) return { kind: "url", url: `${scheme}://${host}${target}` };
  if (method === "CONNECT") return refused(501, "this server is not a proxy and does not accept CONNECT");
  // The absolute form, whose host replaces that of the field. RFC 9112 §3.2.2.
  const origin = /^(https?):\/\/([^/?]*)/i.exec(target);
  if (!origin) return refused(400, "the target is neither a path nor a URL");
  // The scheme of a URL must be that of the connection. RFC 9110 §7.4.
  if (origin[1]!.toLowerCase() !== scheme) {
    return refused(421, scheme === "http" ? "this connection is not encrypted" : "this connection is encrypted");
  }
  if (!isHost(origin[2]!)) return refused(400, "the target's host is not valid");
  const rest = target.slice(origin[0].length);
  return { kind: "url", url: `${scheme}://${origin[2]}${rest.startsWith("/") ? rest : `/${rest}`}` };
}

/** A child sends all fields of its visitor, and adds its own: if they were too many, it would take this server for failed. */
function mostFields(fields: ClientFields): number {
  return fields.get(PARENT_TOKEN_FIELD) === null ? MAX_FIELDS : MAX_FIELDS + ADDED_FIELDS;
}

export function refused(status: number, because: string, detail = "bad-request"): RefusedRequest {
  return { kind: "refused", status, detail, because };
}
