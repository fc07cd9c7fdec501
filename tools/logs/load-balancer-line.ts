import { LogTime } from "./log-time.ts";
import { clientWithoutPort, type LineParser, readRequestLine } from "./logged-request.ts";

/**
 * From the type of the connection to the user agent: the time, the balancer, the client, the target, three durations, the
 * balancer's status and the target's, the bytes received and sent, and the request.
 */
const LINE =
  /^(?:https?|h2|grpcs|wss?) (\S+) \S+ (\S+) \S+ [\d.-]+ ([\d.-]+) [\d.-]+ (\d{3}|-) \S+ \d+ (\d+) "([^"]*)" "([^"]*)"/;

/**
 * The access log of an AWS Application Load Balancer, whose requests have the whole URL.
 * https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html
 */
export function loadBalancerParser(): LineParser {
  const time = new LogTime();
  return (line, into) => {
    const [, at, client, seconds, status, bytes, request, agent] = LINE.exec(line) ?? [];
    if (at === undefined) return "broken";
    into.at = time.readIso(at);
    if (Number.isNaN(into.at)) return "broken";
    into.status = Number(status) || 0;
    into.bytes = Number(bytes);
    into.client = clientWithoutPort(client!);
    if (Number(seconds) >= 0) into.tookMs = Number(seconds) * 1000;
    into.userAgent = agent === "-" ? "" : agent!;
    readRequestLine(request!, into);
    return "request";
  };
}
