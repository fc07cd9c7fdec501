import type { SiteInput } from "#tidemark/internal";
import type { Difference, Sourced } from "../imported-site.ts";
import { handlerOf, isCached } from "./handlers.ts";
import { inForce } from "./in-force.ts";
import type { Location } from "./locations.ts";

type Settings = Sourced<Omit<Partial<SiteInput>, "origin" | "hosts" | "routes">>;

export interface ImportedFields {
  readonly settings: readonly Settings[];
  readonly differences: readonly Difference[];
}

/** A location with its routes. */
export interface RoutedLocation {
  readonly location: Location;
  readonly routes: readonly string[];
}

/** Values of `proxy_set_header` that the edge sends anyway. */
const SENT_ANYWAY: Readonly<Record<string, RegExp>> = {
  host: /^\$proxy_host$/,
  "x-forwarded-host": /^\$(?:host|http_host|server_name)$/,
  "x-forwarded-proto": /^\$(?:scheme|http_x_forwarded_proto)$/,
  "x-forwarded-for": /^\$(?:proxy_add_x_forwarded_for|remote_addr)$/,
  connection: /^/,
  upgrade: /^/,
  "keep-alive": /^/,
  te: /^/,
};

/** The fields that `proxy_set_header` sends to the origin, as far as the edge can send them. */
export function importOriginFields(routed: readonly RoutedLocation[]): ImportedFields {
  const proxied = routed.filter(({ location }) => handlerOf(location).kind === "upstream");
  const settings: Settings[] = [];
  const differences: Difference[] = [];
  const lines = groupedByLine(proxied, (location) => inForce(location.answeredBy, "proxy_set_header"));
  for (const { line, routes } of lines) {
    const { source } = line;
    const [name = "", value = ""] = line.args;
    const field = name.toLowerCase();
    if (SENT_ANYWAY[field]?.test(value)) continue;
    const isEverywhere = proxied.every(({ location }) =>
      inForce(location.answeredBy, "proxy_set_header").some(
        (other) => other.args[0]?.toLowerCase() === field && other.args[1] === value,
      ),
    );
    if (field === "cookie" && value === "" && isEverywhere) {
      settings.push({ value: { cookies: { ignore: ["*"] } }, from: [source] });
      const why =
        "The origin gets no cookies with requests whose answers may be stored. Requests that go past the cache keep their cookies.";
      differences.push({
        kind: "changed",
        source,
        why,
        aspects: ["origin-field"],
        affects: { routes: null, cookies: ["*"] },
        field,
      });
      continue;
    }
    if (field === "x-real-ip" && value === "$remote_addr" && isEverywhere) {
      settings.push({ value: { forward: { realIp: true } }, from: [source] });
      continue;
    }
    const isFixed = !value.includes("$") && value !== "";
    const isOwn = /^x-(?!forwarded|real-ip|original|rewrite|http-method|host|scheme)/.test(field);
    if (isFixed && isOwn && isEverywhere) {
      settings.push({ value: { originFields: { [name]: value } }, from: [source] });
      continue;
    }
    if (field !== "host" && value.toLowerCase() === `$http_${field.replaceAll("-", "_")}`) continue;
    if (/^\$upstream|^\$ssl/.test(value)) continue;
    differences.push({
      kind: "dropped",
      source,
      why: whyNotSent(field, value, isFixed),
      aspects:
        field === "host" || field === "accept-encoding" || value !== "" ? ["origin-field"] : ["origin-field", "answer"],
      affects: { routes },
      field,
    });
  }
  return { settings: merged(settings), differences };
}

/** Several fixed fields are one setting. */
function merged(settings: readonly Settings[]): Settings[] {
  const fixed = settings.filter(({ value }) => value.originFields);
  const others = settings.filter(({ value }) => !value.originFields);
  const unique = [...new Map(others.map((each) => [JSON.stringify(each.value), each])).values()];
  if (fixed.length === 0) return unique;
  const originFields = Object.assign({}, ...fixed.map(({ value }) => value.originFields));
  return [...unique, { value: { originFields }, from: fixed.flatMap(({ from }) => from) }];
}

function whyNotSent(field: string, value: string, isFixed: boolean): string {
  if (field === "host") {
    return 'Host is the origin\'s own name. The public one is in X-Forwarded-Host, and under tidemark serve with forward: { host: "visitor" } in Host, too.';
  }
  if (field === "x-real-ip") {
    return "X-Forwarded-For has the visitor's address. For X-Real-IP, too, set forward: { realIp: true }.";
  }
  if (["x-client-ip", "true-client-ip", "x-forwarded-for"].includes(field)) {
    return "X-Forwarded-For has the visitor's address and no other.";
  }
  if (
    [
      "x-forwarded-port",
      "x-forwarded-ssl",
      "x-forwarded-scheme",
      "x-scheme",
      "x-forwarded-host",
      "x-forwarded-proto",
      "x-forwarded-server",
    ].includes(field)
  ) {
    return "The public host is in X-Forwarded-Host, and the scheme in X-Forwarded-Proto.";
  }
  if (field === "accept-encoding")
    return "The edge asks the origin for those of br, gzip and zstd that the visitor accepts, and stores each form.";
  if (field === "cookie")
    return "Some routes send cookies to the origin. In cookies.ignore, name those that it does not read.";
  if (value === "") return `${field} reaches the origin. To leave it out, name it in fields.drop.`;
  if (isFixed) return "The edge adds the same fields on all routes: see originFields.";
  return `The edge cannot send the origin a variable like ${value}.`;
}

/** The fields that `add_header` and `expires` add to answers. The edge adds only its own fields. */
export function answerFieldDifferences(routed: readonly RoutedLocation[]): readonly Difference[] {
  const differences: Difference[] = [];
  for (const { line, routes } of groupedByLine(routed, (location) => inForce(location.answeredBy, "add_header"))) {
    const [name = "", value = ""] = line.args;
    const field = name.toLowerCase();
    const isStatus = /\$(?:\w+_cache_status|srcache_\w+)/.test(value);
    if (isStatus && field === "x-cache") continue;
    const why = isStatus
      ? `Instead of ${name} the edge sends X-Cache, with the same words, and Cache-Status, with more.`
      : `The edge adds no fields to answers: the origin must send ${name}, and the edge stores it with the page.`;
    differences.push({
      kind: "dropped",
      source: line.source,
      why,
      aspects: ["response-field"],
      affects: { routes },
      field,
    });
  }
  for (const { line, routes } of groupedByLine(routed, (location) => inForce(location.answeredBy, "expires"))) {
    if (line.args[0] === "off") continue;
    const isCarried = routed.some(
      ({ location, routes: own }) => isCached(location) && own.some((each) => routes.includes(each)),
    );
    const isTime = line.args.length === 1 && !/^(?:epoch|max|-|@|\$)/.test(line.args[0]!);
    differences.push({
      kind: isCarried && isTime ? "changed" : "dropped",
      source: line.source,
      why:
        isCarried && isTime
          ? "browserTtl sets max-age only on stored answers, without Expires; other answers keep the origin's."
          : "Browsers get the lifetime that the origin gives.",
      aspects: ["response-field"],
      affects: { routes },
      field: "cache-control",
    });
  }
  return differences;
}

/** Each line once, with all routes on which it is in force. */
function groupedByLine(routed: readonly RoutedLocation[], linesOf: (location: Location) => ReturnType<typeof inForce>) {
  const grouped = new Map<ReturnType<typeof inForce>[number], string[]>();
  for (const { location, routes } of routed) {
    for (const line of linesOf(location)) grouped.set(line, [...(grouped.get(line) ?? []), ...routes]);
  }
  return [...grouped].map(([line, routes]) => ({ line, routes: [...new Set(routes)] }));
}
