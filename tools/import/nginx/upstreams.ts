import { type Difference, ImportError, readSocket, type Source, type Sourced } from "../imported-site.ts";
import type { Directive } from "./directives.ts";
import { handlerOf, isCached } from "./handlers.ts";
import type { Location } from "./match-order.ts";
import { noteOn } from "./not-carried.ts";

const NAME_IT =
  "name the site's address with --origin, like --origin http://127.0.0.1:8000 or --origin unix:/run/app.sock";

export interface ImportedOrigin {
  readonly origin: Sourced<string>;
  readonly differences: readonly Difference[];
  /** Whether a location's requests go to the origin under the paths that visitors asked for. */
  readonly isReached: (location: Location) => boolean;
}

/** Where the site is: the upstream of the location that stores most widely. `given` outranks it. */
export function importOrigin(
  locations: readonly Location[],
  http: readonly Directive[],
  given: string | null,
): ImportedOrigin {
  const proxied = locations.filter((each) => handlerOf(each).kind === "upstream");
  const byWidth = proxied.toSorted(
    (a, b) => Number(isCached(b)) - Number(isCached(a)) || a.text.length - b.text.length,
  );
  const main = byWidth[0]!;
  const target = targetOf(main);
  const differences: Difference[] = [];
  const upstream = http.find(({ name, args }) => name === "upstream" && args[0] === target.authority);
  const balancer = upstream?.block?.find(({ name }) => /^balancer_by_lua/.test(name));
  if (balancer && given === null) {
    throw new ImportError(`${balancer.source.place}: ${balancer.name} chooses the server: ${NAME_IT}`);
  }
  const servers = upstream?.block?.filter(({ name }) => name === "server") ?? [];
  const usable = servers.filter(({ args }) => !args.includes("backup") && !args.includes("down"));
  const first = usable[0] ?? servers[0];
  const address = first?.args[0] ?? target.authority;
  const from: Source[] = [target.source, ...(upstream ? [upstream.source] : []), ...(first ? [first.source] : [])];
  for (const other of servers.filter((server) => server !== first)) {
    const why = "The edge asks one address. Put a load balancer in front of several, and name that as the origin.";
    differences.push({ kind: "dropped", source: other.source, why, aspects: [], affects: { routes: null } });
  }
  if (balancer) differences.push({ ...noteOn(balancer)!, source: balancer.source, affects: { routes: null } });
  const origin = given ?? addressOf(main, target, address);
  const isReached = (location: Location) => {
    const handler = handlerOf(location);
    if (handler.kind !== "upstream") return false;
    const own = targetOf(location);
    const keepsPaths = own.path === "" || (location.kind !== "regex" && own.path === location.text);
    return own.authority === target.authority && keepsPaths;
  };
  for (const location of proxied.filter((each) => !isReached(each))) {
    const own = targetOf(location);
    const why =
      own.authority === target.authority
        ? `The edge asks the origin for the path that the visitor asked for, and not for one below ${own.path}: the origin has to serve it there.`
        : `A site has one origin. Requests here go to ${origin}, which has to pass them on.`;
    differences.push({
      kind: "dropped",
      source: own.source,
      why,
      aspects: ["answer", "origin-url"],
      affects: { routes: null },
    });
  }
  return { origin: { value: origin, from: given === null ? from : [] }, differences, isReached };
}

interface Target {
  readonly scheme: string;
  /** The name of an upstream, or host and port. */
  readonly authority: string;
  readonly path: string;
  readonly source: Source;
}

function targetOf(location: Location): Target {
  const handler = handlerOf(location);
  if (handler.kind !== "upstream") throw new Error("asked for the target of a location without one");
  const [text = ""] = handler.pass.args;
  const [, scheme = "http", socket, host = "", path = ""] =
    /^(?:(\w+):\/\/)?(?:(unix:[^:]+):?|([^/]+))(.*)$/s.exec(text) ?? [];
  return { scheme, authority: socket ?? host, path, source: handler.pass.source };
}

function addressOf(main: Location, { scheme, authority, source }: Target, address: string): string {
  const handler = handlerOf(main);
  if (handler.kind === "upstream" && handler.family !== "proxy") {
    throw new ImportError(
      `${source.place}: ${authority} speaks ${handler.family}, and the edge speaks HTTP: ${NAME_IT}. That can be this nginx on another port, without its cache`,
    );
  }
  if (authority.includes("$"))
    throw new ImportError(`${source.place}: the address ${authority} is made of variables: ${NAME_IT}`);
  if (address.startsWith("unix:")) {
    const socket = scheme === "http" ? readSocket(address) : null;
    if (socket !== null) return socket;
    throw new ImportError(`${source.place}: ${scheme}://${address} is not like http://unix:/run/app.sock: ${NAME_IT}`);
  }
  const url = URL.parse(`${scheme}://${address}`);
  if (url === null) throw new ImportError(`${source.place}: ${scheme}://${address} is not an address: ${NAME_IT}`);
  return url.origin;
}
