import { LogTime } from "./log-time.ts";
import { knownClient, type LineParser, type LoggedRequest, readRequestLine, readTarget } from "./logged-request.ts";

const BRACKET = 91;

/**
 * Nginx Proxy Manager: the cache's word and the statuses of upstreams if the host has some, then
 * `200 - GET https www.example.com "/path" [Client 192.0.2.7] [Length 2326]`, and at the end the user agent and the referer.
 */
const LINE =
  /^\[([^\]]+)\] (?:([A-Z]+|-) [\d, :-]+ )?(\d{3}) - (\S+) \S+ (\S+) "([^"]*)" \[Client ([^\]]+)\] \[Length (\d+)\].* "([^"]*)" "[^"]*"$/;

/** NPMplus: the host, the visitor and the seconds before the request, and a user agent without quotes at the end. */
const LINE_OF_PLUS = /^\[([^\]]+)\] (\S+) (\S+) (\d+\.\d{3}) "([^"]*)" (\d{3}) (\d+) \d+ \S+ (.*)$/;

/** The access logs of Nginx Proxy Manager and of NPMplus, which begin with the time. */
export function proxyManagerParser(): LineParser {
  const time = new LogTime();
  return (line, into) => {
    if (line.charCodeAt(0) !== BRACKET) return "broken";
    const found = LINE.exec(line);
    if (found !== null) readLine(found, into);
    else {
      const ofPlus = LINE_OF_PLUS.exec(line);
      if (ofPlus === null) return "broken";
      readLineOfPlus(ofPlus, into);
    }
    into.at = time.readCommon(line, 1);
    return Number.isNaN(into.at) ? "broken" : "request";
  };
}

function readLine(
  [, , word, status, method, host, target, client, bytes, agent]: RegExpExecArray,
  into: LoggedRequest,
) {
  fill(into, { status, bytes, host, client, agent });
  into.cacheStatus = word === undefined || word === "-" ? "" : word;
  readTarget(target!, into);
  if (into.target !== "") into.method = method!;
}

function readLineOfPlus(
  [, , host, client, seconds, request, status, bytes, agent]: RegExpExecArray,
  into: LoggedRequest,
) {
  fill(into, { status, bytes, host, client, agent });
  into.tookMs = Number(seconds) * 1000;
  readRequestLine(request!, into);
}

type Texts = Readonly<Record<"status" | "bytes" | "host" | "client" | "agent", string | undefined>>;

function fill(into: LoggedRequest, { status, bytes, host, client, agent }: Texts): void {
  into.status = Number(status);
  into.bytes = Number(bytes);
  into.host = host!.toLowerCase().replace(/:(?:80|443)$/, "");
  into.client = knownClient(client!);
  into.userAgent = agent === "-" ? "" : agent!;
}
