import { ownText } from "./own-text.ts";

/** The status of an answer of the origin that nobody got. */
export const UNKNOWN_STATUS = -1;

/**
 * A request from a line of a log. A reader fills the same object again and again, because a million short-lived objects
 * would cost more than reading. To keep a request, copy it.
 */
export class LoggedRequest {
  /** When it was logged: epoch milliseconds. */
  at = 0;
  /** Empty if the line is not about an HTTP request, but about the first bytes of TLS, for example. */
  method = "";
  /** Empty if the log does not have the host. */
  host = "";
  /** Path and query, beginning with `/`. Bytes that are not ASCII are percent-encoded. */
  target = "";
  /** `UNKNOWN_STATUS` if an edge answered in the origin's place. */
  status = 0;
  /** Of the body if the log has that, otherwise of the whole answer; 0 if the log has neither. */
  bytes = 0;
  userAgent = "";
  /** What the cache that wrote the log said: `HIT`, `MISS`, `EXPIRED`; empty if it does not say. */
  cacheStatus = "";
  /** The address of the client; empty if the log does not have it. Behind a proxy it may be the proxy's. */
  client = "";
  /**
   * How long the answer took: milliseconds. At the origin if the log has that time, else to the client. `null` if it
   * has neither.
   */
  tookMs: number | null = null;

  clear(): void {
    this.at = 0;
    this.method = "";
    this.host = "";
    this.target = "";
    this.status = 0;
    this.bytes = 0;
    this.userAgent = "";
    this.cacheStatus = "";
    this.client = "";
    this.tookMs = null;
  }

  /** Takes over the values of another request, with its own texts. */
  copy(other: LoggedRequest): this {
    Object.assign(this, other);
    this.method = ownText(other.method);
    this.host = ownText(other.host);
    this.target = ownText(other.target);
    this.userAgent = ownText(other.userAgent);
    this.client = ownText(other.client);
    return this;
  }
}

/** Whether a site removed a page from its cache. The cache answers that itself, whatever the page is. */
export function isPurge({ method }: Pick<LoggedRequest, "method">): boolean {
  return method === "PURGE" || method === "BAN";
}

/** Whether an unsafe request with this status may have changed what is stored. RFC 9111 §4.4. */
export function mayHaveSucceeded(status: number): boolean {
  return status === UNKNOWN_STATUS || (status >= 200 && status < 400);
}

/**
 * The result of reading a line. A comment, an empty line, and a line that is not about a visitor's request say nothing.
 * An edge's own answer to a request that is none of the site's, like one for an unknown host, is `own`.
 */
export type LineKind = "request" | "own" | "broken" | "nothing";

/** Fills a request from a line. A line that is not of its format is broken. */
export type LineParser = (line: string, into: LoggedRequest) => LineKind;

/** Words for a client without an address: the dash, and nginx's word for a unix socket. */
export function knownClient(text: string): string {
  return text === "-" || text === "unix:" ? "" : text;
}

/** `192.0.2.7` of `192.0.2.7:2817`, `2001:db8::7` of `[2001:db8::7]:2817` and of `2001:db8::7:2817`. */
export function clientWithoutPort(text: string): string {
  const end = text.lastIndexOf(":");
  return knownClient(end < 0 ? text : text.slice(0, end).replace(/^\[(.*)\]$/, "$1"));
}

/** Reads `GET /path HTTP/1.1`, even with an absolute URL, as in Varnish's logs. The text has one character per byte. */
export function readRequestLine(text: string, into: LoggedRequest): void {
  const methodEnd = text.indexOf(" ");
  if (methodEnd < 1 || !isMethod(text, methodEnd)) return;
  const targetEnd = text.lastIndexOf(" ");
  const hasVersion = targetEnd > methodEnd && text.startsWith("HTTP/", targetEnd + 1);
  readTarget(text.slice(methodEnd + 1, hasVersion ? targetEnd : text.length), into);
  if (into.target !== "") into.method = text.slice(0, methodEnd);
}

/** Reads a path with its query, or an absolute URL. The text has one character per byte. */
export function readTarget(text: string, into: LoggedRequest): void {
  let target = text;
  if (target.charCodeAt(0) !== SLASH) {
    const authority = /^https?:\/\/([^/?#]*)/i.exec(target);
    if (authority === null) return;
    into.host = authority[1]!.toLowerCase().replace(/:(?:80|443)$/, "");
    target = target.slice(authority[0].length);
    if (target.charCodeAt(0) !== SLASH) target = `/${target}`;
  }
  into.target = ODD.test(target) ? plainTarget(target) : target;
}

const SLASH = 47;
const DASH = 45;

// biome-ignore lint/suspicious/noControlCharactersInRegex: everything outside of ASCII is odd
const ODD = /[^\x00-\x7f]|\\/;

/** Undoes the escapes of nginx (`\x22`) and Apache (`\x22`, `\"`, `\t`), and encodes bytes that are not ASCII. */
function plainTarget(target: string): string {
  return target
    .replace(/\\(?:x([0-9A-Fa-f]{2})|(["\\])|([bnrtv]))/g, (_escape, digits?: string, itself?: string, letter = "") =>
      digits === undefined ? (itself ?? CONTROLS[letter]!) : String.fromCharCode(Number.parseInt(digits, 16)),
    )
    .replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The control characters for which Apache has letters. */
const CONTROLS: Readonly<Record<string, string>> = { b: "\b", n: "\n", r: "\r", t: "\t", v: "\v" };

/** Whether the text begins with this many capitals. HTTP methods do; the bytes of TLS do not. */
function isMethod(text: string, length: number): boolean {
  if (length > 20 || text.charCodeAt(0) === DASH) return false;
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index);
    if ((code < 65 || code > 90) && code !== DASH) return false;
  }
  return true;
}
