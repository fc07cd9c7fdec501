import type { Doors } from "../../wire/doors.ts";
import { type Network, readNetwork } from "../rules/forwarding/trusted-proxies.ts";
import type { HeuristicRules } from "../rules/freshness/heuristic-freshness.ts";
import type { KeyRules } from "../rules/key/cache-key.ts";
import { canonicalHost, hostOf } from "../rules/key/canonical-url.ts";
import { pathMatcher } from "../rules/key/path-matcher.ts";
import type { QueryRules } from "../rules/key/query.ts";
import type { Route } from "../rules/key/route.ts";
import { type NamesAndPatterns, namesAndPatterns } from "../rules/key/text-pattern.ts";
import type { QueueLimits } from "../rules/queueing/queue-order.ts";
import type { BypassRules } from "../rules/request/bypass.ts";
import { type ChoiceRules, choiceNames, readChoices } from "../rules/request/choices.ts";
import { routeTags } from "../rules/storing/tags.ts";
import { type AddressCheck, HOST_CHECKS, ORIGIN_CHECKS, PUBLIC_URL_CHECKS } from "./addresses.ts";
import { type CheckedSite, checkSite, type RouteRules, type SiteRules } from "./check-site.ts";
import { DEFAULT_QUEUE } from "./default-queue.ts";
import { SiteError, withValue } from "./site-error.ts";
import type { SiteInput } from "./site-input.ts";

/** How much the origin is asked at a time: one isolate, or all that share permits. */
export interface Capacity {
  /** Requests at a time. */
  readonly concurrency: number;
  /** The limits of the routes that have one of their own, by their patterns. */
  readonly ofRoutes: ReadonlyMap<string, number>;
  /** Upgraded connections and streams of events at a time; `null` without a limit. */
  readonly streams: number | null;
  readonly queue: QueueLimits;
}

/** A checked site, ready for use. */
export interface Site extends KeyRules {
  readonly originUrl: string;
  /** Further addresses of the origin, in the order in which they are tried. */
  readonly otherOriginUrls: readonly string[];
  /** On Workers, the binding of the worker in the origin's place; `null` for an origin with an address. */
  readonly originService: string | null;
  /** How much the origin is asked at a time; `null` without a limit. */
  readonly capacity: Capacity | null;
  /** False if neither the file nor the environment names the public hosts. */
  readonly namesHosts: boolean;
  /** What the origin learns about the visitor's request besides `X-Forwarded-*`. */
  readonly forward: { readonly host: "visitor" | "origin"; readonly realIp: boolean; readonly forwarded: boolean };
  readonly originFields: readonly (readonly [name: string, value: string])[];
  readonly heuristic: HeuristicRules | null;
  /** The site's own targeted fields, in lower case. */
  readonly targetedFields: readonly string[];
  readonly trustedProxies: readonly Network[];
  /** In lower case; `null` if only the platform gives a country. */
  readonly countryField: string | null;
  readonly doors: Doors;
  /** The addresses from which the door of Varnish takes purges without a token. */
  readonly purgesFrom: readonly Network[];
  readonly hasDashboard: boolean;
  /** The settings as the file and the environment have them, without the values of `originFields`. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Fields of the origin that are only for this cache, in lower case. */
  readonly hiddenFields: readonly string[];
  readonly limits: {
    readonly urlBytes: number;
    readonly requestFieldBytes: number;
    readonly requestBodyBytes: number;
    readonly heldBodyBytes: number;
    readonly readAheadBytes: number;
    readonly responseFields: number;
    readonly responseFieldBytes: number;
    readonly storeBytes: number;
    readonly largeBytes: number;
    readonly fetchWholeBytes: number;
    readonly variants: number;
    readonly fillBytes: number;
    readonly fills: number;
    readonly memoryBytes: number;
    readonly tags: number;
    readonly originTimeoutMs: number;
    readonly originDownAfter: number;
    readonly followTimeoutMs: number;
  };
  readonly purge: {
    readonly leaseMs: number;
    readonly skewMs: number;
    /** The longest of the lease and the routes' view ages, for which receipts have to wait (R6). */
    readonly longestViewAgeMs: number;
    readonly push: boolean;
    readonly keepViewMs: number;
  };
}

/**
 * The statuses to which a single `defaultTtl` applies. An error that one odd request caused must not be stored by
 * default.
 */
const PLAIN_STATUSES = new Set([200, 203, 204, 300, 301, 308]);

/** How long a connection to the log is kept after a request by default: it costs almost nothing. */
const KEPT_WITH_PUSH_MS = 20_000;

/** Settings from the environment or from flags. They take precedence over the file. */
export interface SiteOverrides {
  readonly origin?: string | undefined;
  readonly hosts?: readonly string[] | null | undefined;
  readonly publicUrl?: string | undefined;
  /** That of all pages, unless `publicUrl` names another, because visitors who use the other one are sent elsewhere. */
  readonly publicScheme?: "https" | undefined;
  /** Whether the origin is another server than the edge although it has a name of the site, as on a unix socket, or a parent. */
  readonly originIsElsewhere?: boolean;
}

/**
 * Checks a site's rules and returns them unchanged, so that a mistake shows where it was made. What the environment may
 * still correct is checked when the edge starts.
 * Throws a `SiteError`, which names each place, the value found there and, for an unknown key, the nearest known one.
 */
export function defineSite(input: SiteInput): SiteInput {
  checkSite(input);
  return input;
}

/** Compiles an owner's rules into the form that the corridor uses. Throws `SiteError`. */
export function compileSite(input: SiteInput, overrides: SiteOverrides): Site {
  expectAddresses(overrides);
  return compileChecked(checkSite(withOverrides(input, overrides, namedByAddress)), overrides);
}

/** The same for a site that was checked before, by a build for instance. Throws `SiteError` if an override is not valid. */
export function compileChecked(checked: CheckedSite, overrides: SiteOverrides): Site {
  expectAddresses(overrides);
  const site = withOverrides(checked.rules, overrides, atAddress);
  const named = site.routes.map((each) => compileRoute(each, each.match, site));
  const routes = [...named, compileRoute(checked.elsewhere, null, site)];
  const hosts = overrides.hosts === undefined ? (site.hosts ?? null) : overrides.hosts;
  const publicUrl = site.publicUrl === undefined ? null : publicAddress(site.publicUrl);
  const publicHosts = hosts && [
    ...new Set([...hosts.map((host) => canonicalHost(host)!), ...(publicUrl ? [publicUrl.host] : [])]),
  ];
  if (site.forward.host === "visitor" && publicHosts === null) throw new SiteError([ANY_HOST]);
  const [originUrl, ...otherOriginUrls] = originUrlsOf(site.origin);
  const itself = [originUrl, ...otherOriginUrls].find((url) =>
    [...(publicHosts ?? []), publicUrl?.host].includes(hostOf(new URL(url))),
  );
  if (!overrides.originIsElsewhere && itself !== undefined) throw new SiteError([originIsSiteError(itself)]);
  const { originTimeout, followTimeout, ...limits } = site.limits;
  const ownField = site.targetedField === undefined ? [] : [site.targetedField.toLowerCase()];
  return {
    originUrl,
    otherOriginUrls,
    originService: site.origin.service ?? null,
    capacity: capacityOf(site),
    namesHosts: overrides.hosts !== undefined || site.hosts !== undefined,
    hosts: publicHosts,
    publicScheme: publicUrl?.scheme ?? overrides.publicScheme ?? null,
    publicHost: publicUrl?.host ?? null,
    routes,
    forward: site.forward,
    originFields: Object.entries(site.originFields).map(([name, value]) => [name.toLowerCase(), value]),
    heuristic: site.heuristic ? { fraction: site.heuristic.fraction, maxSeconds: site.heuristic.maxTtl } : null,
    targetedFields: ownField,
    hiddenFields: [...ownField, "surrogate-control"],
    trustedProxies: site.trustedProxies.map((text) => readNetwork(text)!),
    countryField: site.countryField ?? null,
    doors: openDoors(site.doors),
    purgesFrom: purgesFrom(site.doors).map((text) => readNetwork(text)!),
    hasDashboard: site.dashboard,
    settings: {
      ...withOverrides(checked.given, overrides, namedByAddress),
      hosts,
      originFields: Object.keys(site.originFields),
    },
    limits: {
      ...limits,
      fetchWholeBytes: Math.min(limits.fetchWholeBytes, limits.storeBytes),
      originTimeoutMs: originTimeout,
      followTimeoutMs: followTimeout,
    },
    purge: {
      leaseMs: site.purge.leaseMs,
      skewMs: site.purge.skewMs,
      longestViewAgeMs: routes.reduce(
        (longest, { purge }) => Math.max(longest, purge.maxViewAgeMs, purge.maxViewAgeImmutableMs),
        site.purge.leaseMs,
      ),
      push: site.purge.push,
      keepViewMs: site.purge.keepViewMs ?? (site.purge.push ? KEPT_WITH_PUSH_MS : 0),
    },
  };
}

/** A service has no address, so messages use this one. */
function originUrlsOf({ url, service }: SiteRules["origin"]): [string, ...string[]] {
  if (url === undefined) return [`http://${service!.toLowerCase()}.service`];
  const [first, ...others] = [url].flat();
  return [new URL(first!).origin, ...others.map((other) => new URL(other).origin)];
}

function capacityOf({ origin, routes }: SiteRules): Capacity | null {
  const { concurrency, streams = null, queue = DEFAULT_QUEUE } = origin;
  if (concurrency === undefined) return null;
  const parts = routes.flatMap(({ match, concurrency: part }) => (part === undefined ? [] : [[match, part] as const]));
  return { concurrency, ofRoutes: new Map(parts.reverse()), streams, queue }; // of two same patterns the first one counts
}

/** The origin at another address, with its other settings unchanged. */
function atAddress({ service: _, ...origin }: SiteRules["origin"], url: string): SiteRules["origin"] {
  return { ...origin, url };
}

/** The same in an owner's words. */
function namedByAddress(origin: SiteInput["origin"], url: string): SiteInput["origin"] {
  if (typeof origin !== "object" || origin.concurrency === undefined) return url;
  const { concurrency, streams, queue } = origin;
  return { url, concurrency, streams, queue };
}

const ANY_HOST = {
  path: "forward.host",
  message: '"visitor" needs hosts: without them, the origin would get any host that a visitor makes up',
};

/** The overrides in the place of what the file says. `moved`: the origin at another address. */
function withOverrides<Origin, S extends { readonly origin: Origin }>(
  site: S,
  { origin, hosts, publicUrl }: SiteOverrides,
  moved: (origin: S["origin"], url: string) => Origin,
): S {
  return {
    ...site,
    ...(origin !== undefined && { origin: moved(site.origin, origin) }),
    ...(publicUrl !== undefined && { publicUrl }),
    ...(hosts && { hosts }),
  };
}

/** Throws a `SiteError` that names the variables, because the owner's file says nothing of these. */
function expectAddresses({ origin, publicUrl, hosts }: SiteOverrides): void {
  const faults = [
    ...(origin === undefined ? [] : faultsOf("TIDEMARK_ORIGIN", origin, ORIGIN_CHECKS)),
    ...(hosts ?? []).flatMap((host) => faultsOf("TIDEMARK_HOSTS", host, HOST_CHECKS)),
    ...(publicUrl === undefined ? [] : faultsOf("TIDEMARK_PUBLIC_URL", publicUrl, PUBLIC_URL_CHECKS)),
  ];
  if (faults.length > 0) throw new SiteError(faults);
}

function faultsOf(path: string, text: string, checks: readonly AddressCheck[]): { path: string; message: string }[] {
  return checks.flatMap(({ holds, otherwise }) => (holds(text) ? [] : [{ path, message: withValue(otherwise, text) }]));
}

function openDoors(named: SiteRules["doors"]): Doors {
  const { varnish, ...zoned } = named;
  const open = Object.entries(zoned).flatMap(([name, door]) => (door ? [[name, Object.values(door).join()]] : []));
  return { ...Object.fromEntries(open), ...(varnish && { varnish: "" }) };
}

function purgesFrom({ varnish }: SiteRules["doors"]): readonly string[] {
  return typeof varnish === "object" ? varnish.from : [];
}

function compileRoute(rules: RouteRules, pattern: string | null, site: SiteRules): Route {
  const query: QueryRules = rules.key.query;
  const keyFields = [...new Set(rules.key.fields)].sort();
  const choices: ChoiceRules = {
    cookies: Object.entries(rules.key.cookies),
    languages: rules.key.languages ?? [],
    country: rules.key.country,
    device: rules.key.device,
  };
  const { defaultTtl } = rules;
  const trustedForErrors = [...new Set([...site.fields.trustForErrors, ...rules.fields.trustForErrors])];
  const hasOwnLifetime = rules.ttl !== undefined || defaultTtl !== undefined;
  return {
    pattern,
    match: pathMatcher(rules.match),
    pass: rules.pass,
    streamsBody: rules.body === "stream",
    query,
    keyFields,
    choices,
    asksPlain: rules.deltas !== undefined,
    selectingNames: [...new Set([...keyFields, ...choiceNames(choices)])].sort(),
    bypass: {
      cookies: pickedBy(rules.bypass.cookies ?? site.bypass.cookies),
      ...pickedFields(rules.bypass.fields ?? site.bypass.fields ?? []),
      query: pickedQueries(rules.bypass.query ?? site.bypass.query),
      sessions: rules.bypass.sessions ?? site.bypass.sessions ?? true,
    },
    storesOnHead: rules.store.onHead ?? site.store.onHead ?? true,
    looksAgain: rules.secondLook ?? site.secondLook,
    droppedFields: [
      ...new Set([
        ...site.fields.drop,
        ...rules.fields.drop,
        ...(site.countryField ? [site.countryField] : []),
        ...readChoices(() => null, null, choices).fields.keys(), // the origin gets the choice in place of the client's
      ]),
    ],
    trustedFields: [...new Set([...site.fields.trust, ...rules.fields.trust, ...trustedForErrors])],
    trustedForErrors,
    stripsSetCookie: rules.stripSetCookie,
    storeWhenQuery: Object.entries(rules.store.when.query).map(([name, { maxLength }]) => ({ name, maxLength })),
    browserTtlSeconds: rules.browserTtl ?? null,
    requestDirectives: rules.requestDirectives,
    ignoredCookies: site.cookies.ignore,
    stale: {
      ifErrorSeconds: rules.stale.ifError ?? site.stale.ifError ?? 0,
      ifDisconnectedSeconds: rules.stale.ifDisconnected ?? site.stale.ifDisconnected ?? 0,
      ifErrorWhileUnknown: rules.stale.ifErrorWhileLogSilent ?? site.stale.ifErrorWhileLogSilent ?? true,
      whileRevalidateSeconds: rules.stale.whileRevalidate ?? site.stale.whileRevalidate ?? 0,
      softForMs: site.purge.softForMs,
      overSMaxage: rules.stale.overSMaxage ?? site.stale.overSMaxage ?? false,
    },
    purge: viewAgeBounds(rules, site),
    hasOwnLifetime,
    ttlSeconds: rules.ttl,
    defaultTtlSeconds: (status) => {
      if (typeof defaultTtl === "object") return defaultTtl[String(status)];
      return PLAIN_STATUSES.has(status) ? defaultTtl : undefined;
    },
    tags: (parameters) => routeTags(rules.tags, parameters),
  };
}

/** If the origin were the site itself, each request would come back to this edge until `CDN-Loop` stops it. */
function originIsSiteError(origin: string): { path: string; message: string } {
  const message = `${JSON.stringify(origin)} is an address of the site itself: name the server behind it`;
  return { path: "origin", message };
}

function viewAgeBounds({ pass, purge }: RouteRules, site: SiteRules): Route["purge"] {
  if (pass) return { maxViewAgeMs: 0, maxViewAgeImmutableMs: 0 };
  const maxViewAgeMs = purge.maxViewAge ?? 0;
  const immutableMs = purge.maxViewAgeImmutable ?? site.purge.maxViewAgeImmutable;
  return { maxViewAgeMs, maxViewAgeImmutableMs: Math.max(maxViewAgeMs, immutableMs) };
}

/** `null` for an empty list, which costs a request nothing. */
function pickedBy(texts: readonly string[] | undefined): NamesAndPatterns | null {
  return texts === undefined || texts.length === 0 ? null : namesAndPatterns(texts);
}

function pickedFields(
  fields: readonly string[] | Readonly<Record<string, readonly string[]>>,
): Pick<BypassRules, "fields" | "fieldValues"> {
  if (isListOfNames(fields)) return { fields, fieldValues: null };
  const fieldValues = Object.entries(fields).map(([name, texts]) => [name, namesAndPatterns(texts).patterns] as const);
  return { fields: [], fieldValues };
}

/** `Array.isArray` does not tell lists that cannot be changed. */
function isListOfNames(fields: readonly string[] | object): fields is readonly string[] {
  return Array.isArray(fields);
}

function pickedQueries(texts: readonly string[] | boolean | undefined): NamesAndPatterns | "any" | null {
  if (typeof texts === "boolean") return texts ? "any" : null;
  return pickedBy(texts);
}

function publicAddress(text: string): { scheme: "http" | "https"; host: string } {
  const url = new URL(text);
  return { scheme: url.protocol === "https:" ? "https" : "http", host: hostOf(url) };
}
