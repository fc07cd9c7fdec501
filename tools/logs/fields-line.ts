import { LogTime } from "./log-time.ts";
import { knownClient, type LineParser, readTarget } from "./logged-request.ts";

/** The directive that names the columns. */
export const FIELDS_DIRECTIVE = "#Fields:";

/** The W3C's extended format, whose columns a line `#Fields:` names: CloudFront's standard logs, IIS. */
export function fieldsParser(directive: string): LineParser {
  const names = directive.slice(FIELDS_DIRECTIVE.length).trim().split(/\s+/);
  const column = (...wanted: readonly string[]) =>
    wanted.map((name) => names.indexOf(name)).find((at) => at >= 0) ?? -1;
  const at = {
    date: column("date"),
    time: column("time"),
    method: column("cs-method"),
    host: column("x-host-header", "cs(Host)", "cs-host"),
    stem: column("cs-uri-stem"),
    query: column("cs-uri-query"),
    status: column("sc-status"),
    bytes: column("sc-bytes"),
    agent: column("cs(User-Agent)"),
    result: column("x-edge-result-type"),
    client: column("c-ip"),
    took: column("time-taken"),
  };
  const tookUnit = unitOfTimeTaken(names);
  const clock = new LogTime();
  return (line, into) => {
    const values = line.includes("\t") ? line.split("\t") : line.split(" ");
    if (values.length < names.length || at.stem < 0 || at.date < 0) return "broken";
    const valueAt = (index: number) => (index < 0 || values[index] === "-" ? "" : values[index]!);
    into.at = clock.readIso(`${valueAt(at.date)}T${valueAt(at.time)}`);
    into.status = Number(valueAt(at.status));
    if (Number.isNaN(into.at) || Number.isNaN(into.status)) return "broken";
    into.bytes = Number(valueAt(at.bytes));
    into.host = valueAt(at.host).toLowerCase();
    into.userAgent = valueAt(at.agent);
    into.cacheStatus = RESULTS[valueAt(at.result)] ?? "";
    into.client = knownClient(valueAt(at.client));
    const took = valueAt(at.took);
    if (tookUnit !== null && /^[\d.]+$/.test(took)) into.tookMs = Number(took) * tookUnit;
    const query = valueAt(at.query);
    readTarget(query === "" ? valueAt(at.stem) : `${valueAt(at.stem)}?${query}`, into);
    if (into.target !== "") into.method = valueAt(at.method);
    return "request";
  };
}

/** Of a `time-taken`, in milliseconds: CloudFront has seconds, IIS milliseconds. `null` for others. */
function unitOfTimeTaken(names: readonly string[]): number | null {
  if (names.includes("x-edge-result-type")) return 1000;
  return names.includes("sc-win32-status") ? 1 : null;
}

/** CloudFront's words for the result of a request. */
const RESULTS: Readonly<Record<string, string>> = { Hit: "HIT", RefreshHit: "REVALIDATED", Miss: "MISS" };
