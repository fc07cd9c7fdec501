import { LogTime } from "./log-time.ts";
import { clientWithoutPort, type LineParser, readRequestLine } from "./logged-request.ts";

/** `[06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 `, whatever syslog writes before it. */
const LINE = /\[(\d\d\/\w{3}\/\d{4}:\d\d:\d\d:\d\d\.\d{3})\] \S+ \S+ ([\d/+-]+) (-1|\d{3}) \+?(\d+) /;

/** The first captured field, if it is a host name: the line does not say which fields were captured. */
const CAPTURED_HOST = /\{([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})(?::\d+)?[|}]/;

/** A quote, a `#`, and bytes that are not printable ASCII. https://docs.haproxy.org/dev/configuration.html#8.6 */
const ESCAPE = /#([0-9A-F]{2})/g;

/**
 * HAProxy with `option httplog` or `option httpslog`. Its times are without a zone, and taken for UTC.
 * https://docs.haproxy.org/dev/configuration.html#8.2.3
 */
export function haproxyParser(): LineParser {
  const time = new LogTime();
  return (line, into) => {
    const found = LINE.exec(line);
    if (found === null) return "broken";
    const [matched, at, timers, status, bytes] = found;
    // A quote within a request is escaped. After the request, httpslog describes the connection, without quotes.
    const requestStart = line.indexOf('"', found.index + matched.length) + 1;
    const requestEnd = requestStart === 0 ? -1 : line.indexOf('"', requestStart);
    if (requestEnd < 0) return "broken";
    into.at = time.readCommon(`${at} +0000`, 0);
    if (Number.isNaN(into.at)) return "broken";
    into.status = Math.max(0, Number(status));
    into.bytes = Number(bytes);
    into.client = clientWithoutPort(
      line.slice(line.lastIndexOf(" ", found.index - 2) + 1, Math.max(0, found.index - 1)),
    );
    into.tookMs = serverMs(timers!);
    readRequestLine(line.slice(requestStart, requestEnd).replace(ESCAPE, fromEscape), into);
    // Requests of HTTP/2 have the whole URL, those of HTTP/1.1 the path: a page must not count once for each.
    into.host = CAPTURED_HOST.exec(line.slice(found.index, requestStart))?.[1]?.toLowerCase() ?? "";
    return "request";
  };
}

function fromEscape(_escape: string, digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16));
}

/**
 * From `TR/Tw/Tc/Tr/Ta`: the total without the time until the request head arrived, and without HAProxy's own queue.
 * `null` if the request did not get that far, which -1 says.
 */
function serverMs(timers: string): number | null {
  const values = timers.split("/").map(Number);
  if (values.length !== 5 || values.some((value) => !(value >= 0))) return null;
  const [request, queue, , , whole] = values;
  return Math.max(0, whole! - request! - queue!);
}
