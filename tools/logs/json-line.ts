import { LogTime } from "./log-time.ts";
import {
  clientWithoutPort,
  knownClient,
  type LineKind,
  type LineParser,
  type LoggedRequest,
  readRequestLine,
  readTarget,
  UNKNOWN_STATUS,
} from "./logged-request.ts";

type Values = Readonly<Record<string, unknown>>;

/**
 * The names of each value in nginx's variables, Cloudflare Logpush, Caddy, Traefik, Fastly's templates, other common
 * formats and `tidemark serve`.
 */
const NAMES = {
  time: [
    "StartUTC",
    "time_iso8601",
    "msec",
    "time_local",
    "EdgeStartTimestamp",
    "EdgeEndTimestamp",
    "@timestamp",
    "timestamp",
    "time",
    "time_start",
    "ts",
    "date",
  ],
  method: ["request_method", "ClientRequestMethod", "RequestMethod", "method"],
  target: ["request_uri", "ClientRequestURI", "RequestPath", "uri", "url", "path", "target"],
  query: ["args", "query_string", "query", "request_query"],
  host: ["host", "http_host", "ClientRequestHost", "RequestHost", "server_name", "vhost"],
  status: ["status", "EdgeResponseStatus", "DownstreamStatus", "response_status", "status_code"],
  bytes: [
    "body_bytes_sent",
    "EdgeResponseBodyBytes",
    "EdgeResponseBytes",
    "DownstreamContentSize",
    "response_body_size",
    "resp_body_size",
    "bytes_sent",
    "bytes",
    "size",
    "response_size",
  ],
  userAgent: [
    "http_user_agent",
    "ClientRequestUserAgent",
    "request_User-Agent",
    "request_user_agent",
    "user_agent",
    "agent",
    "userAgent",
  ],
  cacheStatus: ["upstream_cache_status", "CacheCacheStatus", "cache_status", "response_state", "cache", "xCache"],
  /** A whole line of another format: Docker and Fluent Bit, journald, Filebeat. */
  line: ["log", "MESSAGE", "message"],
  client: ["remote_addr", "ClientIP", "ClientHost", "client_ip", "remote_ip", "client", "clientip", "c_ip", "remoteIP"],
} as const;

/** How long an answer took, the time at the origin first, and the unit: milliseconds. */
const TIMES_TAKEN: readonly (readonly [name: string, unit: number])[] = [
  ["upstream_response_time", 1000],
  ["request_time", 1000],
  ["OriginDuration", 1e-6],
  ["Duration", 1e-6],
  ["OriginResponseDurationMs", 1],
  ["ms", 1],
];

/** `host` is also a usual name for the visitor's address, like Apache's `%h`. */
const ADDRESS = /^(?:(?:\d+\.){3}\d+|[\da-f]*:[\da-f]*:[\da-f:.]*)$/;

/**
 * One JSON object a line: nginx with `escape=json`, Cloudflare Logpush, Caddy, Traefik, Fastly, `tidemark serve`.
 * `readWithin` reads a line that a collector has put into an object of its own.
 */
export function jsonParser(readWithin: LineParser): LineParser {
  const time = new LogTime();
  return (object, into) => {
    const values = parsed(object);
    if (values === null) return "broken";
    const line = first(values, NAMES.line);
    if (typeof line === "string" && first(values, NAMES.status) === undefined) {
      return readWithin(bytesOf(line).trimEnd(), into);
    }
    // Caddy keeps the request's values in a separate object.
    const { request } = values;
    const inner = typeof request === "object" && request !== null ? (request as Values) : values;
    into.at = instant(first(values, NAMES.time), time);
    into.status = Number(first(values, NAMES.status));
    if (!Number.isFinite(into.at) || !(into.status >= 0 && into.status <= 999)) return "broken";
    into.bytes = Number(first(values, NAMES.bytes));
    into.userAgent = text(first(values, NAMES.userAgent)) || text(userAgentField(inner));
    into.host = text(first(inner, NAMES.host)).toLowerCase();
    into.client = clientOf(text(first(inner, NAMES.client)));
    if (into.client === "" && ADDRESS.test(into.host)) {
      into.client = into.host;
      into.host = "";
    }
    // Caddy's duration has a name that others use with other units.
    into.tookMs = inner === values ? tookMs(values) : inUnit(values.duration, 1000);
    into.cacheStatus = cacheWord(text(first(values, NAMES.cacheStatus)).toUpperCase());
    if (isWithinTheEdge(values)) return "nothing";
    readMethodAndTarget(inner, into);
    return values.xCache === null && typeof values.detail === "string" ? ownAnswer(values.detail, into) : "request";
  };
}

/** Fastly also logs the requests from a machine of its edge to its shield, and Cloudflare those that a worker makes. */
function isWithinTheEdge({ fastly_is_edge, WorkerSubrequest, ClientRequestSource }: Values): boolean {
  return fastly_is_edge === false || WorkerSubrequest === true || text(ClientRequestSource).startsWith("edgeWorker");
}

/** What `tidemark serve` answers in the origin's place, and what of that without having asked it. */
const IN_ITS_PLACE = /^(?:origin-|log-silent$|failed$)/;
const UNASKED = /^(?:origin-busy|origin-down|log-silent|failed)$/;

/** `tidemark serve` answered itself: in the origin's place, or a request that the origin would not have got either. */
function ownAnswer(detail: string, into: LoggedRequest): LineKind {
  if (!IN_ITS_PLACE.test(detail)) return "own";
  into.status = UNKNOWN_STATUS;
  into.bytes = 0;
  if (UNASKED.test(detail)) into.tookMs = null;
  return "request";
}

/** The request line first: other fields may have the path as a server rewrote it, or a path that is not the request's. */
function readMethodAndTarget(values: Values, into: LoggedRequest): void {
  const request = text(values.request);
  readRequestLine(bytesOf(request), into);
  if (into.target !== "") return;
  // Some formats of Apache have the path as `request`, beside the method.
  const target = text(first(values, NAMES.target)) || request;
  readTarget(bytesOf(target.includes("?") ? target : target + queryOf(values)), into);
  if (into.target !== "") into.method = text(first(values, NAMES.method)) || oneWord(request) || "GET";
}

/** The query of a path that comes without one, like nginx's `$uri`. Apache's `%q` begins with its question mark. */
function queryOf(values: Values): string {
  const query = text(first(values, NAMES.query)).replace(/^(?:\?|-$)/, "");
  return query === "" ? "" : `?${query}`;
}

/** Caddy has the request's fields as lists. */
function userAgentField({ headers }: Values): unknown {
  return [(headers as Values | null | undefined)?.["User-Agent"]].flat()[0];
}

/** Some templates of Fastly have the method as `request`, beside the URL. */
function oneWord(request: string): string {
  return /^[A-Z]+$/.test(request) ? request : "";
}

/** A cache's word for its result. Fastly adds details: `HIT-CLUSTER`, `MISS-WAIT-CLUSTER`. */
function cacheWord(word: string): string {
  const known = /^(?:HIT-(STALE)|(HIT|MISS)-)/.exec(word);
  return known?.[1] ?? known?.[2] ?? word.replace(/^(?:-|NONE|UNKNOWN)$/, "");
}

function parsed(line: string): Values | null {
  return valuesOf(line) ?? (line.includes("\\x") ? valuesOf(withoutHexEscapes(line)) : null);
}

function valuesOf(line: string): Values | null {
  try {
    const value: unknown = JSON.parse(utf8(line));
    return typeof value === "object" && value !== null ? (value as Values) : null;
  } catch {
    return null; // A broken line is counted by the reader.
  }
}

/** Without `escape=json`, nginx writes quotes and bytes outside of ASCII as `\x22`, which is no escape of JSON. */
function withoutHexEscapes(line: string): string {
  return line.replace(/\\x([0-9A-F]{2})/g, (_escape, digits: string) =>
    digits < "80" ? `\\u00${digits}` : String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Older versions of Caddy also write the port. */
function clientOf(text: string): string {
  return /^[\d.]+:\d+$|^\[.*\]:\d+$/.test(text) ? clientWithoutPort(text) : knownClient(text);
}

function tookMs(values: Values): number | null {
  const { ms, turn } = (values.queue ?? {}) as Values;
  for (const [name, unit] of TIMES_TAKEN) {
    const took = values[name] === undefined ? null : inUnit(values[name], unit);
    // `tidemark serve` also logs the time spent in the queue for the origin, and whether its turn came.
    if (took !== null) return turn === false ? null : Math.max(0, took - (inUnit(ms, 1) ?? 0));
  }
  return null;
}

/** A duration, of which nginx writes several if it asked several servers: `0.002, 0.120`. `null` for anything else. */
function inUnit(value: unknown, unit: number): number | null {
  if (typeof value === "number") return value >= 0 ? value * unit : null;
  if (typeof value !== "string" || !/^[\d.]+(?: ?[,:] ?[\d.]+)*$/.test(value)) return null;
  const sum = value.split(/[ ,:]+/).reduce((total, each) => total + Number(each), 0);
  return Number.isFinite(sum) ? sum * unit : null;
}

function first(values: Values, names: readonly string[]): unknown {
  for (const name of names) if (values[name] !== undefined) return values[name];
  return undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Lines are read with one character per byte, so that invalid bytes cannot stop the reader. JSON is UTF-8. */
function utf8(bytes: string): string {
  return NOT_ASCII.test(bytes) ? Buffer.from(bytes, "latin1").toString("utf8") : bytes;
}

/** One character per byte again, also for characters that JSON has as escapes. */
function bytesOf(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text).toString("latin1") : text;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: everything outside of ASCII
const NOT_ASCII = /[^\x00-\x7f]/;

/** A time as text, or as a number of seconds, milliseconds or nanoseconds. */
function instant(value: unknown, time: LogTime): number {
  if (typeof value === "string" && !/^[0-9.]+$/.test(value)) {
    // Apache's `%t` has brackets.
    const start = value.startsWith("[") ? 1 : 0;
    return value.charCodeAt(start + 2) === 47 ? time.readCommon(value, start) : time.readIso(value);
  }
  const number = Number(value ?? NaN);
  if (number > 1e17) return Math.floor(number / 1e6);
  if (number > 1e14) return Math.floor(number / 1e3);
  return Math.floor(number > 1e11 ? number : number * 1000);
}
