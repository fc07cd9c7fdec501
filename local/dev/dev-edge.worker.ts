/**
 * `tidemark/worker` as the dev command runs it: the same edge and the same log on the running clock, with the round trips
 * of public networks if they are wanted, and a line for each request. A deployed worker has none of this.
 */
import type { EdgeEnv, SiteInput } from "tidemark/worker";
import { createEdgeWithHooks, type Platform } from "tidemark/worker/internal";
import { EARLY_PURGES_FIELD } from "../../wire/fields.ts";
import { SIMULATED_REGIONS_PATH } from "../../wire/simulated-regions.ts";
import {
  behindNetwork,
  pause,
  purgeLogOf,
  reachesLog,
  type SimulatedNetwork,
  SimulatedPurgeLog,
  withPublicUrl,
  withRoundTrip,
} from "../runtime/simulated-network.worker.ts";
import { type AcceptedPurge, EarlyPurges, earlyPurgeLine } from "./early-purges.ts";
import { LOGIN_PATH, LoginCode } from "./login-code.ts";
import { ownCacheStatus } from "./own-cache-status.ts";
import { type DevSettings, ENTRY_PREFIX, type LogEntry } from "./request-log-entry.ts";

/** The log of the dev command. */
export class PurgeLog extends SimulatedPurgeLog {
  constructor(state: DurableObjectState, env: EdgeEnv) {
    super(state, env);
    const isNew = state.storage.sql.exec("SELECT 1 FROM sqlite_schema WHERE name = 'state'").toArray().length === 0;
    if (isNew) this.begin();
  }
}

type DevEnv = EdgeEnv & { readonly DEV: DevSettings };
type IncomingRequest = Request<unknown, IncomingRequestCfProperties>;

/** What is known of one request while it is answered. */
interface OriginTime {
  /** The time that it has waited for the origin; `null` until it asks. */
  originMs: number | null;
  /** Resolves once the request is answered: to the purge because of which it fetched pages again, or `null`. */
  readonly refetchedFor: Promise<AcceptedPurge | null>;
  /** Goes on with something behind the answer. */
  behind(work: Promise<unknown>): void;
}

/** An `AsyncLocalStorage`: the entry makes it, because the runtime's types do not know `node:async_hooks`. */
export interface OriginTimeOfRequest {
  run<T>(originTime: OriginTime, work: () => T): T;
  getStore(): OriginTime | undefined;
}

/** How long a runtime may take to find the log of another one, and how often it tries. */
const FIND_LOG_MS = 10_000;
const FIND_LOG_EVERY_MS = 10;

/** The PoP of an edge without a region. */
const ONLY_EDGE = "dev";

/** The items of a larger purge are not read: its log line gives their numbers. */
const MAX_READ_BYTES = 64 * 1024;

/** A purge that takes longer to settle is not waited for, in milliseconds. */
const MAX_SETTLING_MS = 60_000;

/** Calls of monitors and of the dashboard, which would only fill the log. */
const UNLOGGED = new Set(
  ["", "health", "stats", "metrics", "openapi.json", "session", "purges", "explain", "site"].map(
    (name) => `/_tidemark/${name}`,
  ),
);

const PURGE_PATH = "/_tidemark/purge";

/** Tells the client of a purge, `?purge=SEQ`, which pages were fetched again and had not changed. */
const EARLY_PURGES_PATH = "/_tidemark/dev/early-purges";

/** Lets the isolate of this edge report, for the edge of another region whose stats are read. */
const REPORT_PATH = "/_tidemark/dev/report";

/** What is known of a request to that path. */
const FOR_ANOTHER_REGION: OriginTime = {
  originMs: null,
  refetchedFor: Promise.resolve(null),
  behind: () => undefined,
};

const earlyPurges = new EarlyPurges();
const loginCode = new LoginCode();

/** The edge for a site, as `createEdge` of `tidemark/worker` makes it, on this machine's network. */
export function createDevEdge(site: SiteInput, originTimes: OriginTimeOfRequest): ExportedHandler<DevEnv> {
  let settings: DevSettings | undefined;
  const edge = createEdgeWithHooks(site, {
    acceptsWeakTokens: true,
    platform: (platform) =>
      behindNetwork(
        watching(reporting(platform, settings!, originTimes), originTimes),
        networkOf(settings!, originTimes),
      ),
  });
  let edgeEnv: DevEnv | undefined;
  let isLogFound = false;
  return {
    async fetch(request, env, context) {
      settings ??= env.DEV;
      // Where neither the site nor the command names a public address, all regions serve the same one.
      edgeEnv ??= settings.publicUrl === null ? env : withPublicUrl(site, env, settings.publicUrl);
      if (settings.isLogElsewhere && !isLogFound) {
        await waitForLog(env);
        isLogFound = true;
      }
      const answer = () => edge.fetch!(request, edgeEnv!, context) as Promise<Response>;
      const { pathname } = new URL(request.url);
      if (UNLOGGED.has(pathname)) return answer();
      if (pathname === LOGIN_PATH) return loginCode.exchange(request, settings.loginCode, env.TIDEMARK_TOKEN);
      if (pathname === SIMULATED_REGIONS_PATH) return Response.json({ regions: settings.regions });
      if (pathname === REPORT_PATH) {
        const headers = { authorization: `Bearer ${env.TIDEMARK_TOKEN}` };
        const stats = new Request(new URL("/_tidemark/stats?last=1h", request.url), { headers }) as IncomingRequest;
        return originTimes.run(FOR_ANOTHER_REGION, async () => edge.fetch!(stats, edgeEnv!, context));
      }
      if (pathname === EARLY_PURGES_PATH) {
        return Response.json(earlyPurges.after(Number(new URL(request.url).searchParams.get("purge"))));
      }
      const isPurge = request.method === "PURGE" || (request.method === "POST" && pathname === PURGE_PATH);
      return isPurge
        ? logPurge(request, answer, context, originTimes, site.purge?.push ? purgeLogOf(env) : null)
        : logRequest(request, answer, context, originTimes);
    },
  };
}

/** Answers a request. `resolve` tells the purge because of which it has fetched pages again, or `null`. */
async function watched(
  answer: () => Promise<Response>,
  context: ExecutionContext,
  originTimes: OriginTimeOfRequest,
): Promise<{ originTime: OriginTime; resolve: (purge: AcceptedPurge | null) => void; response: Response }> {
  const { promise: refetchedFor, resolve } = Promise.withResolvers<AcceptedPurge | null>();
  const originTime: OriginTime = { originMs: null, refetchedFor, behind: (work) => context.waitUntil(work) };
  try {
    return { originTime, resolve, response: await originTimes.run(originTime, answer) };
  } catch (error) {
    resolve(null);
    throw error;
  }
}

async function logRequest(
  { method, url }: IncomingRequest,
  answer: () => Promise<Response>,
  context: ExecutionContext,
  originTimes: OriginTimeOfRequest,
): Promise<Response> {
  const startedAt = Date.now();
  const { originTime, resolve, response } = await watched(answer, context, originTimes);
  const status = ownCacheStatus(response.headers.get("cache-status"));
  resolve(status.detail === "purged" || status.detail === "soft-purge" ? earlyPurges.purgeBefore(startedAt) : null);
  writeEntry({
    kind: "request",
    method,
    path: pathOf(url),
    status: response.status,
    xCache: response.headers.get("x-cache"),
    ageS: numberOf(response.headers.get("age")),
    ...status,
    ms: Date.now() - startedAt,
    originMs: originTime.originMs,
  });
  return response;
}

async function logPurge(
  request: IncomingRequest,
  answer: () => Promise<Response>,
  context: ExecutionContext,
  originTimes: OriginTimeOfRequest,
  pushingLog: PushingLog | null,
): Promise<Response> {
  const startedAt = Date.now();
  const { method, url } = request;
  const isShort = Number(request.headers.get("content-length") ?? Number.NaN) <= MAX_READ_BYTES;
  const readable = method === "POST" && isShort ? request.clone() : null;
  const { resolve, response } = await watched(answer, context, originTimes);
  const { status } = response;
  const ms = Date.now() - startedAt;
  if (status !== 200) {
    resolve(null);
    writeEntry({ kind: "purge", method, status, purged: [], seq: null, settlesInMs: null, ms });
    return response;
  }
  const receipt = await response.clone().json<Receipt>();
  const { seq, settlesInMs, accepted, dryRun } = receipt;
  const purge = dryRun ? null : { seq, at: startedAt };
  if (purge) earlyPurges.accepted(purge);
  resolve(purge);
  context.waitUntil(
    (async () => {
      const items = readable && (await readable.json<Items>());
      const purged = method === "PURGE" ? [pathOf(url)] : items ? namesOf(items) : countsOf(accepted);
      writeEntry({ kind: "purge", method, status, purged, seq, settlesInMs, ms });
      if (purge && pushingLog) await logSettled(receipt, startedAt, pushingLog);
    })(),
  );
  if (purge === null) return response;
  const told = new Response(response.body, response);
  told.headers.set(EARLY_PURGES_FIELD, `${EARLY_PURGES_PATH}?purge=${seq}`);
  return told;
}

/** Says when a purge has settled, and why, unless that takes very long. */
async function logSettled(receipt: Receipt, startedAt: number, log: PushingLog): Promise<void> {
  const { seq, settlesInMs, maySettleSooner } = receipt;
  if (settlesInMs > MAX_SETTLING_MS) return;
  await log.find(seq, settlesInMs + 1000);
  const afterMs = Date.now() - startedAt;
  const by = maySettleSooner && afterMs < settlesInMs ? "confirmations" : "clock";
  writeEntry({ kind: "settled", seq, afterMs, by });
}

/** The same platform, which knows where it is, and whose isolate, as those of all regions, reports before its stats are read. */
function reporting(platform: Platform, { region, regions }: DevSettings, originTimes: OriginTimeOfRequest): Platform {
  const { ledger } = platform;
  if (ledger === undefined) return platform;
  const read: NonNullable<typeof ledger.read> = async (report, ...asked) => {
    const others = regions.filter((each) => each.region !== region && originTimes.getStore() !== FOR_ANOTHER_REGION);
    const [haveReported] = await Promise.all([Promise.all(others.map(letReport)), report()]);
    const reading = await ledger.client.readLedger(...asked);
    if (haveReported.includes(false)) return reading;
    return JSON.stringify({ ...JSON.parse(reading), isCurrent: true });
  };
  return { ...platform, ledger: { ...ledger, pop: region ?? ONLY_EDGE, read } };
}

/** Resolves to whether the edge of this region has reported. It may be about to start with new rules. */
async function letReport({ port }: { readonly port: number }): Promise<boolean> {
  try {
    const answer = await fetch(`http://localhost:${port}${REPORT_PATH}`);
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

/** The same platform, with each stored body compared with the one before it. */
function watching(platform: Platform, originTimes: OriginTimeOfRequest): Platform {
  const { sharedTier } = platform;
  return {
    ...platform,
    sharedTier: {
      get: (key) => sharedTier.get(key),
      delete: (key) => sharedTier.delete(key),
      getBody: (bodyKey, part) => sharedTier.getBody(bodyKey, part),
      putBody: (bodyKey, body) => sharedTier.putBody(bodyKey, body),
      put(stored) {
        const request = originTimes.getStore();
        if (request && "body" in stored && stored.body) request.behind(compare(stored.head.key, stored.body, request));
        return sharedTier.put(stored);
      },
    },
  };
}

async function compare(key: string, body: Uint8Array<ArrayBuffer>, request: OriginTime): Promise<void> {
  const storedAt = Date.now();
  if (!(await earlyPurges.isSameAsBefore(key, body))) return;
  const purge = await request.refetchedFor;
  if (purge === null) return;
  // A space and the selecting fields follow the URL in the key of a variant.
  const early = { seq: purge.seq, path: pathOf(key.split(" ", 1)[0]!), afterMs: storedAt - purge.at };
  earlyPurges.found(early);
  console.log(earlyPurgeLine(early));
}

type PushingLog = ReturnType<typeof purgeLogOf>;

interface Receipt {
  readonly dryRun: boolean;
  readonly seq: number;
  readonly settlesInMs: number;
  readonly maySettleSooner?: boolean;
  readonly accepted: Items<number>;
}

/** The items of a purge, or the number of each kind. */
interface Items<List = readonly string[]> {
  readonly urls?: List;
  readonly tags?: List;
  readonly prefixes?: List;
  readonly hosts?: List;
  readonly everything?: boolean;
}

/** The items by name, written as `tidemark purge -` reads them. */
function namesOf({ urls = [], tags = [], prefixes = [], hosts = [], everything = false }: Items): string[] {
  return [
    ...(everything ? ["everything"] : []),
    ...urls,
    ...tags.map((tag) => `tag:${tag}`),
    ...prefixes.map((prefix) => `prefix:${prefix}`),
    ...hosts.map((host) => `host:${host}`),
  ];
}

/** How many items of each kind there are, for a purge with too many to name. */
function countsOf({ urls = 0, tags = 0, prefixes = 0, hosts = 0, everything = false }: Items<number>): string[] {
  const count = (number: number, one: string, several: string) =>
    number === 0 ? [] : [`${number} ${number === 1 ? one : several}`];
  return [
    ...(everything ? ["everything"] : []),
    ...count(urls, "URL", "URLs"),
    ...count(tags, "tag", "tags"),
    ...count(prefixes, "prefix", "prefixes"),
    ...count(hosts, "host", "hosts"),
  ];
}

function writeEntry(entry: LogEntry): void {
  console.log(ENTRY_PREFIX + JSON.stringify(entry));
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

function numberOf(text: string | null | undefined): number | null {
  return text ? Number(text) : null;
}

/** The network that the settings ask for; it also measures how long a request waits for the origin. */
function networkOf({ originMs, logMs }: DevSettings, originTimes: OriginTimeOfRequest): SimulatedNetwork {
  return {
    async callOrigin(call) {
      const originTime = originTimes.getStore();
      const startedAt = Date.now();
      const answer = await withRoundTrip(originMs, call);
      if (originTime) originTime.originMs = (originTime.originMs ?? 0) + Date.now() - startedAt;
      return answer;
    },
    callLog: (call) => withRoundTrip(logMs, call),
    callLedger: (call) => withRoundTrip(logMs, call),
  };
}

/** Resolves once the log answers, or after `FIND_LOG_MS`: the edge itself then reports that it cannot reach the log. */
async function waitForLog(env: EdgeEnv): Promise<void> {
  const startedAt = Date.now();
  while (Date.now() - startedAt < FIND_LOG_MS) {
    if (await reachesLog(env)) return;
    await pause(FIND_LOG_EVERY_MS);
  }
}
