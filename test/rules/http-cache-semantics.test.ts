import fc from "fast-check";
import CachePolicy from "http-cache-semantics";
import { describe, expect, test } from "vitest";
import { readRequestDirectives } from "../../worker/rules/directives/request-directives.ts";
import { Fields } from "../../worker/rules/fields/fields.ts";
import { currentAgeMs } from "../../worker/rules/freshness/current-age.ts";
import { judge, type PurgeKnowledge } from "../../worker/rules/freshness/judge.ts";
import { identityOf } from "../../worker/rules/identity/identity.ts";
import { storable } from "../../worker/rules/storing/storable.ts";
import { NO_STALE_RULES, storedHead } from "./storing/stored-head.ts";

/**
 * A second opinion: the verdicts of these rules beside those of the package `http-cache-semantics`, on generated
 * exchanges. Every difference must be listed in `DIFFERENCES`.
 */

const EXCHANGES = 25_000;
const SEED = 9111;

const NOON = Date.UTC(2026, 0, 1, 12);
const HEURISTIC = { fraction: 0.1, maxSeconds: 365 * 24 * 3600 };

interface Exchange {
  readonly authorized: boolean;
  /** The parsed request of the corridor, which the package does not have. */
  readonly identifying: boolean;
  readonly plain: boolean;
  readonly requestDirectives: string | null;
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly delayMs: number;
  /** The time from the response's arrival to the judgement. */
  readonly heldMs: number;
}

/** The compared properties. A lifetime is that of a response that may be used without validation. */
interface Opinion {
  readonly stores: boolean;
  readonly lifetimeSeconds: number;
  readonly fresh: boolean;
  readonly staleWhileRevalidate: boolean;
  readonly staleIfError: boolean;
}

type Aspect = keyof Opinion;

const NOT_STORED: Opinion = {
  stores: false,
  lifetimeSeconds: 0,
  fresh: false,
  staleWhileRevalidate: false,
  staleIfError: false,
};

const UNPURGED: PurgeKnowledge = { answer: "not-purged", maxViewAgeMs: 1000, awaitsToken: false, madeStaleAt: null };

function ours({ fields, status, delayMs, heldMs, ...request }: Exchange): Opinion {
  const cookies = { identifying: request.identifying, forwarded: request.identifying ? "session=1" : null };
  const verdict = storable(
    {
      identity: identityOf(request.authorized, cookies),
      forbidsStoring: request.requestDirectives === "no-store",
      isPlain: request.plain,
    },
    {
      status,
      requestedAt: NOON - delayMs,
      receivedAt: NOON,
      field: (name) => fields[name] ?? null,
      fields: new Fields(Object.entries(fields)),
    },
    { heuristic: HEURISTIC, targetedFields: [], stale: NO_STALE_RULES },
  );
  if (verdict.kind === "not-stored") return NOT_STORED;
  const { freshness, reuse, initialAgeMs } = verdict;
  const ageMs = currentAgeMs(initialAgeMs, NOON, NOON + heldMs);
  const lifetimeSeconds = reuse.validateAlways ? 0 : freshness.seconds;
  const stored = storedHead({ initialAgeMs, receivedAt: NOON, freshnessSeconds: freshness.seconds, reuse });
  const anyone = {
    authorized: false,
    hasSession: false,
    awaitsPurge: false,
    directives: readRequestDirectives(() => null, "harmless"),
  };
  const fresh = judge(stored, anyone, UNPURGED, NO_STALE_RULES, NOON + heldMs).kind === "fresh";
  const isWithin = (seconds: number | null) =>
    !fresh && reuse.mayServeStale && ageMs < (lifetimeSeconds + (seconds ?? 0)) * 1000;
  return {
    stores: true,
    lifetimeSeconds,
    fresh,
    staleWhileRevalidate: isWithin(reuse.staleWhileRevalidateSeconds),
    staleIfError: isWithin(reuse.staleIfErrorSeconds),
  };
}

/** The package calls this method for the time. */
class PolicyInTime extends CachePolicy {
  heldMs = 0;

  now(): number {
    return NOON + (this.heldMs ?? 0); // Its constructor calls the method before the field exists.
  }
}

function theirs({ authorized, requestDirectives, status, fields, heldMs }: Exchange): Opinion {
  const headers = {
    host: "www.example.test",
    ...(authorized ? { authorization: "Basic eDp5" } : {}),
    ...(requestDirectives === null ? {} : { "cache-control": requestDirectives }),
  };
  const response = { status, headers: { ...fields } };
  const policy = new PolicyInTime({ method: "GET", url: "/a", headers }, response, {
    shared: true,
    cacheHeuristic: HEURISTIC.fraction,
  });
  if (!policy.storable()) return NOT_STORED;
  policy.heldMs = heldMs;
  const next = { method: "GET", url: "/a", headers: { host: "www.example.test" } };
  const { revalidation } = policy.evaluateRequest(next);
  const failed = policy.revalidatedPolicy(next, { status: 503, headers: {} });
  return {
    stores: true,
    lifetimeSeconds: Math.floor(policy.maxAge()),
    fresh: revalidation === undefined,
    staleWhileRevalidate: revalidation?.synchronous === false,
    staleIfError: policy.stale() && !failed.modified,
  };
}

/** An intended difference. It explains only its own exchanges, and only in its own direction. */
interface Difference {
  readonly name: string;
  readonly source: string;
  readonly reason: string;
  readonly aspects: readonly Aspect[];
  /** How these rules differ from the package: they permit more use of a response, or less, or it depends. */
  readonly ours: "freer" | "stricter" | "either";
  readonly when: (exchange: Exchange, there: Opinion) => boolean;
}

const OF_LIFETIME = ["stores", "lifetimeSeconds", "fresh", "staleWhileRevalidate", "staleIfError"] as const;
const OF_AGE = ["stores", "fresh", "staleWhileRevalidate", "staleIfError"] as const;
const WHILE_STALE = ["stores", "staleWhileRevalidate", "staleIfError"] as const;

const says = ({ fields }: Exchange, directive: RegExp) => directive.test(fields["cache-control"] ?? "");
const hasValidator = ({ fields }: Exchange) => "etag" in fields || "last-modified" in fields;

const DIFFERENCES: readonly Difference[] = [
  {
    name: "answers to requests with credentials are stored only if they are for everybody and are not errors",
    source: "RFC 9111 §3.5",
    reason: "the RFC allows it with must-revalidate, too; a mistake there would show one visitor to all",
    aspects: ["stores"],
    ours: "stricter",
    when: ({ authorized }) => authorized,
  },
  {
    name: "answers to requests with cookies must say that they are for all",
    source: "RFC 9111 §7.3",
    reason: "most origins that read cookies do not say so in Vary",
    aspects: ["stores"],
    ours: "stricter",
    when: ({ identifying }) => identifying,
  },
  {
    name: "errors are stored only from plain requests",
    source: "docs/http.md",
    reason: "one odd field must not break a page for all",
    aspects: ["stores"],
    ours: "stricter",
    when: ({ plain, status }) => !plain && status >= 400,
  },
  {
    name: "a response with Set-Cookie is not stored",
    source: "RFC 9111 §7.3",
    reason: "the package stores it, and uses it where it is public",
    aspects: ["stores"],
    ours: "stricter",
    when: ({ fields }) => "set-cookie" in fields,
  },
  {
    name: "a response with Vary: * is not stored",
    source: "RFC 9111 §4.1",
    reason: "no request ever matches it; the package stores it all the same",
    aspects: ["stores"],
    ours: "stricter",
    when: ({ fields }) => fields.vary === "*",
  },
  {
    name: "a body whose end looks the same as a cut connection is not stored",
    source: "RFC 9112 §8",
    reason: "the package does not see bodies",
    aspects: ["stores"],
    ours: "stricter",
    when: ({ fields, status }) => !("content-length" in fields) && status !== 204,
  },
  {
    name: "a response that is never fresh and cannot be validated is not stored",
    source: "RFC 9111 §3",
    reason: "the package stores it and never uses it",
    aspects: ["stores"],
    ours: "stricter",
    when: (exchange, there) => there.stores && there.lifetimeSeconds === 0 && !hasValidator(exchange),
  },
  {
    name: "a response without a lifetime is not stored only because it has a validator",
    source: "RFC 9111 §4.2.2",
    reason: "the package stores each status that may be guessed about, also where it guesses nothing",
    aspects: ["stores"],
    ours: "stricter",
    when: (exchange, there) =>
      there.stores && there.lifetimeSeconds === 0 && !hasLifetime(exchange) && !says(exchange, /no-cache/),
  },
  {
    name: "a response that is stale on arrival and cannot be validated is not stored",
    source: "RFC 9111 §4.2",
    reason: "the package stores it and never uses it",
    aspects: ["stores"],
    ours: "stricter",
    when: (exchange) => !hasValidator(exchange) && hasAge(exchange),
  },
  {
    name: "every final status may be stored with explicit freshness",
    source: "RFC 9111 §3",
    reason: "the package stores those that it lists",
    aspects: ["stores"],
    ours: "freer",
    when: ({ status }) => [299, 400, 403, 500, 502, 503, 599].includes(status),
  },
  {
    name: "private with names leaves these fields out",
    source: "RFC 9111 §5.2.2.7",
    reason: "the package takes it for private",
    aspects: ["stores"],
    ours: "freer",
    when: (exchange) => says(exchange, /private="/),
  },
  {
    name: "no-cache with names leaves these fields out",
    source: "RFC 9111 §5.2.2.4",
    reason: "the package takes it for no-cache",
    aspects: OF_LIFETIME,
    ours: "either",
    when: (exchange) => says(exchange, /no-cache="/),
  },
  {
    name: "must-understand overrides no-store",
    source: "RFC 9111 §5.2.2.3",
    reason: "the package does not read it",
    aspects: ["stores"],
    ours: "freer",
    when: (exchange) => says(exchange, /must-understand, no-store/),
  },
  {
    name: "CDN-Cache-Control replaces Cache-Control",
    source: "RFC 9213 §2.2",
    reason: "the package does not read it",
    aspects: OF_LIFETIME,
    ours: "either",
    when: ({ fields }) => ["max-age=60", "no-store"].includes(fields["cdn-cache-control"] ?? ""),
  },
  {
    name: "directives are read in any letter case",
    source: "RFC 9111 §5.2",
    reason: "the package reads lower case alone",
    aspects: OF_LIFETIME,
    ours: "either",
    when: (exchange) => says(exchange, /[A-Z]/),
  },
  {
    name: "an unreadable field forbids storing",
    source: "RFC 9111 §4.2.1",
    reason: "the package passes over what it cannot read",
    aspects: ["stores"],
    ours: "stricter",
    when: (exchange) => says(exchange, /private; x/),
  },
  {
    name: "if there are two lifetimes, the shorter counts",
    source: "RFC 9111 §4.2.1",
    reason: "with the package the last one does",
    aspects: OF_LIFETIME,
    ours: "either",
    when: (exchange) => says(exchange, /\bmax-age=.*\bmax-age=|s-maxage=.*s-maxage=/),
  },
  {
    name: "a lifetime that is not a whole number makes the response stale",
    source: "RFC 9111 §4.2.1",
    reason: "the package takes the digits in front, or lets another field speak",
    aspects: OF_LIFETIME,
    ours: "either",
    when: (exchange) => says(exchange, /max-?age=(?:1h|1\.5|5x|-1|$)/),
  },
  {
    name: "a stale window that is not a whole number is ignored",
    source: "RFC 9111 §1.2.2",
    reason: "the package takes the digits in front",
    aspects: WHILE_STALE,
    ours: "stricter",
    when: (exchange) => says(exchange, /=10s/),
  },
  {
    name: "no lifetime is longer than 2147483648 s",
    source: "RFC 9111 §1.2.2",
    reason: "the package knows no largest number",
    aspects: OF_LIFETIME,
    ours: "stricter",
    when: (exchange) => says(exchange, /max-age=99999999999/),
  },
  {
    name: "proxy-revalidate applies only to stale responses",
    source: "RFC 9111 §5.2.2.8",
    reason: "the package takes it for no lifetime at all",
    aspects: ["stores", "lifetimeSeconds", "fresh"],
    ours: "freer",
    when: (exchange) => says(exchange, /proxy-revalidate/),
  },
  {
    name: "must-revalidate applies only to stale responses",
    source: "RFC 9111 §5.2.2.2",
    reason: "the package validates fresh ones, too",
    aspects: ["fresh"],
    ours: "freer",
    when: (exchange) => says(exchange, /must-revalidate/),
  },
  {
    name: "must-revalidate, proxy-revalidate, s-maxage and no-cache forbid stale answers",
    source: "RFC 9111 §4.2.4",
    reason: "the package looks at must-revalidate alone, and not for errors",
    aspects: WHILE_STALE,
    ours: "stricter",
    when: (exchange) => says(exchange, /must-revalidate|proxy-revalidate|s-maxage|no-cache/),
  },
  {
    name: "immutable gives no lifetime",
    source: "RFC 8246 §2",
    reason: "the package takes it for a day where none is given",
    aspects: OF_LIFETIME,
    ours: "either",
    when: (exchange) => says(exchange, /immutable/),
  },
  {
    name: "an Expires that is not an HTTP date counts as in the past",
    source: "RFC 9111 §5.3",
    reason: "the package reads whatever the JavaScript engine takes for a date",
    aspects: OF_LIFETIME,
    ours: "either",
    when: ({ fields }) => ["2027-01-01", "31 Feb", "EST"].some((part) => fields.expires?.includes(part)),
  },
  {
    name: "a Date in the future does not lengthen a heuristic lifetime",
    source: "RFC 9111 §4.2.2",
    reason: "the package believes it",
    aspects: OF_LIFETIME,
    ours: "either",
    when: ({ fields }) => fields.date === dateAt(30) && "last-modified" in fields,
  },
  {
    name: "Pragma in a response has no effect",
    source: "RFC 9111 §5.4",
    reason: "the package takes it for no-cache",
    aspects: OF_LIFETIME,
    ours: "either",
    when: ({ fields }) => fields.pragma === "no-cache" && !("cache-control" in fields),
  },
  {
    name: "Date and the time to the answer count for the age",
    source: "RFC 9111 §4.2.3",
    reason: "the package looks at Age alone",
    aspects: OF_AGE,
    ours: "either",
    when: ({ fields, delayMs }) => fields.date === dateAt(-30) || delayMs > 0,
  },
  {
    name: "an Age that is not a whole number is ignored",
    source: "RFC 9111 §5.1",
    reason: "the package takes the digits in front, or a negative number",
    aspects: OF_AGE,
    ours: "either",
    when: ({ fields }) => ["5.5", "-5"].includes(fields.age ?? ""),
  },
];

function hasAge({ fields, delayMs }: Exchange): boolean {
  return "age" in fields || fields.date === dateAt(-30) || delayMs > 0;
}

function hasLifetime(exchange: Exchange): boolean {
  return "expires" in exchange.fields || says(exchange, /max-?age=/i);
}

const seconds = fc.constantFrom(0, 10, 60, 600);
const rarely = <T>(value: fc.Arbitrary<T>, absent: T): fc.Arbitrary<T> =>
  fc.oneof({ weight: 14, arbitrary: fc.constant(absent) }, { weight: 1, arbitrary: value });
const often = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { freq: 2 });
const dateAt = (offsetSeconds: number) => new Date(NOON + offsetSeconds * 1000).toUTCString();

/** `Cache-Control` as most origins write it, and sometimes as only some do. */
const cacheControl = fc
  .record({
    usual: fc.uniqueArray(
      fc.oneof(
        seconds.map((value) => `max-age=${value}`),
        seconds.map((value) => `s-maxage=${value}`),
        seconds.map((value) => `stale-while-revalidate=${value}`),
        seconds.map((value) => `stale-if-error=${value}`),
        fc.constantFrom("public", "no-transform", "x-unknown=1"),
      ),
      { selector: (member) => member.split("=")[0], maxLength: 4 },
    ),
    limiting: rarely<string | null>(
      fc.constantFrom("no-store", "no-cache", "private", "must-revalidate", "proxy-revalidate"),
      null,
    ),
    odd: rarely<string | null>(
      fc.constantFrom(
        "No-Store",
        "Private",
        "MAX-AGE=60",
        "max-age=5",
        "s-maxage=5",
        "max-age=1h",
        "max-age=1.5",
        "max-age=-1",
        "max-age=",
        "s-maxage=5x",
        "max-age=99999999999",
        "private; x",
        'private="x-user"',
        'no-cache="x-user"',
        "immutable",
        "must-understand",
        "must-understand, no-store",
        "stale-while-revalidate=10s",
        "stale-if-error=10s",
        'max-age="60"',
      ),
      null,
    ),
  })
  .map(({ usual, limiting, odd }) => [...usual, limiting, odd].filter((member) => member !== null).join(", "));

const fields = fc
  .record({
    "cache-control": fc.option(cacheControl, { freq: 8 }),
    "cdn-cache-control": rarely<string | null>(fc.constantFrom("max-age=60", "no-store", "max-age="), null),
    date: rarely<string | null>(fc.constantFrom(null, dateAt(-30), dateAt(30)), dateAt(0)),
    expires: fc.option(
      fc.oneof(
        { weight: 10, arbitrary: seconds.map(dateAt) },
        { weight: 2, arbitrary: fc.constantFrom("0", dateAt(-60), "Thursday, 01-Jan-26 12:01:00 GMT") },
        {
          weight: 1,
          arbitrary: fc.constantFrom("2027-01-01", "Sun, 31 Feb 2027 12:00:00 GMT", "Fri, 01 Jan 2027 12:00:00 EST"),
        },
      ),
      { freq: 2, nil: null },
    ),
    age: rarely<string | null>(fc.constantFrom("5", "30", "600", "5, 600", "5.5", "-5", "x", "99999999999"), null),
    "last-modified": often(fc.constantFrom(dateAt(-100), dateAt(-10_000), dateAt(60))),
    etag: often(fc.constantFrom('"1"', 'W/"1"')),
    "set-cookie": rarely<string | null>(fc.constant("a=1"), null),
    vary: rarely<string | null>(fc.constantFrom("*", "accept-language"), null),
    pragma: rarely<string | null>(fc.constant("no-cache"), null),
    "content-length": rarely<string | null>(fc.constant(null), "2"),
  })
  .map((all) =>
    Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null)),
  );

const exchanges: fc.Arbitrary<Exchange> = fc.record({
  authorized: rarely(fc.constant(true), false),
  identifying: rarely(fc.constant(true), false),
  plain: rarely(fc.constant(false), true),
  requestDirectives: rarely<string | null>(fc.constant("no-store"), null),
  status: fc.oneof(
    { weight: 6, arbitrary: fc.constant(200) },
    { weight: 3, arbitrary: fc.constantFrom(203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501) },
    { weight: 1, arbitrary: fc.constantFrom(206, 299, 304, 400, 401, 403, 429, 500, 502, 503, 599) },
  ),
  fields,
  delayMs: rarely(fc.constant(1500), 0),
  heldMs: fc.constantFrom(0, 9_999, 10_000, 10_001, 59_999, 60_000, 60_001, 69_999, 70_000, 599_999, 600_000, 660_000),
});

/** Whether a difference has the direction of the entry. */
function isExplainedBy(
  difference: Difference,
  aspect: Aspect,
  exchange: Exchange,
  there: Opinion,
  isFreer: boolean,
): boolean {
  if (!difference.aspects.includes(aspect) || !difference.when(exchange, there)) return false;
  return difference.ours === "either" || (difference.ours === "freer") === isFreer;
}

describe("these rules beside http-cache-semantics", () => {
  const occurred = new Map<Difference, number>(DIFFERENCES.map((difference) => [difference, 0]));
  const unexplained = new Map<string, unknown>();
  let plainly = 0;
  for (const exchange of fc.sample(exchanges, { numRuns: EXCHANGES, seed: SEED })) {
    const [here, there] = [ours(exchange), theirs(exchange)];
    const differing = (Object.keys(here) as Aspect[]).filter((aspect) => here[aspect] !== there[aspect]);
    const compared = here.stores === there.stores ? differing : (["stores"] as const);
    if (!DIFFERENCES.some((difference) => difference.when(exchange, there))) plainly++;
    for (const aspect of compared) {
      const isFreer = Number(here[aspect]) > Number(there[aspect]);
      const explaining = DIFFERENCES.filter((each) => isExplainedBy(each, aspect, exchange, there, isFreer));
      const [only] = explaining;
      if (explaining.length === 1 && only) occurred.set(only, occurred.get(only)! + 1);
      if (explaining.length === 0) unexplained.set(JSON.stringify(exchange), { aspect, here, there });
    }
  }

  test(`in ${EXCHANGES} exchanges, every verdict is the same or differs as intended`, () => {
    expect([...unexplained].slice(0, 3)).toEqual([]);
  });

  test("in exchanges without an intended difference, both agree", () => {
    expect(plainly).toBeGreaterThan(5_000);
  });

  test.each(DIFFERENCES)("intended: $name ($source): $reason", (difference) => {
    expect(occurred.get(difference)).toBeGreaterThan(0);
  });
});
