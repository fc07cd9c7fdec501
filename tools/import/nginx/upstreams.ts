import { readSocket } from "#tidemark/internal";
import { type Difference, ImportError, type Source, type Sourced } from "../imported-site.ts";
import type { ServerFacts } from "./conditions/conditions-of.ts";
import { variableIn } from "./conditions/maps.ts";
import { assignmentsOf, capturesOf, isConstant } from "./conditions/requests-where.ts";
import { noteOn } from "./directive-table.ts";
import type { Directive } from "./files/directives.ts";
import { handlerOf, isCached } from "./handlers.ts";
import { EVERY_PATH, type Location } from "./locations.ts";
import { certificateDifferences } from "./origin-certificates.ts";

const NAME_IT =
  "name the site's address with --origin, like --origin http://127.0.0.1:8000 or --origin unix:/run/app.sock";

type Facts = Pick<ServerFacts, "server" | "captured">;

export interface ImportedOrigin {
  readonly origin: Sourced<string>;
  readonly differences: readonly Difference[];
  /** Whether a location's own upstream is the origin. */
  readonly isOfOrigin: (location: Location) => boolean;
  /** The Host with which nginx asks a location's upstream, unless a line says another: `$proxy_host`. */
  readonly proxyHost: (location: Location) => string;
  /** Whether a location's requests reach the origin with the visitors' paths. */
  readonly isReached: (location: Location) => boolean;
}

/**
 * The site's address: the upstream that most of the storing locations have; if there are several, that of the widest.
 * `given` overrides it. Throws an `ImportError` if another upstream answers all other paths: their requests would go
 * to, say, the one for a cached script, which may be somebody else's.
 */
export function importOrigin(
  locations: readonly Location[],
  http: readonly Directive[],
  facts: Facts,
  given: string | null,
): ImportedOrigin {
  const proxied = locations.filter((each) => handlerOf(each).kind === "upstream");
  const authorityOf = new Map(proxied.map((each) => [each, targetOf(each, facts).authority]));
  const serversOf = (authority: string) => {
    const upstream = http.find(({ name, args }) => name === "upstream" && args[0] === authority);
    return { upstream, servers: upstream?.block?.filter(({ name }) => name === "server") ?? [] };
  };
  const isGiven = (each: Location) => {
    const { scheme, authority } = targetOf(each, facts);
    const addresses = [authority, ...serversOf(authority).servers.map(({ args }) => args[0])];
    return addresses.some((address) => given === address || given === `${scheme}://${address}`);
  };
  const isNamed = (each: Location) => !authorityOf.get(each)!.includes("$");
  const byAuthority = Map.groupBy(proxied, (each) => authorityOf.get(each));
  const sharing = (each: Location) => byAuthority.get(authorityOf.get(each))!.length;
  const byWidth = proxied.toSorted(
    (a, b) =>
      Number(isGiven(b)) - Number(isGiven(a)) ||
      Number(isCached(b)) - Number(isCached(a)) ||
      Number(isNamed(b)) - Number(isNamed(a)) ||
      sharing(b) - sharing(a) ||
      a.text.length - b.text.length,
  );
  const main = byWidth[0]!;
  const target = targetOf(main, facts);
  const differences: Difference[] = [];
  const isOfOrigin = (location: Location) =>
    handlerOf(location).kind === "upstream" && targetOf(location, facts).authority === target.authority;
  const wide = proxied.find((each) => each.kind !== "exact" && EVERY_PATH.test(each.text) && !isOfOrigin(each));
  if (wide && given === null) {
    const other = targetOf(wide, facts).source;
    throw new ImportError(
      `${target.source.place}: ${target.source.text} has the cache, but ${other.place}: ${other.text} answers the other paths, and a site has one origin: ${NAME_IT}`,
    );
  }
  const { upstream, servers } = serversOf(target.authority);
  const balancer = upstream?.block?.find(({ name }) => /^balancer_by_lua/.test(name));
  if (balancer && given === null) {
    throw new ImportError(`${balancer.source.place}: ${balancer.name} chooses the server: ${NAME_IT}`);
  }
  const usable = servers.filter(({ args }) => !args.includes("backup") && !args.includes("down"));
  const first = usable[0] ?? servers[0];
  const address = first?.args[0] ?? target.authority;
  const from: Source[] = [target.source, ...(upstream ? [upstream.source] : []), ...(first ? [first.source] : [])];
  for (const other of servers.filter((server) => server !== first)) {
    const why = other.args.includes("backup")
      ? "The edge asks one address here. tidemark serve takes a standby: origin.url as a list, the standby last."
      : "The edge asks one address. If there are several, put a load balancer in front of them, and name that as the origin.";
    differences.push({ kind: "dropped", source: other.source, why, aspects: [], affects: { routes: null } });
  }
  if (balancer) differences.push({ ...noteOn(balancer)!, source: balancer.source, affects: { routes: null } });
  const origin = given ?? addressOf(main, target, address);
  const isReached = (location: Location) => {
    if (!isOfOrigin(location)) return false;
    const { path } = targetOf(location, facts);
    const keepsPaths = path === "" || (location.kind.startsWith("prefix") && path === location.text);
    return keepsPaths && newPathOf(location) === null;
  };
  for (const location of proxied.filter((each) => !isReached(each))) {
    const own = targetOf(location, facts);
    const asked = newPathOf(location) ?? (own.path === "" ? null : `one below ${own.path}`);
    const why = isOfOrigin(location)
      ? `The edge asks the origin for the visitor's path, not for ${asked}: the origin must serve the page at that path.`
      : `A site has one origin. Requests here go to ${origin}, which must pass them on.`;
    differences.push({
      kind: "dropped",
      source: own.source,
      why,
      aspects: ["answer", "origin-url"],
      affects: { routes: null },
    });
  }
  const encrypted = proxied.filter((each) => isOfOrigin(each) && targetOf(each, facts).scheme === "https");
  if (origin.startsWith("https:")) differences.push(...certificateDifferences(encrypted, origin));
  const proxyHost = (location: Location) => {
    const { scheme, authority } = targetOf(location, facts);
    if (authority.startsWith("unix:")) return "localhost";
    return URL.parse(`${scheme}://${authority}`)?.host || authority;
  };
  return { origin: { value: origin, from: given === null ? from : [] }, differences, isOfOrigin, proxyHost, isReached };
}

/**
 * The path that the origin gets instead of the visitor's after an internal redirect. Only `proxy_pass` sends it: the
 * other modules send `$request_uri` beside the script.
 */
function newPathOf(location: Location): string | null {
  const handler = handlerOf(location);
  const { newPath } = location;
  if (newPath === null || handler.kind !== "upstream" || handler.family !== "proxy") return null;
  if (/\$(?:request_uri|\{request_uri\})$/.test(handler.pass.args[0] ?? "")) return null;
  return newPath.kind === "path" ? newPath.path : newPath.name;
}

interface Target {
  readonly scheme: string;
  /** The name of an upstream, or host and port. */
  readonly authority: string;
  readonly path: string;
  readonly source: Source;
}

/** The text that nginx sends instead of the path, and the variables that stand for the visitor's path and query. */
const WHOLE_URI = /(?:\$request_uri|\$(?:uri|document_uri)\$is_args\$(?:args|query_string))$/;

function targetOf(location: Location, { server, captured }: Facts): Target {
  const handler = handlerOf(location);
  if (handler.kind !== "upstream") throw new Error("asked for the target of a location without one");
  const blocks = [server, ...location.way.map(([own]) => own!)];
  const text = withConstants(handler.pass.args[0] ?? "", blocks, () => capturesOf(location, server, captured));
  const [, scheme = "http", socket, host = "", path = ""] =
    /^(?:([\w${}]+):\/\/)?(?:(unix:[^:]+):?|((?:\$\{\w+\}|[^/$]|\$(?!request_uri|uri|document_uri))+))(.*)$/s.exec(
      text.replace(WHOLE_URI, ""),
    ) ?? [];
  return { scheme, authority: socket ?? host, path, source: handler.pass.source };
}

/** A text with the values of variables that one line always sets to the same. */
function withConstants(
  text: string,
  blocks: readonly (readonly Directive[])[],
  captured: () => ReadonlySet<string>,
): string {
  const assignments = blocks.flatMap(assignmentsOf);
  return text.replace(/\$(?:\w+|\{\w+\})/g, (name) => {
    const variable = variableIn(name)!;
    const own = assignments.filter((each) => each.variable === variable);
    const [only] = own;
    return own.length === 1 && isConstant(only!) && !captured().has(variable) ? only!.value : name;
  });
}

function addressOf(main: Location, { scheme, authority, source }: Target, address: string): string {
  const handler = handlerOf(main);
  if (handler.kind === "upstream" && handler.family !== "proxy") {
    throw new ImportError(
      `${source.place}: ${authority} speaks ${handler.family}, but the edge speaks HTTP: ${NAME_IT}. That can be this nginx on another port, without its cache`,
    );
  }
  if (authority.includes("$"))
    throw new ImportError(`${source.place}: the address ${authority} contains variables: ${NAME_IT}`);
  if (address.startsWith("unix:")) {
    const socket = scheme === "http" ? readSocket(address) : null;
    if (socket !== null) return socket;
    throw new ImportError(`${source.place}: ${scheme}://${address} is not like http://unix:/run/app.sock: ${NAME_IT}`);
  }
  const url = URL.parse(`${scheme}://${address}`);
  if (url === null) throw new ImportError(`${source.place}: ${scheme}://${address} is not an address: ${NAME_IT}`);
  return url.origin;
}
