/**
 * `tidemark/worker` in the simulated CDN: the same edge and the same log, on a clock that stands still until the harness
 * sets it, and behind a network that the harness can slow down or cut. Waits for the origin and for other requests stay
 * real. Only the simulated CDN bundles this; a deployed worker takes no commands.
 */
import type { EdgeEnv, SiteInput } from "tidemark/worker";
import {
  createEdgeWithHooks,
  type EdgeHooks,
  type Platform,
  parseHttpDate,
  refuseServerSettings,
  routeSpelling,
} from "tidemark/worker/internal";
import {
  type AnswersToLose,
  type ClockAndNetwork,
  DEFAULT_PUBLIC_URL,
  HARNESS_PATH,
  type HarnessCommand,
  type KnownKeys,
  type SimulatedSite,
  WORKER_FAILED,
} from "./harness-protocol.ts";
import { cacheKeyOf, StoredKeys } from "./known-keys.worker.ts";
import { RestingConnections } from "./log-connections.worker.ts";
import { PatientWaits } from "./patient-waits.worker.ts";
import {
  behindNetwork,
  pause,
  purgeLogOf,
  reachesLog,
  SimulatedPurgeLog,
  withPublicUrl,
  withRoundTrip,
} from "./simulated-network.worker.ts";

export { defineSite, SiteError } from "tidemark/worker";

/** How often the harness's wait for unfinished work looks again, in real milliseconds. */
const POLL_MS = 1;

type Handler = ExportedHandler<EdgeEnv>;
type StreamedBody = ReturnType<Platform["bodies"]["pipe"]>["readable"];

let clockAndNetwork: ClockAndNetwork = {
  now: 0,
  clientMs: 0,
  originMs: 0,
  logMs: 0,
  isLogReachable: true,
  originNow: null,
};
let answersToLose: AnswersToLose = { origin: 0, log: 0 };
let site: SiteInput | null = null;
/** Rises when the isolate is killed. An edge from before is then no longer used. */
let generation = 0;
let unfinishedWrites = 0;
/** Resolves once all of a body has been written to the pipe from which it is stored. */
const wholeBodies = new WeakMap<StreamedBody, Promise<void>>();
/** Work that continues after responses were sent. */
let unfinishedWork = 0;
const storedKeys = new StoredKeys();
let connections = new RestingConnections();

const waits = new PatientWaits(() => clockAndNetwork.logMs);

const clock: NonNullable<EdgeHooks["clock"]> = {
  now: () => clockAndNetwork.now,
  wait: (ms) => waits.wait(ms),
};

/** The edge for a site in an owner's worker, as `createEdge` of `tidemark/worker` makes it. */
export function createEdge(input: SiteInput): Handler {
  const edge = createSimulatedEdge(input);
  refuseServerSettings(input);
  return edge;
}

/** The edge for a site that may be a server's: of its settings those of `tidemark serve` alone have no effect. */
export function createSimulatedEdge(input: SiteInput): Handler {
  site = input;
  createEdgeWithHooks(input, {}); // A mistake shows at the start, as it does where the worker is deployed.
  // Time stands still between requests, so nothing can happen after them, except over a connection.
  const still = input.purge?.push ? input : { ...input, purge: { ...input.purge, keepViewMs: 0 } };
  let edge: { readonly handler: Handler; readonly env: EdgeEnv; readonly generation: number } | undefined;
  return {
    fetch(request, env, context) {
      if (edge?.generation !== generation) {
        const started = generation;
        const kept = new RestingConnections();
        connections = kept;
        const hooks: EdgeHooks = {
          clock: { ...clock, rest: () => kept.rest() },
          acceptsWeakTokens: true,
          platform: (real) => simulatedPlatform(real, kept, () => generation === started),
        };
        edge = { handler: createEdgeWithHooks(still, hooks), env: withHosts(input, env), generation };
      }
      return edge.handler.fetch!(request, edge.env, countingWork(context));
    },
  };
}

/** Counts the work that continues after responses. */
function countingWork(context: ExecutionContext): ExecutionContext {
  const done = () => {
    unfinishedWork--;
  };
  return {
    props: context.props,
    passThroughOnException: () => context.passThroughOnException(),
    waitUntil: (work) => {
      unfinishedWork++;
      context.waitUntil(work.then(done, done));
    },
  } as ExecutionContext;
}

export class PurgeLog extends SimulatedPurgeLog {
  protected override time(): number {
    return clockAndNetwork.now;
  }

  /** Sets no alarm, because the harness triggers due work when it moves the time. */
  protected override async wakeAt(): Promise<void> {}
}

/**
 * A worker that also takes the harness's commands. `workerFor` is called for each request, and may make the worker at
 * the first one.
 */
export function withHarness(workerFor: (env: EdgeEnv) => Handler): Handler {
  return {
    async fetch(request, env, context) {
      const url = new URL(request.url);
      if (url.pathname === HARNESS_PATH) return answerHarness(request, url, env, workerFor);
      const worker = workerFor(env);
      const asked = atPublicHost(request, env);
      if (clockAndNetwork.clientMs === 0) return worker.fetch!(asked, env, context);
      return withRoundTrip(clockAndNetwork.clientMs, async () => {
        const arrivedAt = Date.now();
        const timed = withMutableFields(await worker.fetch!(asked, env, context));
        timed.headers.append("server-timing", serverTiming(Date.now() - arrivedAt));
        return timed;
      });
    },
  };
}

/** An owner's worker with all its handlers, which also takes the harness's commands. Throws if it has no `fetch`. */
export function ownersWorker(worker: Handler): Handler {
  if (typeof worker?.fetch !== "function") {
    throw new Error("the default export must be an object with a function fetch, not a class.");
  }
  // A copy would lose what a class inherits, and `this`, through which handlers reach private fields.
  return new Proxy(
    withHarness(() => worker),
    {
      get(own, name) {
        const handler = Reflect.get(own, name) ?? Reflect.get(worker, name);
        return typeof handler === "function" ? handler.bind(worker) : handler;
      },
    },
  );
}

/** The current round trips, and how long the PoP took for this response, including its waits for origin and log. */
function serverTiming(popMs: number): string {
  const { clientMs, originMs, logMs } = clockAndNetwork;
  const roundTrip = (name: string, ms: number) => `${name};dur=${ms};desc="round trip"`;
  return [
    roundTrip("client", clientMs),
    roundTrip("origin", originMs),
    roundTrip("log", logMs),
    `pop;dur=${popMs};desc="took"`,
  ].join(", ");
}

async function answerHarness(
  request: Request,
  url: URL,
  env: EdgeEnv,
  workerFor: (env: EdgeEnv) => Handler,
): Promise<Response> {
  if (request.method === "POST") {
    try {
      workerFor(env); // The site is known once its worker has been made.
    } catch (error) {
      return new Response((error as Error).message, { status: WORKER_FAILED });
    }
    return Response.json(await carryOut((await request.json()) as HarnessCommand, env));
  }
  await setClockAndNetwork({ ...clockAndNetwork, now: Number(url.searchParams.get("now")) });
  await purgeLogOf(env).runDue();
  return new Response(String(clockAndNetwork.now));
}

async function setClockAndNetwork(next: ClockAndNetwork): Promise<void> {
  const hasMoved = next.now !== clockAndNetwork.now;
  clockAndNetwork = next;
  if (hasMoved) await connections.timeHasMoved();
}

async function carryOut(command: HarnessCommand, env: EdgeEnv): Promise<unknown> {
  switch (command.do) {
    case "set-clock-and-network":
      await setClockAndNetwork(command.clockAndNetwork);
      return null;
    case "run-due-purges":
      await purgeLogOf(env).runDue();
      return null;
    case "begin-log":
      await purgeLogOf(env).begin();
      return null;
    case "finish-pushes":
      await purgeLogOf(env).finishPushes();
      return null;
    case "look-at-purge":
      return (await purgeLogOf(env).find(command.seq))?.settled ?? false;
    case "lose-connections":
      await connections.lose();
      return null;
    case "count-connections":
      return connections.counts;
    case "lose-answers":
      answersToLose = command.answersToLose;
      return null;
    case "kill":
      generation++;
      await connections.lose();
      connections = new RestingConnections();
      storedKeys.clear();
      return null;
    case "finish-writes":
      while (unfinishedWrites > 0) await pause(POLL_MS);
      return null;
    case "finish-work":
      while (unfinishedWork > connections.resting) await pause(POLL_MS);
      return null;
    case "describe-site":
      return (
        site &&
        ({
          publicUrl: publicUrlOf(site, env),
          isPushedTo: site.purge?.push === true,
          routes: (site.routes ?? []).map(({ match, pass = false }) => ({ match, pass })),
        } satisfies SimulatedSite)
      );
    case "match-paths":
      return pathsThatMatch(command.pattern, command.paths);
    case "list-keys": {
      const { url, fields } = command;
      const key = site && (await cacheKeyOf(url, fields, { site, env: withHosts(site, env), clock }));
      return { key, stored: storedKeys.list() } satisfies KnownKeys;
    }
    case "ping-log":
      return reachesLog(env);
  }
}

function pathsThatMatch(text: string, paths: readonly string[]): readonly string[] | null {
  try {
    const pattern = new URLPattern({ pathname: text });
    return paths.filter((path) => pattern.test({ pathname: routeSpelling(path.replace(/\?.*/s, "")) }));
  } catch {
    return null; // URLPattern throws on an invalid pattern
  }
}

/** If neither the site nor the environment names hosts, every host is served as one public address. */
function withHosts(input: SiteInput, env: EdgeEnv): EdgeEnv {
  if (namedHosts(input, env)) return env;
  return withPublicUrl(input, { ...env, TIDEMARK_HOSTS: "*" }, DEFAULT_PUBLIC_URL);
}

function namedHosts({ hosts }: SiteInput, { TIDEMARK_HOSTS }: EdgeEnv): readonly string[] | undefined {
  return TIDEMARK_HOSTS ? String(TIDEMARK_HOSTS).split(",") : hosts;
}

/**
 * If not every host is served, a page that is requested at the isolate's own address is the public host's. The control
 * plane keeps that address.
 */
function atPublicHost<Asked extends Request>(request: Asked, env: EdgeEnv): Asked {
  const own = /^http:\/\/127\.0\.0\.1:\d+(?=\/)(?!\/_tidemark\/)/;
  if (!site || !own.test(request.url) || (namedHosts(site, env) ?? ["*"]).includes("*")) return request;
  return new Request(request.url.replace(own, `http://${new URL(publicUrlOf(site, env)).host}`), request) as Asked;
}

function publicUrlOf(input: SiteInput, env: EdgeEnv): string {
  const publicUrl = env.TIDEMARK_PUBLIC_URL || input.publicUrl;
  if (publicUrl !== undefined) return publicUrl;
  const [host = "*"] = namedHosts(input, env) ?? [];
  return host === "*" ? DEFAULT_PUBLIC_URL : `http://${host.trim()}`;
}

/** The same response with mutable fields and the same body. */
function withMutableFields({ body, status, statusText, headers, webSocket }: Response): Response {
  if (webSocket) return new Response(null, { status, statusText, headers, webSocket });
  return new Response(body, { status, statusText, headers, encodeBody: "manual" });
}

/**
 * The response of an origin on real time, with its dates shifted to the CDN's time. What is no date stays as it is. The
 * origin has rounded its dates down, so these are rounded up: otherwise a page of this second would look a second old.
 */
function withDatesShifted(response: OriginResponse, originNow: number): OriginResponse {
  const now = Date.now(); // one for both fields, so that they keep their distance
  for (const name of ["date", "expires"]) {
    const at = parseHttpDate(response.fields.get(name), now);
    if (at === undefined) continue;
    const shifted = Math.ceil((at + originNow - now) / 1000) * 1000;
    response.fields.set(name, new Date(shifted).toUTCString());
  }
  return response;
}

/** The runtime's platform behind the simulated network, with its writes counted and its keys remembered. */
function simulatedPlatform(real: Platform, kept: RestingConnections, isAlive: () => boolean): Platform {
  const { sharedTier, notes, log, ledger, bodies, ...rest } = behindNetwork(real, { callOrigin, callLog, callLedger });
  return {
    ...rest,
    losesRequests: false, // time that a test moves is no sign that a request has died
    log: {
      read: waits.patiently(log.read),
      append: log.append,
      ...(log.connect && { connect: kept.counting(connectingPatiently(log.connect), isAlive) }),
    },
    ...(ledger && {
      ledger: { ...ledger, client: { ...ledger.client, findUnseen: waits.patiently(ledger.client.findUnseen) } },
    }),
    bodies: {
      ...bodies,
      pipe(lengthBytes) {
        const { readable, writable } = bodies.pipe(lengthBytes);
        const close = writable.close.bind(writable);
        const { promise, resolve } = Promise.withResolvers<void>();
        wholeBodies.set(readable, promise);
        writable.close = () => {
          resolve();
          return close();
        };
        return { readable, writable };
      },
    },
    sharedTier: {
      async get(key) {
        const found = await sharedTier.get(key);
        if (found) storedKeys.remember(key);
        return found;
      },
      async put(stored) {
        await countingWrite(() => sharedTier.put(stored));
        storedKeys.remember(stored.head.key);
      },
      delete: (key) => {
        storedKeys.forget(key);
        return sharedTier.delete(key);
      },
      getBody: (bodyKey, part) => sharedTier.getBody(bodyKey, part),
      putBody(bodyKey, body) {
        const written = sharedTier.putBody(bodyKey, body);
        // While its source still sends, a test may be what it waits for.
        const counted = wholeBodies.get(body)?.then(() => countingWrite(() => written));
        counted?.catch(() => undefined);
        return written;
      },
    },
    notes: {
      read: waits.patiently((name) => notes.read(name)),
      write: waits.patiently((name, bytes) => countingWrite(() => notes.write(name, bytes))),
    },
  };
}

type Connect = NonNullable<Platform["log"]["connect"]>;

function connectingPatiently(connect: Connect): Connect {
  return waits.patiently(async (reader) => {
    const connection = await connect(reader);
    return (
      connection && {
        ...connection,
        renew: waits.patiently(connection.renew),
        release: waits.patiently(connection.release),
      }
    );
  });
}

async function countingWrite(write: () => Promise<void>): Promise<void> {
  unfinishedWrites++;
  try {
    await write();
  } finally {
    unfinishedWrites--;
  }
}

type OriginResponse = Extract<Awaited<OriginAnswer>, { kind: "answered" }>["response"];

type OriginAnswer = ReturnType<Platform["origin"]["fetch"]>;

async function callOrigin(call: () => OriginAnswer): Promise<Awaited<OriginAnswer>> {
  const answer = await withRoundTrip(clockAndNetwork.originMs, call);
  if (answersToLose.origin === 0) {
    if (answer.kind !== "answered" || clockAndNetwork.originNow === null) return answer;
    return { kind: "answered", response: withDatesShifted(answer.response, clockAndNetwork.originNow) };
  }
  answersToLose = { ...answersToLose, origin: answersToLose.origin - 1 };
  if (answer.kind === "answered") await answer.response.body?.cancel();
  return { kind: "failed", because: "unreachable", cause: new Error("the simulated network lost the answer") };
}

function callLedger<T>(call: () => Promise<T>): Promise<T> {
  return withRoundTrip(clockAndNetwork.logMs, () => {
    if (!clockAndNetwork.isLogReachable) throw new Error("the simulated network does not reach the purge log");
    return call();
  });
}

async function callLog<T>(call: () => Promise<T>): Promise<T> {
  const answer = await callLedger(call);
  if (answersToLose.log === 0) return answer;
  answersToLose = { ...answersToLose, log: answersToLose.log - 1 };
  throw new Error("the simulated network lost the purge log's answer");
}
