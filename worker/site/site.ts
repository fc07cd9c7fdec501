import * as z from "zod/mini";
import type { Doors } from "../../wire/doors.ts";
import { IN_ENGLISH } from "../../wire/english.ts";
import { DEFAULT_MAX_RESPONSE_FIELD_BYTES, DEFAULT_MAX_TAGS } from "../../wire/fields.ts";
import { type Network, readNetwork } from "../rules/forwarding/trusted-proxies.ts";
import type { HeuristicRules } from "../rules/freshness/heuristic-freshness.ts";
import { ANALYTICS_COOKIES } from "../rules/identity/cookies.ts";
import type { KeyRules } from "../rules/key/cache-key.ts";
import { type QueryRules, TRACKING_PARAMETERS } from "../rules/key/query.ts";
import type { Route } from "../rules/key/route.ts";
import { type ChoiceRules, choiceNames } from "../rules/request/choices.ts";
import { speaksOfCredentials } from "../rules/request/credential-names.ts";
import { isOpenToOwners, mayBeKeyed, mayTellCountry } from "../rules/request/request-fields.ts";
import { isTag } from "../rules/storing/tags.ts";
import { SiteError, siteErrors } from "./site-error.ts";
import type { SiteInput } from "./site-input.ts";
import { durationError, durationMs, durationSeconds, sizeBytes } from "./units.ts";

const names: z.ZodMiniType<readonly string[], readonly string[]> = z.array(z.string().check(z.minLength(1)));
const fieldName = z.string().check(z.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "is not a field name"));
const fieldValue = z.string().check(z.regex(/^[\t\x20-\x7e]*$/, "is not a field value of printable ASCII"));
const lowerCaseName = z.pipe(
  fieldName,
  z.transform((name: string) => name.toLowerCase()),
);
/** The name of a field that the owner may drop or trust, in lower case. It may end in `*`. */
const openField = lowerCaseName.check(
  z.refine((name) => name !== "*", 'covers every field: name them, like "x-app-version" or "x-app-*"'),
  z.refine((name) => !name.slice(0, -1).includes("*"), "has a * before its end, where it stands for itself"),
  z.refine(
    (name) => name === "*" || isOpenToOwners(name),
    'names or covers a claim, a credential, a cookie, or a field that the edge or the connection sets: name others, like "x-app-version"',
  ),
);

/** What becomes of fields that are not in the key, of the site or of a route. */
const fields = z.strictObject({
  drop: z.prefault(z.array(openField), []),
  trust: z.prefault(
    z.array(
      openField.check(
        z.refine(
          (name) => !isOpenToOwners(name) || !speaksOfCredentials(name),
          "speaks of credentials, so that answers to it may be for one visitor: name others, or drop it",
        ),
      ),
    ),
    [],
  ),
});

const status = z.string().check(z.regex(/^[2-5][0-9][0-9]$/, "is not a status, 200 to 599"));

/** RFC 6265 §4.1.1. */
const cookieName = z.string().check(z.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "is not the name of a cookie"));
const cookieValue = z
  .string()
  .check(z.regex(/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/, "is not the value of a cookie"));
const languageTag = z
  .string()
  .check(z.regex(/^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$/, 'is not a language like "en" or "de-AT"'));

const NAMES_ONE = "has a *, which would stand for itself here: name each one";

/** The most values of one choice. All combinations of choices share the variants of a URL. */
const MAX_CHOICES = 32;

const COUNTRY_IS_THE_PLATFORMS =
  "is true or false: the platform tells the country; a field that a proxy sends is named by countryField of the site";

/** A proxy, or the network that it is in. */
const proxyNetwork = z.string().check(
  z.refine((text) => readNetwork(text) !== null, 'is not an address like "192.0.2.7" or a network like "10.0.0.0/8"'),
  z.refine((text) => !/\/0$/.test(text), "trusts everybody: name the proxies"),
);

const fraction = z.number().check(z.gt(0), z.maximum(1));

/** The rules for stale answers, of the site or of a route. */
const stale = z.strictObject({
  /** How long a stale response may replace an error of the origin, if the origin does not say. */
  ifError: z.optional(durationSeconds),
  /** Whether that also holds while the purge log is silent, although the response may have been purged. */
  ifErrorWhileLogSilent: z.optional(z.boolean()),
});

const HAS_A_BARE_STAR = "has a bare *: a route with pass: true does that";

const bypassNames = names.check(z.refine((list) => !list.includes("*"), HAS_A_BARE_STAR));

/** What sends a request past the cache, of the site or of a route. */
const bypass = z.strictObject({
  cookies: z.optional(bypassNames),
  fields: z.optional(z.array(lowerCaseName).check(z.refine((list) => !list.includes("*"), HAS_A_BARE_STAR))),
  query: z.optional(bypassNames),
  /** Whether well-known session cookies do so where only the owner's lifetime makes a page storable. */
  sessions: z.optional(z.boolean()),
});

/** The longest time that a purge may take to reach a route. */
const MAX_VIEW_AGE_MS = 3_600_000;

const maxViewAge = durationMs.check(z.refine((ms) => ms <= MAX_VIEW_AGE_MS, "is more than an hour, which is the most"));

const route = z.strictObject({
  /** URLPattern pathname syntax: `/admin/*`, `/plog/:slug`. */
  match: z
    .string('is required: the paths of the route, like "/blog/:slug"')
    .check(z.regex(/^\//, "does not start with /"), z.refine(isUrlPattern, "is not a URLPattern pathname")),
  /** Send every request to the origin unchanged; look up and store nothing. */
  pass: z.prefault(z.boolean(), false),
  key: z.prefault(
    z.strictObject({
      /** Fields that are forwarded to the origin as sent and are part of the key. */
      fields: z.prefault(
        z.array(
          lowerCaseName.check(
            z.refine((name) => !name.includes("*"), NAMES_ONE),
            z.refine(mayBeKeyed, "cannot be keyed, because the edge or the connection sets it"),
          ),
        ),
        [],
      ),
      /** Values of cookies that select, in a bounded set each. */
      cookies: z.prefault(
        z.record(
          cookieName.check(z.refine((name) => !name.includes("*"), NAMES_ONE)),
          z.array(cookieValue).check(z.minLength(1, "needs at least one value"), z.maxLength(MAX_CHOICES)),
        ),
        {},
      ),
      languages: z.optional(
        z.array(languageTag).check(z.minLength(1, "needs at least one language"), z.maxLength(MAX_CHOICES)),
      ),
      country: z.prefault(z.boolean({ error: COUNTRY_IS_THE_PLATFORMS }), false),
      device: z.prefault(z.boolean(), false),
      query: z.prefault(
        z.strictObject({
          ignore: z.prefault(names, TRACKING_PARAMETERS),
          only: z.optional(names),
          lowercase: z.prefault(names, []),
          trim: z.prefault(names, []),
          sort: z.prefault(z.boolean(), false),
        }),
        {},
      ),
    }),
    {},
  ),
  bypass: z.prefault(bypass, {}),
  fields: z.prefault(fields, {}),
  secondLook: z.optional(z.boolean()),
  store: z.prefault(
    z.strictObject({
      onHead: z.optional(z.boolean()),
      when: z.prefault(
        z.strictObject({
          query: z.prefault(z.record(z.string(), z.strictObject({ maxLength: z.int().check(z.nonnegative()) })), {}),
        }),
        {},
      ),
    }),
    {},
  ),
  /** Remove `Set-Cookie` from every answer to GET and HEAD, so that it does not keep answers from being stored. */
  stripSetCookie: z.prefault(z.boolean(), false),
  /** Replaces the lifetime of responses that may be stored. */
  ttl: z.optional(durationSeconds),
  /** The lifetime if the origin gives none: one, or one per status. */
  defaultTtl: z.optional(
    z.union([durationSeconds, z.record(status, durationSeconds)], {
      error: ({ input }) =>
        typeof input === "number"
          ? durationError(input)
          : 'is not a duration: write one like "24h", or one per status like { 200: "24h", 404: "1m" }',
    }),
  ),
  /** How long browsers may keep stored responses. Default: as the origin says. */
  browserTtl: z.optional(durationSeconds.check(z.refine(Number.isInteger, "is not a whole number of seconds"))),
  /** Which directives of a visitor's `Cache-Control` are obeyed. */
  requestDirectives: z.prefault(z.enum(["harmless", "all"]), "harmless"),
  stale: z.prefault(stale, {}),
  /** How late a purge may reach the route's responses, if that may be later than a lease. */
  purge: z.prefault(
    z.strictObject({ maxViewAge: z.optional(maxViewAge), maxViewAgeImmutable: z.optional(maxViewAge) }),
    {},
  ),
  /** Tags for every response of the route; `{name}` stands for a parameter of `match`. */
  tags: z.prefault(names, []),
});

const doorZone = z.string().check(z.regex(/^[\w.-]+$/, 'is not an id of letters, digits, ".", "_" and "-"'));

/** The vendors whose purge calls are taken, each for one of the zones that it knew. */
const doors = z.strictObject({
  cloudflare: z.optional(z.strictObject({ zone: doorZone })),
  fastly: z.optional(z.strictObject({ service: doorZone })),
  keycdn: z.optional(z.strictObject({ zone: doorZone })),
  netlify: z.optional(z.strictObject({ site: doorZone })),
  varnish: z.optional(z.literal(true, "can only be true; otherwise leave it out")),
  vercel: z.optional(z.strictObject({ project: doorZone })),
});

/** All settings of a site with their defaults. `SiteInput` documents each of them. */
export const siteSchema = z.strictObject({
  /** The origin's address: scheme, host and port, without a path. `TIDEMARK_ORIGIN` takes precedence over it. */
  origin: z
    .string('is required: the address of the site, like "https://origin.example.com"')
    .check(z.refine(isOrigin, "is not an address like https://origin.example.com, without a path")),
  /**
   * Public host names, with a port if it is not the scheme's default; others get 421. `TIDEMARK_HOSTS` takes
   * precedence.
   */
  hosts: z.optional(
    z
      .array(
        z.string().check(
          z.regex(/^[^/\s]+$/, "is not a host name like www.example.com, without scheme and path"),
          z.refine((host) => URL.canParse(`http://${host}`), "is not a host name"),
        ),
      )
      .check(z.minLength(1)),
  ),
  /** The public address to key by and to forward, if the edge itself is reached under another one. */
  publicUrl: z.optional(
    z.string().check(z.refine(isOrigin, "is not an address like https://www.example.com, without a path")),
  ),
  routes: z.prefault(z.array(route), []),
  bypass: z.prefault(bypass, {}),
  store: z.prefault(z.strictObject({ onHead: z.optional(z.boolean()) }), {}),
  fields: z.prefault(fields, {}),
  secondLook: z.prefault(z.boolean(), true),
  stale: z.prefault(stale, {}),
  /** Lifetimes guessed from `Last-Modified` if the origin gives none. Default: none are guessed. */
  heuristic: z.optional(
    z.strictObject({ fraction: z.prefault(fraction, 0.1), maxTtl: z.prefault(durationSeconds, "24h") }),
  ),
  /** A field of the site's own that takes precedence over `CDN-Cache-Control` and `Cache-Control`. RFC 9213 §2.2. */
  targetedField: z.optional(
    fieldName.check(
      z.refine(
        (name) => name.toLowerCase() !== "cache-control",
        "is read by other caches, too: name a field for this cache alone",
      ),
    ),
  ),
  cookies: z.prefault(z.strictObject({ ignore: z.prefault(names, ANALYTICS_COOKIES) }), {}),
  /** The addresses of proxies in front of this edge. */
  trustedProxies: z.prefault(z.array(proxyNetwork), []),
  /** The field in which a trusted proxy tells the visitor's country. */
  countryField: z.optional(
    lowerCaseName.check(
      z.refine((name) => !name.includes("*"), "has a *, which would stand for itself: name one field"),
      z.refine(
        mayTellCountry,
        'cannot tell a country: name a field of the proxy\'s own, like "CloudFront-Viewer-Country"',
      ),
    ),
  ),
  doors: z.prefault(doors, {}),
  /** Extra fields on every request to the origin, such as a shared secret. */
  originFields: z.prefault(z.record(fieldName, fieldValue), {}),
  /** Whether browsers get the dashboard at `/_tidemark/`. */
  dashboard: z.prefault(z.boolean(), true),
  limits: z.prefault(
    z.strictObject({
      /** The longest URL that is served; longer ones get 414. */
      urlBytes: z.prefault(sizeBytes, 16 * 1024),
      /** The fields of a request to the origin, names and values together; one with more gets 431. */
      requestFieldBytes: z.prefault(sizeBytes, 32 * 1024),
      /** The body of a request; a larger one gets 413. */
      requestBodyBytes: z.prefault(sizeBytes, 100 * 1024 ** 2),
      /** How many fields an answer of the origin may have, and their bytes; an answer with more becomes a 502. */
      responseFields: z.prefault(z.int().check(z.positive()), 256),
      responseFieldBytes: z.prefault(sizeBytes, DEFAULT_MAX_RESPONSE_FIELD_BYTES),
      /** The largest body that is stored with its head. */
      storeBytes: z.prefault(sizeBytes, 8 * 1024 ** 2),
      /** The largest body that is stored in two steps, if its length is announced. */
      largeBytes: z.prefault(sizeBytes, 512 * 1024 ** 2),
      /** If a part is requested that is not stored, the whole is fetched if it is at most this large. */
      fetchWholeBytes: z.prefault(sizeBytes, 0),
      /** The most variants of one URL. */
      variants: z.prefault(z.int().check(z.positive()), 32),
      /** The most bytes that the bodies being filled may hold together, per isolate. */
      fillBytes: z.prefault(sizeBytes, 32 * 1024 ** 2),
      /** How many bodies may be filled at once, per isolate. Others stream past. */
      fills: z.prefault(z.int().check(z.positive()), 256),
      /** The memory tier, per isolate. */
      memoryBytes: z.prefault(sizeBytes, 32 * 1024 ** 2),
      /** The most tags of one response. A response with more is not stored. */
      tags: z.prefault(z.int().check(z.positive()), DEFAULT_MAX_TAGS),
      /** The longest wait for the head of the origin's answer. */
      originTimeout: z.prefault(durationMs, "30s"),
      /** The longest that a request waits for another request's fetch. */
      followTimeout: z.prefault(durationMs, "10s"),
    }),
    {},
  ),
  purge: z.prefault(
    z.strictObject({
      /** How long a PoP may answer from its knowledge of purges. */
      leaseMs: z.prefault(z.int().check(z.minimum(100), z.maximum(60_000)), 1000),
      /** How much clocks in one PoP may differ, and one clock may step. */
      skewMs: z.prefault(z.int().check(z.nonnegative(), z.maximum(60_000)), 250),
      /** How long a softly purged response may be used, if the response itself does not say. */
      softForMs: z.prefault(z.int().check(z.nonnegative(), z.maximum(30 * 24 * 3_600_000)), 0),
      /** How late a purge may reach responses that the origin calls `immutable`. */
      maxViewAgeImmutable: z.prefault(maxViewAge, "0s"),
      /** Whether isolates keep a connection to the log, over which it pushes purges and they confirm them. */
      push: z._default(z.boolean(), false),
      /** How many relays of the log each continent has. */
      relays: z.prefault(z.int().check(z.nonnegative(), z.maximum(16)), 0),
      /** How long after a request an isolate keeps its knowledge of purges up to date. */
      keepViewMs: z.optional(z.int().check(z.nonnegative(), z.maximum(20_000))),
    }),
    {},
  ),
});

/** A checked site, ready for use. */
export interface Site extends KeyRules {
  readonly originUrl: string;
  /** False if neither the file nor the environment names the public hosts. */
  readonly namesHosts: boolean;
  readonly ignoredCookies: readonly string[];
  readonly originFields: readonly (readonly [name: string, value: string])[];
  readonly heuristic: HeuristicRules | null;
  /** The site's own targeted fields, in lower case. */
  readonly targetedFields: readonly string[];
  readonly trustedProxies: readonly Network[];
  /** In lower case; `null` if only the platform tells a country. */
  readonly countryField: string | null;
  readonly doors: Doors;
  readonly hasDashboard: boolean;
  /** The settings as the file and the environment have them, without the values of `originFields`. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Fields of the origin that are only for this cache, in lower case. */
  readonly hiddenFields: readonly string[];
  readonly limits: {
    readonly urlBytes: number;
    readonly requestFieldBytes: number;
    readonly requestBodyBytes: number;
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
    readonly followTimeoutMs: number;
  };
  readonly purge: {
    readonly leaseMs: number;
    readonly skewMs: number;
    readonly softForMs: number;
    /** The longest of the lease and the routes' view ages, for which receipts have to wait (R6). */
    readonly longestViewAgeMs: number;
    readonly push: boolean;
    /** How many relays of the log each continent has; 0 if isolates connect to the log itself. */
    readonly relays: number;
    readonly keepViewMs: number;
  };
}

/**
 * The statuses to which a single `defaultTtl` applies. An error that one odd request caused must not be stored by
 * default.
 */
const PLAIN_STATUSES = new Set([200, 203, 204, 300, 301, 308]);

/** How long a connection to the log is kept after a request, if the site does not say: it costs next to nothing. */
const KEPT_WITH_PUSH_MS = 20_000;

/** Settings from the environment or from flags. They take precedence over the file. */
export interface SiteOverrides {
  readonly origin?: string | undefined;
  readonly hosts?: readonly string[] | null | undefined;
  readonly publicUrl?: string | undefined;
}

/**
 * Checks the owner's rules and returns them unchanged, so that a mistake shows where it was made.
 * Throws `SiteError`, which names each place, the value found there and, for an unknown key, the nearest known one.
 */
export function defineSite(input: SiteInput): SiteInput {
  compileSite(input, {});
  return input;
}

/** Compiles an owner's rules into the form that the corridor uses. Throws `SiteError`. */
export function compileSite(input: SiteInput, overrides: SiteOverrides): Site {
  const given: Record<string, unknown> = { ...input };
  if (overrides.origin !== undefined) given.origin = overrides.origin;
  if (overrides.publicUrl !== undefined) given.publicUrl = overrides.publicUrl;
  if (overrides.hosts) given.hosts = overrides.hosts;
  const checked = siteSchema.safeParse(given, IN_ENGLISH);
  if (!checked.success) throw new SiteError(siteErrors(checked.error, siteSchema, given));
  const site = checked.data;
  const named = site.routes.map((each, index) => compileRoute(each, index, site));
  const routes = [...named, compileRoute(route.parse({ match: "/*" }), null, site)];
  const proxyErrors = countryFieldErrors(site);
  if (proxyErrors.length > 0) throw new SiteError(proxyErrors);
  const wrongTags = site.routes.flatMap((each, index) => tagTemplateErrors(each, `routes[${index}].tags`));
  if (wrongTags.length > 0) throw new SiteError(wrongTags);
  if (site.purge.relays > 0 && !site.purge.push) throw new SiteError([RELAYS_WITHOUT_PUSH]);
  const hosts = overrides.hosts === undefined ? (site.hosts ?? null) : overrides.hosts;
  const publicUrl = site.publicUrl === undefined ? null : publicAddress(site.publicUrl);
  const publicHosts = hosts && [...hosts.map(hostInKeys), ...(publicUrl ? [publicUrl.host] : [])];
  const originHost = new URL(site.origin).host;
  if ([...(publicHosts ?? []), publicUrl?.host].includes(originHost))
    throw new SiteError([originIsSiteError(site.origin)]);
  const ownField = site.targetedField === undefined ? [] : [site.targetedField.toLowerCase()];
  return {
    originUrl: new URL(site.origin).origin,
    namesHosts: overrides.hosts !== undefined || site.hosts !== undefined,
    hosts: publicHosts,
    publicUrl,
    routes,
    ignoredCookies: site.cookies.ignore,
    originFields: Object.entries(site.originFields),
    heuristic: site.heuristic ? { fraction: site.heuristic.fraction, maxSeconds: site.heuristic.maxTtl } : null,
    targetedFields: ownField,
    hiddenFields: [...ownField, "surrogate-control"],
    trustedProxies: site.trustedProxies.map((text) => readNetwork(text)!),
    countryField: site.countryField ?? null,
    doors: openDoors(site.doors),
    hasDashboard: site.dashboard,
    settings: { ...given, hosts, originFields: Object.keys(site.originFields) },
    limits: {
      urlBytes: site.limits.urlBytes,
      requestFieldBytes: site.limits.requestFieldBytes,
      requestBodyBytes: site.limits.requestBodyBytes,
      responseFields: site.limits.responseFields,
      responseFieldBytes: site.limits.responseFieldBytes,
      storeBytes: site.limits.storeBytes,
      largeBytes: site.limits.largeBytes,
      fetchWholeBytes: Math.min(site.limits.fetchWholeBytes, site.limits.storeBytes),
      variants: site.limits.variants,
      fillBytes: site.limits.fillBytes,
      fills: site.limits.fills,
      memoryBytes: site.limits.memoryBytes,
      tags: site.limits.tags,
      originTimeoutMs: site.limits.originTimeout,
      followTimeoutMs: site.limits.followTimeout,
    },
    purge: {
      leaseMs: site.purge.leaseMs,
      skewMs: site.purge.skewMs,
      softForMs: site.purge.softForMs,
      longestViewAgeMs: Math.max(
        site.purge.leaseMs,
        ...routes.flatMap(({ purge }) => [purge.maxViewAgeMs, purge.maxViewAgeImmutableMs]),
      ),
      push: site.purge.push,
      relays: site.purge.relays,
      keepViewMs: site.purge.keepViewMs ?? (site.purge.push ? KEPT_WITH_PUSH_MS : 0),
    },
  };
}

function openDoors(named: z.output<typeof doors>): Doors {
  const open = Object.entries(named).flatMap(([name, door]) => (door ? [[name, Object.values(door).join()]] : []));
  return Object.fromEntries(open);
}

type RouteRules = z.output<typeof route>;

function compileRoute(rules: RouteRules, position: number | null, site: z.output<typeof siteSchema>): Route {
  const pattern = new URLPattern({ pathname: rules.match });
  const catchAll = rules.match === "/*";
  const query: QueryRules = rules.key.query;
  const keyFields = [...new Set(rules.key.fields)].sort();
  const choices: ChoiceRules = {
    cookies: Object.entries(rules.key.cookies),
    languages: rules.key.languages ?? [],
    country: rules.key.country,
    device: rules.key.device,
  };
  const { defaultTtl } = rules;
  const hasOwnLifetime = rules.ttl !== undefined || defaultTtl !== undefined;
  return {
    pattern: position === null ? null : rules.match,
    match: (path) => (catchAll ? {} : parametersOf(pattern.exec({ pathname: path }))),
    pass: rules.pass,
    query,
    keyFields,
    choices,
    selectingNames: [...new Set([...keyFields, ...choiceNames(choices)])].sort(),
    bypass: {
      cookies: rules.bypass.cookies ?? site.bypass.cookies ?? [],
      fields: rules.bypass.fields ?? site.bypass.fields ?? [],
      query: rules.bypass.query ?? site.bypass.query ?? [],
      sessions: hasOwnLifetime && (rules.bypass.sessions ?? site.bypass.sessions ?? true),
    },
    storesOnHead: rules.store.onHead ?? site.store.onHead ?? true,
    looksAgain: rules.secondLook ?? site.secondLook,
    droppedFields: [
      ...new Set([...site.fields.drop, ...rules.fields.drop, ...(site.countryField ? [site.countryField] : [])]),
    ],
    trustedFields: [...new Set([...site.fields.trust, ...rules.fields.trust])],
    stripsSetCookie: rules.stripSetCookie,
    storeWhenQuery: Object.entries(rules.store.when.query).map(([name, { maxLength }]) => ({ name, maxLength })),
    browserTtlSeconds: rules.browserTtl ?? null,
    requestDirectives: rules.requestDirectives,
    stale: {
      ifErrorSeconds: rules.stale.ifError ?? site.stale.ifError ?? 0,
      ifErrorWhileUnknown: rules.stale.ifErrorWhileLogSilent ?? site.stale.ifErrorWhileLogSilent ?? true,
    },
    purge: viewAgeBounds(rules, site),
    hasOwnLifetime,
    ttlSeconds: rules.ttl,
    defaultTtlSeconds: (status) => {
      if (typeof defaultTtl === "object") return defaultTtl[String(status)];
      return PLAIN_STATUSES.has(status) ? defaultTtl : undefined;
    },
    tags: (parameters) =>
      rules.tags.map((template) => template.replace(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? "")),
  };
}

/** If the origin were the site itself, each request would come back to this edge until `CDN-Loop` stops it. */
function originIsSiteError(origin: string): { path: string; message: string } {
  const message = `${JSON.stringify(origin)} is an address of the site itself: name the server behind it`;
  return { path: "origin", message };
}

/** A `countryField` that nobody may tell, or that contradicts a route. */
const RELAYS_WITHOUT_PUSH = { path: "purge.relays", message: "needs connections to relay: set purge.push: true" };

function countryFieldErrors({ countryField, trustedProxies, routes }: z.output<typeof siteSchema>) {
  if (countryField === undefined) return [];
  if (trustedProxies.length === 0) {
    const words = `${JSON.stringify(countryField)} could be any visitor's word: name who sends it in trustedProxies`;
    return [{ path: "countryField", message: words }];
  }
  const keying = routes.flatMap(({ key }, index) => (key.fields.includes(countryField) ? [index] : []));
  return keying.map((index) => ({
    path: `routes[${index}].key.fields`,
    message: `names ${JSON.stringify(countryField)}, the countryField, which does not reach the origin: write key: { country: true }`,
  }));
}

function viewAgeBounds({ pass, purge }: RouteRules, site: z.output<typeof siteSchema>): Route["purge"] {
  if (pass) return { maxViewAgeMs: 0, maxViewAgeImmutableMs: 0 };
  const maxViewAgeMs = purge.maxViewAge ?? 0;
  const immutableMs = purge.maxViewAgeImmutable ?? site.purge.maxViewAgeImmutable;
  return { maxViewAgeMs, maxViewAgeImmutableMs: Math.max(maxViewAgeMs, immutableMs) };
}

function parametersOf(result: URLPatternResult | null): Record<string, string> | undefined {
  if (!result) return undefined;
  return Object.fromEntries(Object.entries(result.pathname.groups).map(([name, value]) => [name, value ?? ""]));
}

/** The mistakes in tag templates: characters that no tag may have, and parameters that the pattern does not have. */
function tagTemplateErrors(rules: RouteRules, path: string): { path: string; message: string }[] {
  const known = [...rules.match.matchAll(/:(\w+)/g)].map((match) => match[1]!);
  return rules.tags.flatMap((template, index) => {
    const place = `${path}[${index}]`;
    const unknown = [...template.matchAll(/\{(\w+)\}/g)]
      .map((match) => match[1]!)
      .find((name) => !known.includes(name));
    if (unknown !== undefined) {
      return [
        { path: place, message: `${JSON.stringify(template)} names {${unknown}}, which ${rules.match} does not have` },
      ];
    }
    if (isTag(template.replace(/\{\w+\}/g, "x"))) return [];
    return [
      {
        path: place,
        message: `${JSON.stringify(template)} is not a tag: use printable ASCII without spaces and commas`,
      },
    ];
  });
}

/** A host as URLs have it: lower case, ASCII, without a default port. */
function hostInKeys(host: string): string {
  return URL.parse(`http://${host.replace(/:(?:80|443)$/, "")}`)?.host ?? host;
}

function publicAddress(text: string): { scheme: "http" | "https"; host: string } {
  const url = new URL(text);
  return { scheme: url.protocol === "https:" ? "https" : "http", host: url.host };
}

function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) return false;
  return url.pathname === "/" && url.search === "" && url.hash === "" && url.username === "";
}

function isUrlPattern(text: string): boolean {
  try {
    return new URLPattern({ pathname: text }) !== null;
  } catch {
    return false; // URLPattern throws on an invalid pattern
  }
}
