import { existsSync } from "node:fs";
import { mayHang, neverMatches } from "../../wire/site-review.ts";
import { isSecure } from "../../worker/rules/deltas/dictionary-use.ts";
import type { Site } from "../../worker/site/site.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import type { OriginAddress } from "../origin/origin-address.ts";
import type { LoadedSite } from "../program/load-site.ts";
import type { ListenAddress } from "../supervisor/listening-sockets.ts";
import { addressWithTls } from "./listen-addresses.ts";

type RouteInput = NonNullable<SiteInput["routes"]>[number];

/** The settings of a route that are about stored pages alone. */
const OF_STORED_PAGES = [
  "ttl",
  "defaultTtl",
  "browserTtl",
  "stale",
  "store",
  "tags",
] as const satisfies readonly (keyof RouteInput)[];

/** What the owner of a valid site may not have meant, a line each. */
export function siteWarnings({ site, review }: LoadedSite, origin: OriginAddress | null): string[] {
  const routes = site.routes ?? [];
  return [
    ...review.weakened,
    ...review.shadowed.map((route) => `routes[${route.index}]: ${neverMatches(route)}`),
    ...review.slow.map((each) => `${each.place}: ${mayHang(each)}`),
    ...routes.flatMap((route, index) => idleBesidePass(route, index)),
    ...memoryOfWorkers(site),
    ...missingSocket(origin),
  ];
}

/** What has no effect because of where the server is reached, a line each. */
export function warningsWhereReached(
  { routes, publicScheme, publicHost, hosts, trustedProxies }: Site,
  listen: readonly ListenAddress[],
): string[] {
  const withDeltas = routes.findIndex(({ asksPlain }) => asksPlain);
  if (withDeltas === -1) return [];
  const mayBeSecure =
    publicScheme === "https" ||
    (publicHost !== null
      ? isSecure("http", publicHost)
      : addressWithTls(listen) !== undefined ||
        trustedProxies.length > 0 ||
        (hosts?.some((host) => isSecure("http", host)) ?? true));
  if (mayBeSecure) return [];
  return [
    `routes[${withDeltas}]: deltas has no effect, because no page comes by https: browsers take older versions only by https or from localhost.`,
  ];
}

/** A route that passes stores nothing, so what it says of stored pages is of no page. */
function idleBesidePass(route: RouteInput, index: number): string[] {
  if (!route.pass) return [];
  const idle = OF_STORED_PAGES.filter((name) => route[name] !== undefined);
  if (idle.length === 0) return [];
  return [
    `routes[${index}]: ${route.match} has pass: true and stores nothing, so these settings have no effect: ${idle.join(", ")}.`,
  ];
}

function memoryOfWorkers({ limits }: SiteInput): string[] {
  if (limits?.memoryBytes === undefined) return [];
  return [
    "limits.memoryBytes has no effect here, because it is for Workers. --memory sets the memory for pages, for all workers together.",
  ];
}

function missingSocket(origin: OriginAddress | null): string[] {
  const path = origin?.socketPath ?? null;
  return path === null || existsSync(path) ? [] : [`the origin's socket ${path} does not exist yet.`];
}
