import { LogTime } from "./log-time.ts";
import { knownClient, type LineParser, type LoggedRequest, readRequestLine } from "./logged-request.ts";

const QUOTE = 34;
const DASH = 45;
const COMMA = 44;
const BACKSLASH = 92;

/** The length of the time between its brackets. */
const TIME_LENGTH = 26;

/**
 * The words of nginx's `$upstream_cache_status` and of Varnish's `%{Varnish:hitmiss}x`, which some sites append to the
 * format. The latter are words of English, too, so they count only at the end.
 */
const CACHE_STATUS = /(?:^|[\s"=])(HIT|MISS|EXPIRED|STALE|UPDATING|REVALIDATED|BYPASS)(?:$|[\s"])| (hit|miss)$/;

/**
 * `HIT 0.004`, as `tidemark serve` ends its lines: X-Cache and the seconds. Without that word, the meaning of a number
 * is unknown.
 */
const SECONDS_AT_END = /^ ([A-Z]+|-) (\d+\.\d{3})$/;

/** Answers without a word for the cache: an edge may have made them without asking the origin, most of them at once. */
const UNASKED = 503;
const AT_ONCE_MS = 10;

/**
 * The common and combined formats of nginx, Apache and Varnish, with or without Apache's virtual host in front, and
 * with anything appended.
 */
export function combinedParser(): LineParser {
  const time = new LogTime();
  return (line, into) => {
    let bracket = -1;
    do {
      bracket = line.indexOf("[", bracket + 1);
      if (bracket < 0) return "broken";
      into.at = time.readCommon(line, bracket + 1);
      // Brackets may also be around an address, or in the name of a user.
    } while (Number.isNaN(into.at));
    const requestStart = line.indexOf('"', bracket + TIME_LENGTH);
    const requestEnd = requestStart < 0 ? -1 : closingQuote(line, requestStart + 1);
    if (requestEnd < 0) return "broken";
    const statusStart = requestEnd + 2;
    const status = threeDigits(line, statusStart);
    if (status < 100) return "broken";
    into.status = status;
    into.client = clientIn(line, bracket);
    readHost(line, bracket, requestStart, into);
    readRequestLine(line.slice(requestStart + 1, requestEnd), into);
    let index = statusStart + 4;
    let bytes = 0;
    for (let code = line.charCodeAt(index) - 48; code >= 0 && code <= 9; code = line.charCodeAt(++index) - 48) {
      bytes = bytes * 10 + code;
    }
    into.bytes = bytes;
    readRest(line, index, into);
    return "request";
  };
}

/** The user agent, and what may follow it. */
function readRest(line: string, start: number, into: LoggedRequest): void {
  const refererStart = line.indexOf('"', start);
  const refererEnd = refererStart < 0 ? -1 : closingQuote(line, refererStart + 1);
  const agentStart = refererEnd < 0 ? -1 : line.indexOf('"', refererEnd + 1);
  const agentEnd = agentStart < 0 ? -1 : closingQuote(line, agentStart + 1);
  if (agentEnd >= 0) into.userAgent = line.slice(agentStart + 1, agentEnd);
  const restStart = agentEnd >= 0 ? agentEnd + 1 : start;
  if (refererStart !== -1 && agentEnd < 0) return;
  if (line.length <= restStart + 3) return;
  const rest = line.slice(restStart);
  const [, ofNginx, ofVarnish] = CACHE_STATUS.exec(rest) ?? [];
  into.cacheStatus = ofNginx ?? ofVarnish?.toUpperCase() ?? "";
  const [, word, seconds] = SECONDS_AT_END.exec(rest) ?? [];
  if (seconds === undefined) return;
  const tookMs = Number(seconds) * 1000;
  const isUnasked = word === "-" && (into.status === UNASKED || (into.status > 500 && tookMs < AT_ONCE_MS));
  if (!isUnasked) into.tookMs = tookMs;
}

/** `192.0.2.7` of `192.0.2.7 - alice [`: the word before identd's dash, whatever precedes it. IPv6 may have brackets. */
function clientIn(line: string, bracket: number): string {
  const dash = line.indexOf(" - ");
  if (dash < 0 || dash > bracket) return "";
  return knownClient(line.slice(line.lastIndexOf(" ", dash - 1) + 1, dash).replace(/^\[(.*)\]$/, "$1"));
}

/** The only word between the time and the request, if it is a host name. */
const HOST_AFTER_TIME = /\] ((?:[\w-]+\.)+[a-z][\w-]*)(?::(?:80|443))? $/i;

/** The host before a user's name, which may stand there instead of a name of identd. */
const HOST_NAME = /^(?:[\w-]+\.)+[a-z][\w-]*(?::\d+)?$/i;

/** A host and perhaps its port. Docker and Kubernetes write times and names of pods in front, which have other marks. */
const HOST = /^(?:[^:/[\]]+|\[[\da-f:.]+\])(?::\d+)?$/i;

/** Visitors in X-Forwarded-For, before the address of a balancer. A virtual host with such a name has its port. */
const FORWARDED = /^(?:-|(?:\d+\.){3}\d+)$/;

/**
 * `www.example.com:443 192.0.2.7 - alice [`: only there the third word is the dash of identd. lighttpd has no such dash,
 * and the host after the visitor: `192.0.2.7 www.example.com - [`, or a user's name for this dash. Some write the host
 * after the time, instead.
 */
function readHost(line: string, bracket: number, requestStart: number, into: LoggedRequest): void {
  const timeEnd = bracket + TIME_LENGTH;
  if (requestStart > timeEnd + 3) {
    into.host = HOST_AFTER_TIME.exec(line.slice(timeEnd, requestStart))?.[1]?.toLowerCase() ?? "";
  }
  const firstEnd = line.indexOf(" ");
  if (firstEnd < 0 || firstEnd >= bracket || line.charCodeAt(firstEnd + 1) === DASH) return;
  const secondEnd = line.indexOf(" ", firstEnd + 1);
  if (secondEnd < 0 || secondEnd >= bracket) return;
  if (line.charCodeAt(secondEnd + 1) !== DASH) {
    const host = line.slice(firstEnd + 1, secondEnd);
    if (line.indexOf(" ", secondEnd + 1) !== bracket - 1 || !HOST_NAME.test(host)) return;
    into.host = withoutUsualPort(host);
    into.client = knownClient(line.slice(0, firstEnd));
    return;
  }
  // An address of X-Forwarded-For that is followed by another.
  if (line.charCodeAt(firstEnd - 1) === COMMA) return;
  const first = line.slice(0, firstEnd);
  if (isHost(first)) {
    into.host = withoutUsualPort(first);
    return;
  }
  const second = line.slice(firstEnd + 1, secondEnd);
  if (bracket !== secondEnd + 3 || !isHost(second)) return;
  into.host = withoutUsualPort(second);
  into.client = knownClient(first);
}

function isHost(word: string): boolean {
  return HOST.test(word) && !FORWARDED.test(word);
}

function withoutUsualPort(host: string): string {
  return host.toLowerCase().replace(/:(?:80|443)$/, "");
}

/** The next quote that is not escaped; -1 if there is none. */
function closingQuote(line: string, start: number): number {
  for (let quote = line.indexOf('"', start); quote >= 0; quote = line.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (line.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0 && line.charCodeAt(quote) === QUOTE) return quote;
  }
  return -1;
}

/** The number of three digits at a place of a line; -1 if there is none. */
function threeDigits(line: string, start: number): number {
  let number = 0;
  for (let index = start; index < start + 3; index++) {
    const digit = line.charCodeAt(index) - 48;
    if (!(digit >= 0 && digit <= 9)) return -1;
    number = number * 10 + digit;
  }
  return number;
}
