import type { MachineStats, ProcessStats } from "../../wire/machine-stats.ts";
import type {
  MemoryStats,
  RouteStats,
  SiteCounts,
  SiteStats,
  SpanStats,
  TimeStats,
  TopUrlStats,
} from "../../wire/stats.ts";

const HOUR_MS = 3_600_000;

/** The end of the time that made-up stats cover. */
export const TO = Date.UTC(2026, 2, 14, 16, 20);

const POPS = (
  "FRA CDG LHR AMS MAD MXP ARN WAW VIE ZRH DUB CPH HEL OSL BRU PRG BUD LIS ATH IST " +
  "EWR IAD ORD DFW LAX SJC SEA MIA ATL DEN YYZ YVR GRU EZE SCL BOG MEX " +
  "NRT ICN SIN HKG TPE BOM DEL SYD MEL AKL JNB CAI DXB"
).split(" ");

export interface MadeUp {
  /** Up to 50. */
  readonly pops: number;
  /** Whether the edge is a server of one's own, whose stats have its machine. */
  readonly machine?: boolean;
  /** Put into every name that visitors, the origin or callers choose. */
  readonly mark?: string;
}

/** Stats of a day with a quiet night, as the edge would answer them: the sums are those of their parts. */
export function madeUpStats({ pops, machine, mark = "" }: MadeUp): SiteStats {
  const names = POPS.slice(0, pops).map((name) => name + mark);
  const shares = names.map((_, index) => 1 / (index + 1.5));
  const all = shares.reduce((sum, share) => sum + share, 0);
  const spans = pops === 0 ? [] : Array.from({ length: 25 }, (_, index) => spanAt(index));
  const total = (of: (span: SpanStats) => number) => spans.reduce((sum, span) => sum + of(span), 0);
  const whole = countsOf(
    total(({ requests }) => requests),
    total(({ fromCache }) => fromCache),
    mark,
  );
  return {
    version: 1,
    scope: "site",
    from: new Date(hourAt(0)).toISOString(),
    to: new Date(TO).toISOString(),
    pop: null,
    isolates:
      pops === 0
        ? {
            reported: 0,
            silent: 0,
            alive: 0,
            memoryBytes: 0,
            memoryMaxBytes: 0,
            heardMs: 0,
            unheardMs: 0,
            heardShare: 1,
          }
        : {
            reported: pops * 7,
            silent: 2,
            alive: pops * 3,
            memoryBytes: pops * 61e6,
            memoryMaxBytes: pops * 96e6,
            heardMs: 9_971,
            unheardMs: 29,
            heardShare: 0.9971,
          },
    ...whole,
    ...(pops > 0 && { waits: timesOf(whole.requests, 11) }),
    ...(pops > 0 && { memory: memoryOf(whole.requests) }),
    ...(machine && { machine: machineOf(mark), ...BUSY, origin: { ...whole.origin, awaited: 412, turnedAway: 7 } }),
    spanMs: HOUR_MS,
    spans,
    routes: pops === 0 ? {} : routesOf(whole.requests, mark),
    top: pops === 0 ? null : topOf(mark),
    pops: Object.fromEntries(
      names.map((name, index) => {
        const requests = Math.round((whole.requests * shares[index]!) / all);
        return [name, countsOf(requests, Math.round(requests * (0.97 - 0.006 * index)), mark)];
      }),
    ),
  };
}

/** A memory that is too small. */
function memoryOf(uses: number): MemoryStats {
  const maxBytes = 32 * 1024 ** 2;
  const hitRatios = [0.34, 0.46, 0.6, 0.74, 0.86, 0.91];
  const curve = hitRatios.map((hitRatio, index) => ({ bytes: maxBytes * 2 ** (index - 2), hitRatio }));
  return { uses, held: Math.round(uses * 0.63), maxBytes, curve };
}

/** A machine with two workers and an old one, at a busy moment. */
function machineOf(mark: string): MachineStats {
  const queue = (running: number, waiting: number) => {
    return { running, concurrency: 32, waiting, maxWaiting: 512, longestWaitMs: waiting * 70 };
  };
  const [maxOpenFiles, maxConnections] = [65_536, 20_000];
  const process = (name: string, pid: number, residentBytes: number, connections: number): ProcessStats => {
    const origin = queue(connections > 100 ? 16 : 0, connections > 600 ? 19 : 0);
    const memory = {
      entries: connections * 9,
      bytes: connections * 190_000,
      maxBytes: 128 * 1024 ** 2,
      evictions: 412,
    };
    const worker = connections === 0 ? null : { connections, maxConnections, memory, origin };
    return { name, pid, isDraining: pid === 4102, residentBytes, openFiles: connections + 41, maxOpenFiles, worker };
  };
  return {
    name: `www-1${mark}`,
    memory: { bytes: 231_000_000, maxBytes: 256 * 1024 ** 2 },
    disk: { usedBytes: 6.2e9, maxBytes: 10.1e9, freeBytes: 48.3e9, files: 180_431, evictions: 2_210 },
    origin: { ...queue(32, 19), maxWaiting: 1_024 },
    processes: [
      process("supervisor", 4100, 96e6, 0),
      process("worker-2", 4102, 211e6, 12),
      process("worker-3", 4117, 388e6, 604),
      process("worker-4", 4118, 374e6, 588),
    ],
    log: { isWritable: true, freeBytes: 48.3e9 },
    workerDeaths: 1,
    certificates: [
      {
        file: `/etc/letsencrypt/live/www.example.com/fullchain.pem${mark}`,
        names: [`www.example.com${mark}`],
        expiresAt: new Date(TO + 52.5 * 24 * HOUR_MS).toISOString(),
      },
      {
        file: "/etc/letsencrypt/live/old.example.com/fullchain.pem",
        names: ["old.example.com"],
        expiresAt: new Date(TO + 6.2 * 24 * HOUR_MS).toISOString(),
      },
    ],
    inWords: [],
  };
}

function hourAt(index: number): number {
  return Math.floor(TO / HOUR_MS) * HOUR_MS + (index - 24) * HOUR_MS;
}

const BUSY = { queue: { awaited: { editor: 2, known: 104, other: 306 }, turnedAway: { other: 7 } } };

/** A day's curve, with an hour in which the origin was slow and everything was purged. */
function spanAt(index: number): SpanStats {
  const wave = 1 - Math.cos(((index - 10) / 24) * 2 * Math.PI);
  const isBad = index === 18;
  const requests = Math.round(21_000 + 32_000 * wave + 2_300 * Math.sin(index * 2.7));
  const ratio = isBad ? 0.71 : 0.945 - 0.02 * Math.sin(index * 1.3);
  const fromCache = Math.round(requests * ratio);
  const asked = Math.round((requests - fromCache) * 0.82);
  const originMs = (isBad ? 890 : 212) + 40 * Math.sin(index * 1.9);
  return {
    at: new Date(hourAt(index)).toISOString(),
    requests,
    fromCache,
    statuses: statusesOf(requests),
    origin: { asked, answered: asked - (isBad ? 57 : 0), failed: isBad ? 57 : 0, awaited: 0, turnedAway: 0 },
    bytes: { fromCache: fromCache * 34_000, fromOrigin: asked * 29_000, unmeasuredBodies: 3 },
    times: { shared: timesOf(requests, 9 + 2 * Math.sin(index)), origin: timesOf(asked, originMs) },
  };
}

function timesOf(count: number, p50Ms: number): TimeStats {
  const [median, p95Ms, p99Ms] = [p50Ms, p50Ms * 2.4, p50Ms * 4.1].map((ms) => Number(ms.toPrecision(4)));
  return { count, meanMs: median!, p50Ms: median!, p95Ms: p95Ms!, p99Ms: p99Ms! };
}

function statusesOf(requests: number): Record<string, number> {
  if (requests === 0) return {};
  const [notFound, unavailable] = [Math.round(requests * 0.004), Math.round(requests * 0.0006)];
  return { 200: requests - notFound - unavailable, 404: notFound, 502: unavailable };
}

function countsOf(requests: number, fromCache: number, mark: string): SiteCounts {
  const part = (share: number) => Math.round(fromCache * share);
  const rest = requests - fromCache;
  const asked = Math.round(rest * 0.82);
  const own = requests === 0 ? 0 : 41;
  const [BYPASS, EXPIRED] = [Math.round(rest * 0.31), Math.round(rest * 0.12)];
  const named = (counts: Record<string, number>) =>
    Object.fromEntries(Object.entries(requests === 0 ? {} : counts).map(([name, count]) => [name + mark, count]));
  return {
    requests,
    fromCache,
    answers:
      requests === 0
        ? {}
        : {
            HIT: fromCache - part(0.02) - part(0.001) - part(0.006),
            UPDATING: part(0.02),
            STALE: part(0.001),
            REVALIDATED: part(0.006),
            EXPIRED,
            MISS: rest - BYPASS - EXPIRED - own,
            BYPASS,
          },
    statuses: statusesOf(requests),
    answeredByEdge: named({ "unknown-host": own }),
    queue: { awaited: {}, turnedAway: {} },
    origin: {
      asked,
      answered: asked - (requests === 0 ? 0 : 57),
      failed: requests === 0 ? 0 : 57,
      awaited: 0,
      turnedAway: 0,
    },
    store: {
      stored: Math.round(asked * 0.6),
      storedBytes: asked * 17_000,
      failed: 0,
      refused: named({
        "set-cookie": Math.round(asked * 0.11),
        "unkeyed-field": Math.round(asked * 0.08),
        private: Math.round(asked * 0.05),
        "no-freshness": Math.round(asked * 0.02),
        "too-large": 12,
      }),
      unkeyedFields: named({ "x-app-version": Math.round(asked * 0.07), "hx-request": Math.round(asked * 0.01) }),
      discarded: {},
    },
    secondLooks: { asked: 900, marked: 2 },
    deltas: { sent: 0, bytes: 0, savedBytes: 0 },
    collapsed: Math.round(rest * 0.07),
    askedPastTheCache: BYPASS,
    tokensRefused: 1,
    log: { reads: Math.round(requests / 40), failedReads: 0, shared: 40_000 },
    purges: 38,
    invalidationsDropped: 0,
    failures: 0,
    bytes: { fromCache: fromCache * 34_000, fromOrigin: asked * 29_000, unmeasuredBodies: 70 },
    times: requests === 0 ? {} : { shared: timesOf(fromCache, 11), origin: timesOf(asked, 238) },
    purgedKeysRead: 380,
  };
}

function routesOf(requests: number, mark: string): SiteStats["routes"] {
  const shares = [
    ["/images/*", 0.46, 0.993],
    ["/plog/:slug", 0.21, 0.96],
    ["/api/search/autocomplete", 0.14, 0.88],
    ["(none)", 0.08, 0.81],
    ["/songs", 0.07, 0.79],
    ["/admin{/*}?", 0.04, 0],
  ] as const;
  return Object.fromEntries(
    shares.map(([pattern, share, ratio]) => {
      const { fromCache, answers, statuses, bytes, times } = countsOf(
        Math.round(requests * share),
        Math.round(requests * share * ratio),
        mark,
      );
      const { origin, ...cached } = times;
      const isPassed = ratio === 0;
      return [
        pattern + mark,
        {
          requests: Math.round(requests * share),
          fromCache,
          answers,
          statuses,
          bytes: { fromCache: bytes.fromCache, fromOrigin: bytes.fromOrigin },
          times: { ...(!isPassed && cached), origin },
          refused: {},
          compared: pattern === "/songs" ? { ...NOTHING_COMPARED, keys: splitBy(requests, mark) } : NOTHING_COMPARED,
        },
      ];
    }),
  );
}

/** A parameter by which the same page is fetched again and again. */
function splitBy(requests: number, mark: string): RouteStats["compared"]["keys"] {
  return { [`drop sid${mark}`]: { fetches: Math.round(requests * 0.009), same: 412, different: 0 } };
}

function topOf(mark: string): NonNullable<SiteStats["top"]> {
  const list = (paths: readonly string[], first: number, because?: readonly string[]): TopUrlStats[] =>
    paths.map((path, index) => ({
      url: `https://www.example.com${path}${mark}`,
      weight: Math.round(first / (index + 1)),
      error: index > 4 ? Math.round(first / 90) : 0,
      times: Math.round(first / (index + 1)),
      ...(because && { because: because[index % because.length]! + mark }),
    }));
  const pages = Array.from(
    { length: 11 },
    (_, index) => `/plog/${["slack-water", "the-long-tide", "a-harbour-at-night"][index % 3]}-${index}`,
  );
  const searches = ["lantern", "harbour", "tide", "north", "salt", "gull"].map(
    (word) => `/api/search?q=${word}&page=2`,
  );
  return {
    missed: list([...searches, ...pages], 4_120),
    bytes: list(["/images/cover-100k.jpg", "/images/cover-32k.jpg", ...pages], 1_900_000_000),
    slowest: list([...searches, "/songs", "/sitemap.xml"], 612_000),
    notStored: list(["/api/me", "/cart", "/api/search", "/songs", "/account"], 2_870, [
      "set-cookie",
      "private",
      "unkeyed-field",
    ]),
  };
}

const NOTHING_COMPARED: RouteStats["compared"] = {
  keys: {},
  lifetimes: {},
  missingLifetimes: {},
  refetched: { same: 0, different: 0, elapsedMs: 0 },
  visitors: { same: 0, different: 0 },
};
