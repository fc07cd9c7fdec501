import { BY_DESIGN } from "../by-design.ts";
import { type Difference, ImportError, type ImportedSite, type Source, type Sourced } from "../imported-site.ts";
import { mapsOf } from "./conditions/maps.ts";
import { capturesIn } from "./conditions/requests-where.ts";
import { isOfAddresses, letsAllIn, noteOn, rowOf } from "./directive-table.ts";
import { answerFieldDifferences, type RoutedLocation } from "./fields.ts";
import { type Directive, readMainFile, readNginxFiles } from "./files/directives.ts";
import { isCached } from "./handlers.ts";
import { secondsOf } from "./lifetimes.ts";
import { importLimits } from "./limits.ts";
import { locationsOf } from "./locations.ts";
import { notCarried } from "./not-carried.ts";
import { importOriginFields, replacedFields } from "./origin-fields.ts";
import { importRoutes, redirectsSlashes } from "./routes.ts";
import { importTrustedProxies } from "./trusted-proxies.ts";
import { importOrigin } from "./upstreams.ts";

export interface ImportOptions {
  /** The address of the site, if it is not the one in the file. */
  readonly origin: string | null;
  /** The public host, if it is not the one in the file. */
  readonly host: string | null;
  /** The `server_name` of the server to import, or its place, if several have a cache. */
  readonly server: string | null;
  /** The folder to use as `/` in includes; `null` for `/` itself. */
  readonly root: string | null;
}

/** How long nginx keeps pages without requests, if `proxy_cache_path` does not say. */
const DEFAULT_INACTIVE_SECONDS = 600;

const WITHOUT_HTTP: Difference = {
  kind: "access",
  source: null,
  why: "Only this file was read. Passwords, addresses and cache rules that nginx.conf or conf.d give to all servers are not in it: import nginx.conf or the output of nginx -T with --server.",
  aspects: [],
  affects: { routes: null },
};

/** Reads a configuration of nginx as a site. Throws `ImportError`. */
export function importNginx(
  file: string,
  options: ImportOptions,
  read = readMainFile(file, options.root),
): ImportedSite {
  const { directives, files } = readNginxFiles(read, options.root);
  // A file from sites-enabled has servers without the `http` block around them.
  const isWhole = directives.some(({ name }) => name === "http");
  const http = isWhole ? directives.flatMap(({ name, block }) => (name === "http" ? (block ?? []) : [])) : directives;
  const server = chosenServer(file, http, options.server);
  const levels = [server.block!, http];
  const locations = locationsOf(levels);
  const maps = mapsOf(http);
  const others = http.filter((each) => each.name === "server" && each.block !== null && each !== server);
  const captured = new Set(capturesIn(http, []));
  const differences: Difference[] = isWhole ? [] : [WITHOUT_HTTP];
  const main = importOrigin(locations, http, { server: server.block!, captured }, options.origin);
  const { origin, isOfOrigin, proxyHost, isReached } = main;
  differences.push(...main.differences);
  const hosts = hostsOf(server, options.host, differences);
  const names = new Set([...namesOf(server), ...(hosts?.value ?? [])].map((name) => name.toLowerCase()));
  for (const other of others) {
    const why =
      "A site is one server of the file. This other server is not imported; if it has a cache, import it with --server.";
    const lines = namesOf(other).some((name) => names.has(name.toLowerCase())) ? linesForAccess(other.block!) : [];
    differences.push({ kind: "dropped", source: other.source, why, aspects: [], affects: { routes: null } });
    for (const { source } of lines) {
      const why = "Another server of the same name has this, and is not imported: the origin must do this.";
      differences.push({ kind: "access", source, why, aspects: [], affects: { routes: null } });
    }
  }
  if (hosts?.value.includes(new URL(origin.value).host)) {
    const place = origin.from[0]?.place;
    throw new ImportError(
      `${place ? `${place}: ` : ""}${origin.value} is an address of the site itself, so each request would come back to the edge: ` +
        "give the server behind the edge its own name, and pass that with --origin",
    );
  }

  const replaced = replacedFields(locations);
  const {
    routes,
    routed,
    outcomes,
    differences: ofRoutes,
  } = importRoutes(locations, {
    server,
    maps,
    captured,
    replaced,
    hosts: hosts?.value ?? [],
    isReached,
    inactiveSeconds: (zone) => inactiveSeconds(http, zone),
  });

  const proxies = importTrustedProxies(levels);
  const trustsProxies = proxies.settings.length > 0;
  const fields = importOriginFields(routed, {
    origin: origin.value,
    isOfOrigin,
    proxyHost,
    namesHosts: hosts !== null,
    maps,
    trustsProxies,
    replaced,
  });
  const limits = importLimits(server, routed);
  const settings = [...proxies.settings, ...fields.settings, ...limits.settings];
  const told = [
    ...differences,
    ...ofRoutes,
    ...slashRedirects(routed),
    ...fields.differences,
    ...answerFieldDifferences(routed),
    ...limits.differences,
    ...proxies.differences,
    ...notCarried(directives, http, server, routed, proxies.read),
    ...BY_DESIGN,
  ];
  return { files, origin, hosts, settings, routes, differences: told, locations: outcomes };
}

function chosenServer(file: string, http: readonly Directive[], named: string | null): Directive {
  const servers = http.filter(({ name, block }) => name === "server" && block !== null);
  if (servers.length === 0)
    throw new ImportError(`${file}: neither this file nor the files that it includes have a server block`);
  const hasCache = ({ block }: Directive) => locationsOf([block!, http]).some(isCached);
  const cached = servers.filter(hasCache);
  const list = (each: Directive) => `${each.source.place} (${namesOf(each).join(" ") || "without a name"})`;
  const severalCached = (all: readonly Directive[]) =>
    new ImportError(
      `${file}: ${all.length} servers have a cache, but a site is one of them: choose it with --server, by its name or its place. There are: ${all.map(list).join(", ")}`,
    );
  if (named !== null) {
    const wanted = servers.filter((each) => each.source.place === named || namesOf(each).includes(named));
    const found = wanted.filter(hasCache);
    if (found.length === 1) return found[0]!;
    if (found.length > 1) throw severalCached(found);
    if (wanted.length > 0)
      throw new ImportError(`${list(wanted[0]!)}: no location of this server has a cache, like proxy_cache`);
    throw new ImportError(`${file}: no server is named ${named}. There are: ${servers.map(list).join(", ")}`);
  }
  if (cached.length === 1) return cached[0]!;
  if (cached.length === 0) {
    throw new ImportError(`${file}: no location has a cache, like proxy_cache, so there are no rules to import`);
  }
  throw severalCached(cached);
}

function namesOf({ block }: Directive): readonly string[] {
  return block!.filter(({ name }) => name === "server_name").flatMap(({ args }) => args);
}

/** The lines of a block, and of those within, that let in some visitors and not others. */
function linesForAccess(block: readonly Directive[]): readonly Directive[] {
  const isOpen = letsAllIn(block);
  return block.flatMap((each) => {
    const isOwn = rowOf(each)?.phase === "access" && noteOn(each) !== null && !(isOpen && isOfAddresses(each));
    return [...(isOwn ? [each] : []), ...linesForAccess(each.block ?? [])];
  });
}

function hostsOf(
  server: Directive,
  given: string | null,
  differences: Difference[],
): Sourced<readonly string[]> | null {
  const lines = server.block!.filter(({ name }) => name === "server_name");
  const named = lines.flatMap(({ args, source }) => args.map((name) => ({ name: name.toLowerCase(), source })));
  const usable: { name: string; source: Source }[] = [];
  for (const { name, source } of named) {
    if (name === "_" || name === "" || name === "localhost") continue;
    if (/^[a-z0-9.-]+$/.test(name) && !name.startsWith(".")) usable.push({ name, source });
    else {
      const why = `The edge needs each host by name: add to hosts those of ${name} that visitors use.`;
      differences.push({
        kind: "dropped",
        source,
        why,
        aspects: ["answer"],
        affects: { routes: null, host: "foreign" },
      });
    }
  }
  const ports = portsOf(server);
  const own = usable.map(({ name }) => name);
  const withPorts = own.flatMap((name) => ports.map(({ port }) => `${name}:${port}`));
  const hosts = [...new Set([...(given === null ? [] : [given]), ...own, ...withPorts])];
  if (hosts.length === 0) return null;
  const from = [...usable, ...(withPorts.length > 0 ? ports : [])].map(({ source }) => source);
  return { value: hosts, from: [...new Set(from)] };
}

/**
 * The ports that visitors name behind the host. They are beside the bare host, because a proxy may take the requests on
 * another port.
 */
function portsOf({ block }: Directive): readonly { readonly port: string; readonly source: Source }[] {
  const lines = block!.filter(({ name }) => name === "listen");
  return lines.flatMap(({ args, source }) => {
    const port = /^(?:(?:\[.*\]|[^:]*):)?(\d+)$/.exec(args[0] ?? "")?.[1];
    return port === undefined || port === "80" || port === "443" ? [] : [{ port, source }];
  });
}

function inactiveSeconds(http: readonly Directive[], zone: string): number {
  const path = http.find(
    ({ name, args }) => /_cache_path$/.test(name) && args.some((each) => each.startsWith(`keys_zone=${zone}:`)),
  );
  const text = path?.args.find((each) => each.startsWith("inactive="))?.slice("inactive=".length);
  return text === undefined ? DEFAULT_INACTIVE_SECONDS : secondsOf(text, path!.source);
}

function slashRedirects(routed: readonly RoutedLocation[]): readonly Difference[] {
  const exact = new Set(routed.flatMap(({ location }) => (location.kind === "exact" ? [location.text] : [])));
  return routed.flatMap(({ location }) => {
    const { text, directive } = location;
    const path = text.slice(0, -1);
    if (!redirectsSlashes(location) || exact.has(path)) return [];
    const why = `nginx redirects ${path} to ${text}. The edge asks the origin for ${path}.`;
    return [
      {
        kind: "changed",
        source: directive.source,
        why,
        aspects: ["answer", "stored"],
        affects: { routes: null, paths: [path] },
      },
    ];
  });
}
