import * as z from "zod/mini";
import { DEFAULT_MAX_RESPONSE_FIELD_BYTES, DEFAULT_MAX_TAGS } from "../../wire/fields.ts";
import { isToken } from "../rules/fields/token.ts";
import { hopByHopFields } from "../rules/forwarding/hop-by-hop.ts";
import { isAddress, isWithin, readNetwork } from "../rules/forwarding/trusted-proxies.ts";
import { MAX_SKEW_MS, MAX_VIEW_AGE_MS } from "../rules/freshness/unknown-purge-state.ts";
import { UNREAD_COOKIES } from "../rules/identity/cookies.ts";
import { ESCAPED_BY_SOME, normalEscapes } from "../rules/key/canonical-url.ts";
import { TRACKING_PARAMETERS } from "../rules/key/query.ts";
import { readPattern } from "../rules/key/text-pattern.ts";
import type { QueueLimits } from "../rules/queueing/queue-order.ts";
import { speaksOfCredentials } from "../rules/request/credential-names.ts";
import { isOpenToOwners, mayBeKeyed, mayTellCountry, nameAtGateways } from "../rules/request/request-fields.ts";
import { isTag } from "../rules/storing/tags.ts";
import { type AddressCheck, HOST_CHECKS, ORIGIN_CHECKS, PUBLIC_URL_CHECKS } from "./addresses.ts";
import { DEFAULT_QUEUE } from "./default-queue.ts";
import { MOST_RESPONSE_FIELD_BYTES, MOST_RESPONSE_FIELDS } from "./most-response-fields.ts";
import { SiteError } from "./site-error.ts";
import type { CompressionInput, RouteInput, SiteInput } from "./site-input.ts";
import { IN_WORDS, siteErrors } from "./site-issues.ts";
import { durationError, durationMs, durationSeconds, sizeBytes } from "./units.ts";

function refinements(checks: readonly AddressCheck[]): z.core.$ZodCheck<string>[] {
  return checks.map(({ holds, otherwise }) => z.refine(holds, otherwise));
}

/** Whether a `*` in a name can only stand for its ending. */
function hasNoStarInside(name: string): boolean {
  return !name.slice(0, -1).includes("*");
}

const HAS_A_STAR_INSIDE = "has a * before its end, where it matches only a *";
const NO_STAR_INSIDE = z.refine<string>(hasNoStarInside, HAS_A_STAR_INSIDE);

/** Names that may end in `*`. */
const names: z.ZodMiniType<readonly string[], readonly string[]> = z.array(
  z.string().check(z.minLength(1), NO_STAR_INSIDE),
);
const fieldName = z.string().check(z.refine(isToken, "is not a field name"));
/** A secret from a file may have a line end. */
const fieldValue = z.string().check(z.trim(), z.regex(/^[\t\x20-\x7e]*$/, "is not a field value of printable ASCII"));
const lowerCaseName = z.pipe(
  fieldName,
  z.transform((name: string) => name.toLowerCase()),
);
/** The name of a field that the owner may drop or trust, in lower case. It may end in `*`. */
const openField = lowerCaseName.check(
  z.refine((name) => name !== "*", 'covers every field: name them, like "x-app-version" or "x-app-*"'),
  NO_STAR_INSIDE,
  z.refine(
    (name) => name === "*" || isOpenToOwners(name),
    'names or covers a credential, a cookie, a field in which proxies tell an address, host or scheme (X-Real-IP and the like), or one that the edge or the connection sets: name others, like "x-app-version"',
  ),
);
/** The name of a field that the owner may trust. */
const trustedField = openField.check(
  z.refine(
    (name) => !isOpenToOwners(name) || !speaksOfCredentials(name),
    "carries credentials, so its answers may be for one visitor: name other fields, or drop it",
  ),
);
/** Fields without which the edge would not know its own requests again, or ask for another page than it stores. */
const OF_EDGE = /^(?:x-forwarded-host|via|cdn-loop|if-.*|range)$/i;

/** The name of a field that the owner may set for the origin: one that neither the connection nor the edge depends on. */
const originField = fieldName.check(
  z.refine(
    (name) => name.toLowerCase() !== "host",
    "the origin gets its own name in Host, and the public one in X-Forwarded-Host",
  ),
  z.refine((name) => !ofConnection(name.toLowerCase()), "is set by the connection, which ignores other values"),
  z.refine((name) => !OF_EDGE.test(nameAtGateways(name)), "is set by the edge, which depends on it"),
);

/** What becomes of fields that are not in the key, of the site or of a route. */
const fields = z.strictObject({
  drop: z.prefault(z.array(openField), []),
  trust: z.prefault(z.array(trustedField), []),
  trustForErrors: z.prefault(z.array(trustedField), []),
});

const status = z.string().check(z.regex(/^[2-5][0-9][0-9]$/, "is not a status, 200 to 599"));

/** RFC 6265 §4.1.1. */
const cookieName = z.string().check(z.refine(isToken, "is not the name of a cookie"));
const cookieValue = z
  .string()
  .check(z.regex(/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/, "is not the value of a cookie"));
const languageTag = z
  .string()
  .check(z.regex(/^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$/, 'is not a language like "en" or "de-AT"'));

const NAMES_ONE = z.refine<string>(
  (name) => !name.includes("*"),
  "has a *, which matches only a * here: name each one",
);

/** The most values of one choice. All combinations of choices share the variants of a URL. */
const MAX_CHOICES = 32;

const COUNTRY_IS_THE_PLATFORMS =
  "must be true or false: the platform tells the country. If a proxy sends it in a field, name that field in the site's countryField";

/** Whether all addresses of IPv4 are in a network, as they are in one of IPv6 that has their form there. */
function holdsAllOfIpv4(text: string): boolean {
  const network = readNetwork(text);
  return network !== null && ["0.0.0.0", "255.255.255.255"].every((address) => isWithin(address, [network]));
}

/** A proxy, or the network that it is in. */
const proxyNetwork = z.string().check(
  z.refine((text) => readNetwork(text) !== null, 'is not an address like "192.0.2.7" or a network like "10.0.0.0/8"'),
  z.refine((text) => !holdsAllOfIpv4(text), "trusts everybody: name the proxies"),
);

const fraction = z.number().check(z.gt(0), z.maximum(1));

/** The rules for stale answers, of the site or of a route. */
const stale = z.strictObject({
  ifError: z.optional(durationSeconds),
  ifDisconnected: z.optional(durationSeconds),
  ifErrorWhileLogSilent: z.optional(z.boolean()),
  whileRevalidate: z.optional(durationSeconds),
  overSMaxage: z.optional(z.boolean()),
});

const HAS_A_BARE_STAR = "has a bare *: write a route with pass: true for that";

/** A name, or a pattern, which becomes text: a checked site is plain data. */
const nameOrPattern = z.pipe(
  z.union([z.string(), z.instanceof(RegExp)], { error: 'is not a name like "sid", nor a pattern like /session/i' }),
  z.transform((each: string | RegExp) => String(each)),
);

const IS_NO_PATTERN = "is not a pattern like /session/i, with no other flags than i, m, s and u";

const bypassNames = z.array(
  nameOrPattern.check(
    z.minLength(1),
    z.refine((text) => text !== "*", HAS_A_BARE_STAR),
    z.refine((text) => text.startsWith("/") || hasNoStarInside(text), HAS_A_STAR_INSIDE),
    z.refine((text) => !text.startsWith("/") || readPattern(text) !== null, IS_NO_PATTERN),
  ),
);

/** Patterns alone. */
const patterns = z
  .array(nameOrPattern.check(z.refine((text) => readPattern(text) !== null, IS_NO_PATTERN)))
  .check(z.minLength(1));

const bypassFields = z.union(
  [
    z.array(lowerCaseName.check(NO_STAR_INSIDE)).check(z.refine((list) => !list.includes("*"), HAS_A_BARE_STAR)),
    z.record(lowerCaseName.check(z.refine((name) => !name.includes("*"))), patterns),
  ],
  { error: 'is neither a list of field names nor patterns by field name like { "user-agent": [/bot/i] }' },
);

/** What sends a request past the cache, of the site or of a route. */
const bypass = z.strictObject({
  cookies: z.optional(bypassNames),
  fields: z.optional(bypassFields),
  query: z.optional(
    z.union([z.boolean(), bypassNames], {
      error: 'must be true, false or a list like ["preview", /draft/i]',
    }),
  ),
  sessions: z.optional(z.boolean()),
});

/** The longest wait for an answer. A timer for more than 24 days ends at once. */
const longestWait = durationMs.check(z.refine((ms) => ms <= 86_400_000, "is more than 24 hours, the maximum"));

const responseFieldBytes = sizeBytes.check(
  z.refine((bytes) => bytes <= MOST_RESPONSE_FIELD_BYTES, "is more than 256 KiB, the maximum"),
);

/** The longest time that a purge may take to reach a route. */
const maxViewAge = durationMs.check(z.refine((ms) => ms <= MAX_VIEW_AGE_MS, "is more than an hour, the maximum"));

const route = z.strictObject({
  match: z.string('is required: the paths of the route, like "/blog/:slug"').check(
    z.regex(/^\//, "does not start with /"),
    z.refine(isUrlPattern, "is not a URLPattern pathname"),
    z.refine((match) => asPathsAre(match) === match, {
      error: ({ input }) => `matches nothing: the edge writes such paths as ${JSON.stringify(asPathsAre(`${input}`))}`,
    }),
  ),
  pass: z.prefault(z.boolean(), false),
  concurrency: z.optional(z.int().check(z.positive(), z.maximum(10_000))),
  key: z.prefault(
    z.strictObject({
      fields: z.prefault(
        z.array(
          lowerCaseName.check(
            NAMES_ONE,
            z.refine(mayBeKeyed, "cannot be keyed, because the edge or the connection sets it"),
          ),
        ),
        [],
      ),
      cookies: z.prefault(
        z.record(
          cookieName.check(NAMES_ONE),
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
          query: z.prefault(
            z.record(z.string().check(NAMES_ONE), z.strictObject({ maxLength: z.int().check(z.nonnegative()) })),
            {},
          ),
        }),
        {},
      ),
    }),
    {},
  ),
  stripSetCookie: z.prefault(z.boolean(), false),
  ttl: z.optional(durationSeconds),
  defaultTtl: z.optional(
    z.union([durationSeconds, z.record(status, durationSeconds)], {
      error: ({ input }) =>
        typeof input === "number"
          ? durationError(input)
          : 'is not a duration: write one like "24h", or one for each status like { 200: "24h", 404: "1m" }',
    }),
  ),
  browserTtl: z.optional(durationSeconds.check(z.refine(Number.isInteger, "is not a whole number of seconds"))),
  body: z.optional(z.literal("stream", 'can only be "stream"; otherwise leave it out')),
  requestDirectives: z.prefault(z.enum(["harmless", "all"]), "harmless"),
  stale: z.prefault(stale, {}),
  purge: z.prefault(
    z.strictObject({ maxViewAge: z.optional(maxViewAge), maxViewAgeImmutable: z.optional(maxViewAge) }),
    {},
  ),
  tags: z.prefault(z.array(z.string().check(z.minLength(1))), []),
  deltas: z.optional(z.custom<RouteInput["deltas"]>()), // checked by `deltaSettings`, only for `tidemark serve`
});

/** From a whole network others could purge, too. */
const oneAddress = z
  .string()
  .check(z.refine(isAddress, 'is not one address like "192.0.2.7": callers from other addresses need a token'));

const doorZone = z.string().check(z.regex(/^[\w.-]+$/, 'is not an id of letters, digits, ".", "_" and "-"'));

/** The vendors whose purge calls are taken, each for one of the zones that it knew. */
const doors = z.strictObject({
  cloudflare: z.optional(z.strictObject({ zone: doorZone })),
  fastly: z.optional(z.strictObject({ service: doorZone })),
  keycdn: z.optional(z.strictObject({ zone: doorZone })),
  netlify: z.optional(z.strictObject({ site: doorZone })),
  varnish: z.optional(
    z.union([z.literal(true), z.strictObject({ from: z.array(oneAddress).check(z.minLength(1)) })], {
      error: ({ input }) =>
        typeof input === "object" ? undefined : 'can only be true, or { from: ["192.0.2.7"] }; otherwise leave it out',
    }),
  ),
  vercel: z.optional(z.strictObject({ project: doorZone })),
});

const ORIGIN_IS_REQUIRED =
  'is required: the address of the site, like "https://origin.example.com", or on Workers { service: "APP" }';

/** The origin, with all that is said of it. It has an address or a service. */
interface OriginRules {
  readonly url?: string | readonly string[] | undefined;
  readonly service?: string | undefined;
  readonly concurrency?: number | undefined;
  readonly streams?: number | undefined;
  readonly queue?: QueueLimits | undefined;
}

const originUrl = z.string().check(...refinements(ORIGIN_CHECKS));

const originObject = z
  .strictObject(
    {
      url: z.optional(
        z.union([originUrl, z.readonly(z.array(originUrl).check(z.minLength(1), z.maxLength(16)))], {
          error: "must be an address in quotes, or a list of them",
        }),
      ),
      service: z.optional(z.string().check(z.regex(/^[A-Za-z_$][\w$]*$/, 'is not the name of a binding, like "APP"'))),
      concurrency: z.optional(z.int().check(z.positive(), z.maximum(10_000))),
      streams: z.optional(z.int().check(z.positive(), z.maximum(100_000))),
      queue: z.optional(
        z.strictObject({
          maxMs: z.prefault(z.int().check(z.nonnegative(), z.maximum(60_000)), DEFAULT_QUEUE.maxMs),
          maxWaiting: z.prefault(z.int().check(z.nonnegative(), z.maximum(100_000)), DEFAULT_QUEUE.maxWaiting),
        }),
      ),
    },
    { error: ({ input, code }) => (code === "invalid_type" ? requiredOrigin(input) : undefined) },
  )
  .check(
    z.refine(({ url, service }) => url !== undefined || service !== undefined, "names neither a url nor a service"),
    z.refine(({ url, service }) => url === undefined || service === undefined, "names a url and a service: keep one"),
    z.refine(({ concurrency, queue }) => queue === undefined || concurrency !== undefined, {
      path: ["queue"],
      error: "needs concurrency: without it no request waits",
    }),
    z.refine(({ concurrency, streams }) => streams === undefined || concurrency !== undefined, {
      path: ["streams"],
      error: "needs concurrency: streams have their own limit beside it",
    }),
  );

/** A plain address means an object with a `url`: `withOriginObject` converts it before the check. */
const origin = originObject as z.ZodMiniType<unknown, unknown> as z.ZodMiniType<OriginRules, SiteInput["origin"]>;

function requiredOrigin(input: unknown): string | undefined {
  return input instanceof Object && !Array.isArray(input) ? undefined : ORIGIN_IS_REQUIRED;
}

/** All settings of a site with their defaults. `SiteInput` documents each of them. */
export const siteSchema = z.strictObject({
  origin,
  hosts: z.optional(z.array(z.string().check(...refinements(HOST_CHECKS))).check(z.minLength(1))),
  publicUrl: z.optional(z.string().check(...refinements(PUBLIC_URL_CHECKS))),
  routes: z.prefault(z.array(route), []),
  bypass: z.prefault(bypass, {}),
  store: z.prefault(z.strictObject({ onHead: z.optional(z.boolean()) }), {}),
  fields: z.prefault(fields, {}),
  secondLook: z.prefault(z.boolean(), true),
  stale: z.prefault(stale, {}),
  heuristic: z.optional(
    z.strictObject({ fraction: z.prefault(fraction, 0.1), maxTtl: z.prefault(durationSeconds, "24h") }),
  ),
  targetedField: z.optional(
    fieldName.check(
      z.refine(
        (name) => name.toLowerCase() !== "cache-control",
        "is read by other caches too: name a field that only this cache reads",
      ),
    ),
  ),
  cookies: z.prefault(z.strictObject({ ignore: z.prefault(names, UNREAD_COOKIES) }), {}),
  trustedProxies: z.prefault(z.array(proxyNetwork), []),
  countryField: z.optional(
    lowerCaseName.check(
      z.refine((name) => !name.includes("*"), "has a *, which matches only a *: name one field"),
      z.refine(
        mayTellCountry,
        'cannot tell a country: name a field of the proxy\'s own, like "CloudFront-Viewer-Country"',
      ),
    ),
  ),
  doors: z.prefault(doors, {}),
  forward: z.prefault(
    z.strictObject({
      host: z.prefault(z.enum(["visitor", "origin"]), "origin"),
      realIp: z.prefault(z.boolean(), false),
      forwarded: z.prefault(z.boolean(), false),
    }),
    {},
  ),
  originFields: z.prefault(z.record(originField, fieldValue), {}),
  dashboard: z.prefault(z.boolean(), true),
  compression: z.optional(z.custom<CompressionInput>()), // checked by `compressionSettings`, only for `tidemark serve`
  limits: z.prefault(
    z.strictObject({
      urlBytes: z.prefault(sizeBytes, 16 * 1024),
      requestFieldBytes: z.prefault(sizeBytes, 32 * 1024),
      requestBodyBytes: z.prefault(sizeBytes, 100 * 1024 ** 2),
      heldBodyBytes: z.prefault(sizeBytes, 16 * 1024 ** 2),
      readAheadBytes: z.prefault(sizeBytes, 16 * 1024 ** 2),
      responseFields: z.prefault(z.int().check(z.positive(), z.maximum(MOST_RESPONSE_FIELDS)), 256),
      responseFieldBytes: z.prefault(responseFieldBytes, DEFAULT_MAX_RESPONSE_FIELD_BYTES),
      storeBytes: z.prefault(sizeBytes, 8 * 1024 ** 2),
      largeBytes: z.prefault(sizeBytes, 512 * 1024 ** 2),
      fetchWholeBytes: z.prefault(sizeBytes, 0),
      variants: z.prefault(z.int().check(z.positive()), 32),
      fillBytes: z.prefault(sizeBytes, 32 * 1024 ** 2),
      fills: z.prefault(z.int().check(z.positive()), 256),
      memoryBytes: z.prefault(sizeBytes, 32 * 1024 ** 2),
      tags: z.prefault(z.int().check(z.positive()), DEFAULT_MAX_TAGS),
      originTimeout: z.prefault(longestWait.check(z.refine((ms) => ms > 0, "leaves the origin no time")), "30s"),
      originDownAfter: z.prefault(z.int().check(z.nonnegative(), z.maximum(100)), 0),
      followTimeout: z.prefault(longestWait, "10s"),
    }),
    {},
  ),
  purge: z.prefault(
    z.strictObject({
      leaseMs: z.prefault(z.int().check(z.minimum(100), z.maximum(60_000)), 1000),
      skewMs: z.prefault(z.int().check(z.nonnegative(), z.maximum(MAX_SKEW_MS)), 250),
      softForMs: z.prefault(z.int().check(z.nonnegative(), z.maximum(30 * 24 * 3_600_000)), 0),
      maxViewAgeImmutable: z.prefault(maxViewAge, "0s"),
      push: z.prefault(z.boolean(), false),
      keepViewMs: z.optional(z.int().check(z.nonnegative(), z.maximum(20_000))),
    }),
    {},
  ),
});

/** All settings of a site, with defaults for those that the file leaves out. */
export type SiteRules = z.output<typeof siteSchema>;

export type RouteRules = z.output<typeof route>;

/** A site without mistakes. It is plain data, so that a build can write it into a worker. */
export interface CheckedSite {
  /** The setting as the file has it. */
  readonly given: SiteInput;
  readonly rules: SiteRules;
  /** The rules for the paths that no route matches. */
  readonly elsewhere: RouteRules;
}

/** Checks an owner's rules. Throws `SiteError`. */
export function checkSite(given: SiteInput): CheckedSite {
  const whole = withOriginObject(given);
  const checked = siteSchema.safeParse(whole, IN_WORDS);
  if (!checked.success)
    throw new SiteError(
      siteErrors(checked.error, siteSchema, withPatternsAsText(whole)).map((each) => asGiven(each, given)),
    );
  const rules = checked.data;
  const betweenSettings = [...countryFieldErrors(rules), ...shareErrors(rules)];
  if (betweenSettings.length > 0) throw new SiteError(betweenSettings);
  const wrongTags = rules.routes.flatMap((each, index) => tagTemplateErrors(each, `routes[${index}].tags`));
  if (wrongTags.length > 0) throw new SiteError(wrongTags);
  return { given: withPatternsAsText(given), rules, elsewhere: route.parse({ match: "/*" }) };
}

/** Settings as plain data, which can be written down. */
function withPatternsAsText<T>(value: T): T {
  if (value instanceof RegExp) return String(value) as T;
  if (Array.isArray(value)) return value.map(withPatternsAsText) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withPatternsAsText(each)])) as T;
}

/** The rules with the origin as an object, where they name its address alone. */
function withOriginObject(given: SiteInput): unknown {
  return typeof given?.origin === "string" ? { ...given, origin: { url: given.origin } } : given;
}

/** A mistake in a plain address is reported at `origin`. */
function asGiven(error: { path: string; message: string }, { origin }: SiteInput): { path: string; message: string } {
  return typeof origin === "string" && error.path === "origin.url" ? { ...error, path: "origin" } : error;
}

/** A `countryField` that no proxy may set, or that contradicts a route. */
function countryFieldErrors({ countryField, trustedProxies, routes }: SiteRules) {
  if (countryField === undefined) return [];
  if (trustedProxies.length === 0) {
    const words = `${JSON.stringify(countryField)} could come from any visitor: name the proxy that sends it in trustedProxies`;
    return [{ path: "countryField", message: words }];
  }
  const keying = routes.flatMap(({ key }, index) => (key.fields.includes(countryField) ? [index] : []));
  return keying.map((index) => ({
    path: `routes[${index}].key.fields`,
    message: `names ${JSON.stringify(countryField)}, the countryField, which the origin does not get: write key: { country: true }`,
  }));
}

/** Routes whose share of the origin is not a part of the site's. */
function shareErrors({ origin: { concurrency: ofSite }, routes }: SiteRules) {
  return routes.flatMap(({ concurrency }, index) => {
    if (concurrency === undefined || (ofSite !== undefined && concurrency < ofSite)) return [];
    const message =
      ofSite === undefined
        ? "needs origin.concurrency, because it limits a part of that"
        : `must be less than origin.concurrency, which is ${ofSite}`;
    return [{ path: `routes[${index}].concurrency`, message }];
  });
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

/** Credentials for a proxy go out as they are: the origin may be one. */
function ofConnection(name: string): boolean {
  return [...hopByHopFields(null), "content-length", "expect"].includes(name) && !name.startsWith("proxy-auth");
}

/**
 * A pattern in the spelling of the paths that are held against it: its escapes of what only some clients escape are decoded,
 * with a backslash before what means something in a pattern. Other escapes are spelt as those of paths before its first
 * group, which all that matches has, unless that has dot segments.
 */
function asPathsAre(match: string): string {
  const [start] = /^[^({\\]*/.exec(match)!;
  const spelt = /\/(?:\.|%2e)/i.test(start) ? match : normalEscapes(start) + match.slice(start.length);
  return spelt.replace(ESCAPED_BY_SOME, (encoded) => decodeURIComponent(encoded).replace(/[$()*+:]/, "\\$&"));
}

function isUrlPattern(text: string): boolean {
  try {
    return new URLPattern({ pathname: text }) !== null;
  } catch {
    return false; // URLPattern throws on an invalid pattern
  }
}
