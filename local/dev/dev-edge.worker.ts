/**
 * `tidemark/worker` as the dev command runs it: the same edge and the same log on the running clock, optionally with
 * the round trips of public networks, and with a line for each request. A deployed worker has none of this.
 */
import type { EdgeEnv, SiteInput } from "tidemark/worker";
import { compileSite, createEdgeWithHooks, isControl, type Platform } from "tidemark/worker/internal";
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
import { EarlyPurges, earlyPurgeLine } from "./early-purges.ts";
import type { Answer, CurrentExchange, Exchange } from "./exchange.ts";
import { LOGIN_PATH, LoginCode } from "./login-code.ts";
import { purgingHere } from "./purges-here.worker.ts";
import type { DevSettings } from "./request-log-entry.ts";
import { EARLY_PURGES_PATH, pathOf, RequestWatch } from "./request-watch.worker.ts";
import { ServedHosts } from "./served-hosts.ts";

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

/** How long a runtime may take to find another runtime's log, and how often it tries. */
const FIND_LOG_MS = 10_000;
const FIND_LOG_EVERY_MS = 10;

/** The PoP of an edge without a region. */
const ONLY_EDGE = "dev";

/** Calls of monitors and of the dashboard, which would only fill the request log. */
const UNLOGGED = new Set(
  ["", "health", "stats", "metrics", "openapi.json", "session", "purges", "explain", "site"].map(
    (name) => `/_tidemark/${name}`,
  ),
);

const PURGE_PATH = "/_tidemark/purge";

/** Lets the isolate of this edge report, for the edge of another region whose stats are read. */
const REPORT_PATH = "/_tidemark/dev/report";

/** What the edge knows about a request to that path. */
const FOR_ANOTHER_REGION: Exchange = {
  originMs: null,
  refetchedFor: async () => null,
  behind: () => undefined,
};

const earlyPurges = new EarlyPurges();
const loginCode = new LoginCode();

/** The edge for a site, as `createEdge` of `tidemark/worker` makes it, on this machine's network. */
export function createDevEdge(site: SiteInput, current: CurrentExchange): ExportedHandler<DevEnv> {
  let settings: DevSettings | undefined;
  let isAtOneHost = false;
  const edge = createEdgeWithHooks(site, {
    acceptsWeakTokens: true,
    compile: (overrides) => {
      // The origin may have a name of the site, which visitors here do not use.
      const here = { ...overrides, ...(site.hosts === undefined && { hosts: null }), originIsElsewhere: true };
      const compiled = compileSite(site, here);
      isAtOneHost = compiled.publicHost !== null;
      return { ...compiled, hosts: compiled.hosts && served!.within(compiled.hosts) };
    },
    platform: (platform) => {
      const watched = watching(reporting(platform, edgeEnv!, current), current);
      const behind = behindNetwork(watched, networkOf(settings!, current));
      return isAtOneHost ? behind : purgingHere(behind);
    },
  });
  let edgeEnv: DevEnv | undefined;
  let served: ServedHosts | undefined;
  let watch: RequestWatch | undefined;
  let isLogFound = false;
  const answer = (request: IncomingRequest, env: DevEnv, context: ExecutionContext): Answer => {
    const { url, method } = request;
    watch ??= new RequestWatch(current, earlyPurges, settings!);
    served ??= new ServedHosts({ hosts: site.hosts, publicUrls: [site.publicUrl, edgeEnv!.TIDEMARK_PUBLIC_URL] });
    const refused = served.refuse(request);
    if (refused !== undefined) return watch.answer(request, () => refused, context);
    const pass = () => edge.fetch!(request, edgeEnv!, context) as Answer;
    const path = isControl(url) ? new URL(url).pathname : null;
    if (path !== null) {
      if (UNLOGGED.has(path)) return pass();
      const answered = answerAsDev(path, request, env, (stats) =>
        current.run(FOR_ANOTHER_REGION, () => edge.fetch!(stats, edgeEnv!, context) as Answer),
      );
      if (answered !== undefined) return answered;
    }
    if (method !== "PURGE" && (method !== "POST" || path !== PURGE_PATH)) return watch.answer(request, pass, context);
    return watch.answerPurge(request, pass, context, site.purge?.push ? purgeLogOf(env) : null);
  };
  return {
    fetch(request, env, context) {
      settings ??= env.DEV;
      // If neither the site nor the command names a public address, all regions serve the same one.
      edgeEnv ??= settings.publicUrl === null ? env : withPublicUrl(site, env, settings.publicUrl);
      if (isLogFound || !settings.isLogElsewhere) return answer(request, env, context);
      return waitForLog(env).then(() => {
        isLogFound = true;
        return answer(request, env, context);
      });
    },
  };
}

/** Answers at the paths that only the dev command has; `undefined` for any other. */
function answerAsDev(
  path: string,
  request: IncomingRequest,
  { DEV, TIDEMARK_TOKEN }: DevEnv,
  answerForAnotherRegion: (stats: IncomingRequest) => Answer,
): Answer | undefined {
  switch (path) {
    case LOGIN_PATH:
      return loginCode.exchange(request, DEV.loginCode, TIDEMARK_TOKEN);
    case SIMULATED_REGIONS_PATH:
      return Response.json({ regions: DEV.regions });
    case REPORT_PATH: {
      const headers = { authorization: request.headers.get("authorization") ?? "" };
      const stats = new Request(new URL("/_tidemark/stats?last=1h", request.url), { headers });
      return answerForAnotherRegion(stats as IncomingRequest);
    }
    case EARLY_PURGES_PATH:
      return Response.json(earlyPurges.after(Number(new URL(request.url).searchParams.get("purge"))));
    default:
      return undefined;
  }
}

/** The same platform, which knows its region. All regions' isolates report before stats are read. */
function reporting(platform: Platform, { DEV, TIDEMARK_TOKEN }: DevEnv, current: CurrentExchange): Platform {
  const { ledger } = platform;
  if (ledger === undefined) return platform;
  const { region, regions } = DEV;
  const read: NonNullable<typeof ledger.read> = async (report, ...asked) => {
    const others = regions.filter((each) => each.region !== region && current.getStore() !== FOR_ANOTHER_REGION);
    const [haveReported] = await Promise.all([
      Promise.all(others.map(({ port }) => letReport(port, TIDEMARK_TOKEN))),
      report(),
    ]);
    const reading = await ledger.client.readLedger(...asked);
    if (haveReported.includes(false)) return reading;
    return JSON.stringify({ ...JSON.parse(reading), isCurrent: true });
  };
  return { ...platform, ledger: { ...ledger, pop: region ?? ONLY_EDGE, read } };
}

/** Resolves to whether this region's edge has reported. It may be restarting with new rules. */
async function letReport(port: number, token: string | undefined): Promise<boolean> {
  try {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`http://localhost:${port}${REPORT_PATH}`, { headers });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

/** The same platform, which compares each stored body with the previous one. */
function watching(platform: Platform, current: CurrentExchange): Platform {
  const { sharedTier } = platform;
  return {
    ...platform,
    sharedTier: {
      get: (key) => sharedTier.get(key),
      delete: (key) => sharedTier.delete(key),
      getBody: (bodyKey, part) => sharedTier.getBody(bodyKey, part),
      putBody: (bodyKey, body) => sharedTier.putBody(bodyKey, body),
      put(stored) {
        const request = current.getStore();
        if (request && "body" in stored && stored.body) request.behind(compare(stored.head.key, stored.body, request));
        return sharedTier.put(stored);
      },
    },
  };
}

async function compare(key: string, body: Uint8Array<ArrayBuffer>, request: Exchange): Promise<void> {
  const storedAt = Date.now();
  const isSame = await earlyPurges.isSameAsBefore(key, body);
  const purge = await request.refetchedFor();
  if (purge === null) return;
  if (!isSame) {
    earlyPurges.refetched(key, purge);
    return;
  }
  const changedFor = earlyPurges.changeBefore(key, purge)?.seq;
  // A space and the selecting fields follow the URL in the key of a variant.
  const early = { seq: purge.seq, path: pathOf(key.split(" ", 1)[0]!), afterMs: storedAt - purge.at, changedFor };
  earlyPurges.found(early);
  console.log(earlyPurgeLine(early));
}

/** The network that the settings ask for; it also measures how long a request waits for the origin. */
function networkOf({ originMs, logMs }: DevSettings, current: CurrentExchange): SimulatedNetwork {
  return {
    async callOrigin(call) {
      const exchange = current.getStore();
      const startedAt = Date.now();
      const answer = await withRoundTrip(originMs, call);
      if (exchange) exchange.originMs = (exchange.originMs ?? 0) + Date.now() - startedAt;
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
