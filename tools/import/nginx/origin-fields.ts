import { ordinaryForm, readSocket, type SiteInput, treatmentOf } from "#tidemark/internal";
import type { Difference, Sourced } from "../imported-site.ts";
import { type Maps, variableIn } from "./conditions/maps.ts";
import { groupedByLine, type RoutedLocation } from "./fields.ts";
import type { Directive } from "./files/directives.ts";
import { handlerOf, isCached } from "./handlers.ts";
import { inForce } from "./in-force.ts";
import type { Location } from "./locations.ts";

type Settings = Sourced<Omit<Partial<SiteInput>, "origin" | "hosts" | "routes">>;

export interface ImportedFields {
  readonly settings: readonly Settings[];
  readonly differences: readonly Difference[];
}

/** A line of `proxy_set_header`, with all routes on which it is in force. */
interface FieldLine {
  readonly line: Directive;
  readonly routes: readonly string[];
  readonly value: string;
  /** Whether it is in force where the origin itself is asked, and not another upstream. */
  readonly isOfOrigin: boolean;
  /** Whether it is in force where nginx stores. */
  readonly isOfCache: boolean;
}

/** All lines for one field. */
interface SetField {
  /** As the file spells it. */
  readonly name: string;
  /** In lower case. */
  readonly field: string;
  readonly lines: readonly FieldLine[];
  /** Whether each location with an upstream has a line for it; for fields in `forward`, each one of the origin's. */
  readonly isEverywhere: boolean;
}

interface Facts {
  readonly origin: string;
  readonly isOfOrigin: (location: Location) => boolean;
  /** The Host with which nginx asks a location's upstream, unless a line says another. */
  readonly proxyHost: (location: Location) => string;
  /** Whether the file names the site's hosts. */
  readonly namesHosts: boolean;
  readonly maps: Maps;
  /** Whether the site believes proxies in front of it. */
  readonly trustsProxies: boolean;
  /** `replacedFields` of the locations. */
  readonly replaced: ReadonlySet<string>;
}

/** Values of `proxy_set_header` that the edge sends anyway. */
const SENT_ANYWAY: Readonly<Record<string, RegExp>> = {
  host: /^\$proxy_host$/,
  "x-forwarded-host": /^\$(?:host|http_host|server_name)$/,
  "x-forwarded-proto": /^\$scheme$/,
  "x-forwarded-for": /^\$(?:proxy_add_x_forwarded_for|remote_addr)$/,
  connection: /^/,
  upgrade: /^/,
  "keep-alive": /^/,
  te: /^/,
};

/**
 * The fields of which no visitor's own can choose a page that the site stores: `proxy_set_header` has something else in their
 * place wherever that matters, and the site sends it.
 */
export function replacedFields(locations: readonly Location[]): ReadonlySet<string> {
  const proxied = locations.filter((each) => handlerOf(each).kind === "upstream");
  const names = new Set(proxied.flatMap(setFields).map(fieldOf));
  return new Set([...names].filter((field) => isReplaced(field, proxied)));
}

function isReplaced(field: string, proxied: readonly Location[]): boolean {
  const asking = field === "cookie" ? proxied.filter(isCached) : proxied;
  const values = asking.map((each) => setFields(each).find((line) => fieldOf(line) === field)?.args[1] ?? null);
  if (field === "cookie") return values.every((value) => value === "");
  if (field === "authorization") return values.every((value) => value !== null && !isVisitors(field, value));
  return new Set(values).size === 1 && isFixed(values[0] ?? "");
}

/** The lines by which nginx sends the origin something in place of a visitor's own field, where the site sends that. */
export function linesOverVisitors(location: Location, replaced: ReadonlySet<string>): readonly Directive[] {
  return setFields(location).filter((line) => {
    const field = fieldOf(line);
    return mayChoosePages(field) && !replaced.has(field) && !isVisitors(field, line.args[1] ?? "");
  });
}

/** Whether the edge stores what the origin makes of a visitor's own field, at least if it says `public`. */
function mayChoosePages(field: string): boolean {
  return field === "cookie" || field === "authorization" || isOrdinary(field);
}

/** Whether a field that browsers send reaches the origin also where its answers are stored. */
export function isOrdinary(field: string): boolean {
  return ordinaryForm(field) !== undefined && treatmentOf(field).asSent === "always";
}

/** The lines of `proxy_set_header` that apply where a location's requests are answered. Other modules do not read them. */
function setFields(location: Location): readonly Directive[] {
  const handler = handlerOf(location);
  const isRead = handler.kind === "upstream" && handler.family === "proxy";
  return isRead ? inForce(location.answeredBy, "proxy_set_header") : [];
}

/** The field that a line sets, in lower case. */
export function fieldOf({ args }: Directive): string {
  return args[0]?.toLowerCase() ?? "";
}

/** The fields that `proxy_set_header` sends to the origin, as far as the edge can send them. */
export function importOriginFields(routed: readonly RoutedLocation[], facts: Facts): ImportedFields {
  const settings: Settings[] = [];
  const differences: Difference[] = [];
  for (const each of fieldsIn(routed, facts.isOfOrigin)) {
    const found = importField(each, facts);
    settings.push(...found.settings);
    differences.push(...found.differences);
  }
  differences.push(...defaultHosts(routed, facts));
  return { settings: merged(settings), differences };
}

/** Where nginx asks for the name of an upstream, whose address the edge asks for. It is told once. */
function defaultHosts(routed: readonly RoutedLocation[], { origin, isOfOrigin, proxyHost }: Facts): Difference[] {
  const found = routed.flatMap(({ location, routes }) => {
    const handler = handlerOf(location);
    if (handler.kind === "itself" || handler.family !== "proxy" || !isOfOrigin(location)) return [];
    const line = setFields(location).find((each) => fieldOf(each) === "host");
    const host = proxyHost(location);
    if ((line && !SENT_ANYWAY.host!.test(line.args[1] ?? "")) || host === hostAt(origin).host) return [];
    return [{ source: (line ?? handler.pass).source, host, routes }];
  });
  return found.slice(0, 1).map(({ source, host }) => ({
    kind: "dropped",
    source,
    why: whyNotHost(host, true, origin),
    aspects: ["origin-field"],
    affects: { routes: found.flatMap(({ routes }) => routes) },
    field: "host",
  }));
}

/** How the edge asks the origin for itself. A socket has no name of its own. */
function hostAt(origin: string): URL {
  return new URL(readSocket(origin) === null ? origin : "http://localhost");
}

function fieldsIn(routed: readonly RoutedLocation[], isOfOrigin: Facts["isOfOrigin"]): readonly SetField[] {
  const proxied = routed.filter(({ location }) => handlerOf(location).kind === "upstream");
  const asking = proxied.filter(({ location }) => isOfOrigin(location));
  const linesOf = ({ location }: RoutedLocation) => setFields(location);
  const ofOrigin = new Set(asking.flatMap(linesOf));
  const ofCache = new Set(asking.filter(({ location }) => isCached(location)).flatMap(linesOf));
  const lines = groupedByLine(proxied, setFields);
  return [...Map.groupBy(lines, ({ line }) => fieldOf(line))].map(([field, own]) => ({
    name: own[0]!.line.args[0] ?? "",
    field,
    lines: own.map((each) => ({
      ...each,
      value: each.line.args[1] ?? "",
      isOfOrigin: ofOrigin.has(each.line),
      isOfCache: ofCache.has(each.line),
    })),
    isEverywhere: (FORWARDED.has(field) ? asking : proxied).every((each) =>
      linesOf(each).some((line) => fieldOf(line) === field),
    ),
  }));
}

function importField(set: SetField, { origin, namesHosts, maps, trustsProxies, replaced }: Facts): ImportedFields {
  const { name, field, lines, isEverywhere } = set;
  const ofOrigin = field === "host" ? URL.parse(origin)?.host || undefined : undefined;
  const isSent = (value: string) =>
    SENT_ANYWAY[field]?.test(value) ||
    value.toLowerCase() === ofOrigin ||
    (trustsProxies && /^x-forwarded-(?:for|proto)$/.test(field) && isOfProxy(value, maps));
  // A socket has no name of its own, and only tidemark serve reaches it. An app refuses a host that it does not know.
  const mayForward = field !== "host" || (namesHosts && readSocket(origin) !== null);
  const visitors = mayForward && isEverywhere ? FORWARDED.get(field) : undefined;
  const isForwarded =
    visitors !== undefined && lines.every(({ value, isOfOrigin }) => !isOfOrigin || visitors.values.test(value));
  const told = lines.filter(({ value }) => !isSent(value) && !(isForwarded && visitors.values.test(value)));
  const [only] = new Set(lines.map(({ value }) => value)).size === 1 && isEverywhere ? told : [];
  const from = told.map(({ line: { source } }) => source);
  if (field === "cookie") return importCookies(told, replaced.has(field));
  const maySend = mayBeSent(field);
  if ((maySend || IS_SCHEME.test(field)) && only && isFixed(only.value) && !HANDS_OVER_FILES.test(field)) {
    return { settings: [{ value: { originFields: { [name]: only.value } }, from }], differences: [] };
  }
  const isKept = field !== "host" && !(field.startsWith("x-") && isNeverVisitors(field));
  const own = told.filter(({ value }) => !isKept || !isVisitors(field, value));
  if (own.length > 0 && maySend && isBelieved(field)) return withoutVisitors(set, own);
  const differences = own
    .filter(({ value }) => value !== "" || !isNeverVisitors(field) || isWrittenByEdge(field))
    .map(({ line: { source }, routes, value, isOfOrigin }): Difference => {
      const isErased = value === "" && field !== "host" && field !== "accept-encoding";
      if (isOfProxy(value, maps) && /^x-(?:real-ip|forwarded-(?:for|proto|host))$/.test(field)) {
        // An origin that lets its own network in would let everybody in.
        const kind = field === "x-forwarded-for" || field === "x-real-ip" ? "access" : "dropped";
        return { kind, source, why: WORD_OF_PROXY, aspects: ["origin-field", "answer"], affects: { routes }, field };
      }
      return {
        kind: value !== "" && IS_IDENTITY.test(field) ? "access" : "dropped",
        source,
        why: field === "host" ? whyNotHost(value, isOfOrigin, origin) : whyNotSent(set, value),
        aspects: isErased ? ["origin-field", "answer"] : ["origin-field"],
        affects: { routes },
        field,
      };
    });
  if (!isForwarded) return { settings: [], differences };
  const forwarded = lines.filter(({ value }) => visitors.values.test(value)).map(({ line: { source } }) => source);
  return { settings: [{ value: { forward: visitors.forward }, from: forwarded }], differences };
}

/** Cookies that nginx kept from the origin: of all pages that it stores, or of some, by their routes. */
function importCookies(lines: readonly FieldLine[], isEverywhere: boolean): ImportedFields {
  const own = lines.filter(({ value }) => !isVisitors("cookie", value));
  const byKey = isEverywhere
    ? ""
    : " It is only sent those in the route's key.cookies, and no visitor has the cookie none.";
  const differences = own.map(({ line: { source }, isOfCache, routes }): Difference => {
    return {
      kind: isOfCache ? "changed" : "dropped",
      source,
      why: isOfCache
        ? `The origin gets no cookies with requests whose answers may be stored. Requests that go past the cache keep their cookies.${byKey}`
        : "A visitor's own cookies reach the origin here.",
      aspects: isOfCache ? ["origin-field"] : ["origin-field", "answer"],
      affects: { routes: isEverywhere ? null : routes, cookies: ["*"] },
      field: "cookie",
    };
  });
  const from = own.filter(({ isOfCache }) => isOfCache).map(({ line: { source } }) => source);
  return { settings: isEverywhere ? [{ value: { cookies: { ignore: ["*"] } }, from }] : [], differences };
}

/** What the origin believes of the visitor's scheme. An nginx behind what ends TLS says one for all visitors. */
const IS_SCHEME = /^x-(?:forwarded-(?:proto|ssl|port|scheme)|scheme)$/;

/** By these Rack lets nginx send a file, and leaves its own answer empty. */
const HANDS_OVER_FILES = /^x-(?:sendfile-type|accel-mapping)$/;

/** What the origin can check for itself, so that visitors may send their own. */
const IS_PROOF = /^authorization$|key|token|signature|csrf|xsrf/;

/** Of fields that the edge never passes on: those that may tell the origin who the visitor is. */
const IS_IDENTITY = /^x-forwarded-.*(?:user|email|group|role|client|auth|cert|verif|access|identity)/;

/**
 * A field that the origin may believe because nginx set or erased it. The edge sends it empty on all routes, so that no
 * visitor can send his own.
 */
function withoutVisitors({ name, field, lines, isEverywhere }: SetField, own: readonly FieldLine[]): ImportedFields {
  const isElsewhere = !isEverywhere || own.length < lines.length;
  const isProof = isElsewhere && IS_PROOF.test(field);
  // What the edge sends instead shows where nginx passed the visitor's on, too.
  const isShared = isElsewhere && !isProof;
  const difference = (kind: Difference["kind"], { line, routes }: FieldLine, why: string): Difference => {
    return {
      kind,
      source: line.source,
      why,
      aspects: ["origin-field", "answer"],
      affects: { routes: isShared ? null : routes },
      field,
    };
  };
  if (isProof) {
    const why = `A visitor's own ${name} now reaches the origin here, as it does elsewhere: the origin must not believe it. If no location needs it, originFields: { ${JSON.stringify(name)}: "" } replaces it on all routes.`;
    return { settings: [], differences: own.map((each) => difference("access", each, why)) };
  }
  const instead = `The edge sends ${name} empty on all routes, so that the origin gets no visitor's own.`;
  const wasElsewhere = isElsewhere ? " Elsewhere nginx passed that on." : "";
  const differences = own.map((each) => {
    if (HANDS_OVER_FILES.test(field)) {
      const why = `${instead} It sends no files for the origin: the origin must answer with them itself.`;
      return difference("changed", each, why);
    }
    if (each.value === "") {
      const isRefused =
        field === "authorization" ? " If the origin refuses that, remove the line, and it gets them." : "";
      return difference("changed", each, `${instead}${wasElsewhere}${isRefused}`);
    }
    const lost = isFixed(each.value) ? "this value on these routes alone" : each.value;
    const why = `The edge cannot send the origin ${lost}. ${instead}${wasElsewhere} If the origin refused or admitted visitors by this field, it must do so by something else.`;
    return difference("access", each, why);
  });
  const from = own.map(({ line: { source } }) => source);
  return { settings: [{ value: { originFields: { [name]: "" } }, from }], differences };
}

/** Whether `originFields` may have a value. */
function isFixed(value: string): boolean {
  return !value.includes("$") && /^[\t\x20-\x7e]+$/.test(value);
}

const WORD_OF_PROXY =
  "nginx passed on what a proxy in front of it says. The edge does so, for address and scheme, only from the addresses in trustedProxies, and otherwise tells the origin the proxy's address and http: name the proxies there.";

/** Whether a value is what a proxy in front of nginx says of the visitor, itself or by a map. */
function isOfProxy(value: string, maps: Maps): boolean {
  const variable = variableIn(value);
  const of = (variable === null ? undefined : maps.get(variable)?.of) ?? value;
  return /^\$\{?http_(?:x_forwarded_\w+|x_real_ip)\}?$/i.test(of);
}

/** Whether a value is what the visitor sent. */
function isVisitors(field: string, value: string): boolean {
  return value.toLowerCase() === `$http_${field.replaceAll("-", "_")}`;
}

/** Whether the origin never gets the field as a visitor sent it. */
function isNeverVisitors(field: string): boolean {
  return treatmentOf(field).asSent === "never";
}

/** Whether the edge sends the field by itself. */
function isWrittenByEdge(field: string): boolean {
  return /^(?:host|accept-encoding|cookie|via|cdn-loop|x-forwarded-(?:for|host|proto))$/.test(field);
}

/** Whether `originFields` may send the field in place of the visitor's, at no price for what is stored. */
function mayBeSent(field: string): boolean {
  return !isNeverVisitors(field) && (treatmentOf(field).asSent === "always" || /^x-(?:http-)?method/.test(field));
}

/** Whether an origin may believe the field: browsers and caches do not send it. */
function isBelieved(field: string): boolean {
  return ordinaryForm(field) === undefined && !/^(?:origin|date|content-type|x-requested-with)$/.test(field);
}

/** Settings of one name are one setting. */
function merged(settings: readonly Settings[]): Settings[] {
  const groups = Map.groupBy(settings, ({ value }) => Object.keys(value)[0]!);
  return [...groups].map(([name, own]) => ({
    value: { [name]: Object.assign({}, ...own.map(({ value }) => Object.values(value)[0])) },
    from: own.flatMap(({ from }) => from),
  }));
}

const OF_ADDRESSES = ["x-client-ip", "true-client-ip", "x-forwarded-for"];
const OF_HOSTS = [
  "x-forwarded-port",
  "x-forwarded-ssl",
  "x-forwarded-scheme",
  "x-scheme",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-server",
];

/** What `forward` sends to the origin, by the field, and the values of the file for which it stands. */
const FORWARDED: ReadonlyMap<string, { readonly values: RegExp; readonly forward: SiteInput["forward"] }> = new Map([
  [
    "host",
    {
      values: /^\$\{?(?:host|http_host)\}?$/,
      forward: { host: "visitor" as const },
    },
  ],
  ["x-real-ip", { values: /^\$\{?remote_addr\}?$/, forward: { realIp: true } }],
]);

function whyNotHost(value: string, isOfOrigin: boolean, origin: string): string {
  const isSocket = readSocket(origin) !== null;
  if (/^\$\{?(?:host|http_host|server_name|http_x_forwarded_host)\b/.test(value)) {
    return isSocket
      ? 'A socket has no name, so Host is localhost. The public one is in X-Forwarded-Host, and with hosts and forward: { host: "visitor" } in Host, too.'
      : 'Host is the origin\'s own name. The public one is in X-Forwarded-Host, and under tidemark serve with forward: { host: "visitor" } in Host, too.';
  }
  const { protocol, host } = hostAt(origin);
  const why = `The edge asks for the host ${host}, which is the origin's name, not for ${value === "" ? "none" : value}.`;
  // Behind another upstream's name is another site.
  if (!isOfOrigin) return why;
  return URL.canParse(`http://${value}`) && isFixed(value)
    ? `${why} If the site answers at that name, import with --origin ${protocol}//${value}.`
    : `${why} --origin can name another.`;
}

function whyNotSent({ name, field, isEverywhere }: SetField, value: string): string {
  if (field === "x-real-ip") {
    return "X-Forwarded-For has the visitor's address. For X-Real-IP, too, set forward: { realIp: true }.";
  }
  if (OF_ADDRESSES.includes(field)) return "X-Forwarded-For has the visitor's address and no other.";
  if (OF_HOSTS.includes(field)) return "The public host is in X-Forwarded-Host, and the scheme in X-Forwarded-Proto.";
  if (field === "accept-encoding")
    return "The edge asks the origin for those of br, gzip and zstd that the visitor accepts, and stores each form.";
  if (IS_IDENTITY.test(field)) {
    return `The edge sends the origin no ${name}, neither this one nor a visitor's. If the origin refused or admitted visitors by it, it must do so by something else.`;
  }
  const asSent = isNeverVisitors(field) ? "never" : treatmentOf(field).asSent;
  if (asSent === "never") return `The edge sends the origin no ${name}, neither this one nor a visitor's.`;
  const where = asSent === "always" && !isOrdinary(field) ? "" : " where its answers are not stored";
  const reaches = `The visitor's own ${name} reaches the origin${where}.`;
  if (asSent === "always" && isFixed(value) && !isEverywhere)
    return `${reaches} originFields are the same on all routes.`;
  return reaches;
}
