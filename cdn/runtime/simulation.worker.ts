/**
 * `tidemark/worker` in the simulated CDN: the same edge and the same log, on a clock that stands still until it is set,
 * behind a network that the harness makes slow or takes away. Waits for the origin and for other requests stay real.
 * Only the harness bundles this; what is deployed has no such door.
 */
import {
  createEdge as createDeployedEdge,
  PurgeLog as DeployedPurgeLog,
  type EdgeEnv,
  type EdgeOptions,
  type SiteInput,
} from "tidemark/worker";
import {
  type Conditions,
  DEFAULT_PUBLIC_URL,
  type KnownKeys,
  type Losses,
  type Order,
  type SimulatedSite,
} from "./harness-protocol.ts";

export { defineSite, SiteError } from "tidemark/worker";

/** `POST` an `Order` here. `GET` with `?now=<epoch milliseconds>` sets the time alone. */
const DOOR_PATH = "/_virtual-time";

/** The most keys that an isolate remembers for the messages of failing tests. */
const MOST_KEYS = 10_000;

/** The object that the edge's log is, too. */
const LOG_NAME = "tidemark";

/** How long a look at what is unfinished is apart from the next, in real milliseconds. */
const POLL_MS = 1;

type Platform = Parameters<NonNullable<EdgeOptions["platform"]>>[0];
type Handler = ExportedHandler<EdgeEnv>;

let conditions: Conditions = {
  now: 0,
  clientMs: 0,
  originMs: 0,
  logMs: 0,
  isLogReachable: true,
  originNow: null,
};
let losses: Losses = { origin: 0, log: 0 };
let site: SiteInput | null = null;
/** Rises when the isolate is killed: what was made before then is left behind. */
let life = 0;
let writesUnderWay = 0;
/** What goes on behind answers. */
let workUnderWay = 0;
const storedKeys = new Set<string>();

const clock: NonNullable<EdgeOptions["clock"]> = {
  now: () => conditions.now,
  wait: (ms) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    return { over: promise, cancel: () => clearTimeout(timer) };
  },
};

/** The edge for a site, as `createEdge` of `tidemark/worker` makes it. */
export function createEdge(input: SiteInput): Handler {
  site = input;
  createDeployedEdge(input); // so that a mistake shows at the start, as it does where it is deployed
  let edge: { readonly handler: Handler; readonly env: EdgeEnv; readonly life: number } | undefined;
  return {
    fetch(request, env, context) {
      if (edge?.life !== life) {
        edge = {
          handler: createDeployedEdge(input, { clock, takesWeakTokens: true, platform: simulated }),
          env: serving(input, env),
          life,
        };
      }
      return edge.handler.fetch!(request, edge.env, counting(context));
    },
  };
}

/** Counts what goes on behind answers. */
function counting(context: ExecutionContext): ExecutionContext {
  const done = () => {
    workUnderWay--;
  };
  return {
    props: context.props,
    passThroughOnException: () => context.passThroughOnException(),
    waitUntil: (work) => {
      workUnderWay++;
      context.waitUntil(work.then(done, done));
    },
  } as ExecutionContext;
}

export class PurgeLog extends DeployedPurgeLog {
  protected override now(): number {
    return conditions.now;
  }

  /** Simulated time wakes nobody: the harness asks for what is due when it moves it. */
  protected override async wakeAt(): Promise<void> {}

  /** Answers. */
  call(): true {
    return true;
  }
}

/** A worker with the harness's door before it. The worker is asked for anew each time, and may be made at the first. */
export function withDoor(workerFor: (env: EdgeEnv) => Handler): Handler {
  return {
    async fetch(request, env, context) {
      const url = new URL(request.url);
      if (url.pathname === DOOR_PATH) return openDoor(request, url, env, workerFor);
      const worker = workerFor(env);
      if (conditions.clientMs === 0) return worker.fetch!(request, env, context);
      await pause(conditions.clientMs / 2);
      const arrivedAt = Date.now();
      const answer = await worker.fetch!(request, env, context);
      const timed = copyOf(answer);
      timed.headers.append("server-timing", serverTiming(Date.now() - arrivedAt));
      await pause(conditions.clientMs / 2);
      return timed;
    },
  };
}

/** The round trips in force, and what the PoP has taken for this answer, its waits for origin and log included. */
function serverTiming(popMs: number): string {
  const { clientMs, originMs, logMs } = conditions;
  const roundTrip = (name: string, ms: number) => `${name};dur=${ms};desc="round trip"`;
  return [
    roundTrip("client", clientMs),
    roundTrip("origin", originMs),
    roundTrip("log", logMs),
    `pop;dur=${popMs};desc="took"`,
  ].join(", ");
}

async function openDoor(
  request: Request,
  url: URL,
  env: EdgeEnv,
  workerFor: (env: EdgeEnv) => Handler,
): Promise<Response> {
  if (request.method === "POST") {
    workerFor(env); // The site is known once its worker has been made.
    return Response.json(await obey((await request.json()) as Order, env));
  }
  conditions = { ...conditions, now: Number(url.searchParams.get("now")) };
  await runDuePurges(env);
  return new Response(String(conditions.now));
}

async function runDuePurges({ PURGE_LOG }: EdgeEnv): Promise<void> {
  await PURGE_LOG.get(PURGE_LOG.idFromName(LOG_NAME)).runDue();
}

async function obey(order: Order, env: EdgeEnv): Promise<unknown> {
  switch (order.do) {
    case "set-conditions":
      conditions = order.conditions;
      return null;
    case "run-due-purges":
      await runDuePurges(env);
      return null;
    case "lose":
      losses = order.losses;
      return null;
    case "kill":
      life++;
      storedKeys.clear();
      return null;
    case "finish-writes":
      while (writesUnderWay > 0) await pause(POLL_MS);
      return null;
    case "finish-work":
      while (workUnderWay > 0) await pause(POLL_MS);
      return null;
    case "tell-site":
      return site && ({ publicUrl: publicUrlOf(site, env) } satisfies SimulatedSite);
    case "tell-keys":
      return { key: await keyOf(order.url, order.fields, env), stored: [...storedKeys] } satisfies KnownKeys;
    case "call-log": {
      const log = env.PURGE_LOG.get(env.PURGE_LOG.idFromName(LOG_NAME)) as unknown as { call(): Promise<true> };
      return log.call().catch(() => false);
    }
  }
}

/** Where neither the site nor the environment names hosts, every host is served as one public address. */
function serving(input: SiteInput, env: EdgeEnv): EdgeEnv {
  if (env.TIDEMARK_HOSTS || input.hosts) return env;
  return { ...env, TIDEMARK_HOSTS: "*", TIDEMARK_PUBLIC_URL: publicUrlOf(input, env) };
}

function publicUrlOf(input: SiteInput, env: EdgeEnv): string {
  const publicUrl = env.TIDEMARK_PUBLIC_URL || input.publicUrl;
  if (publicUrl !== undefined) return publicUrl;
  const hosts = env.TIDEMARK_HOSTS?.split(",") ?? input.hosts ?? [];
  const [host = "*"] = hosts;
  return host === "*" ? DEFAULT_PUBLIC_URL : `http://${host.trim()}`;
}

/** The same with fields that can be changed, its bytes as they are. */
function copyOf({ body, status, statusText, headers, webSocket }: Response): Response {
  if (webSocket) return new Response(null, { status, statusText, headers, webSocket });
  return new Response(body, { status, statusText, headers, encodeBody: "manual" });
}

/** The answer of an origin on real time, as if it were on the CDN's. */
function moved(response: Response, originNow: number): Response {
  const answer = copyOf(response);
  for (const name of ["date", "expires"]) {
    const at = Date.parse(answer.headers.get(name) ?? "");
    if (!Number.isNaN(at)) answer.headers.set(name, new Date(at + originNow - Date.now()).toUTCString());
  }
  return answer;
}

/** The runtime as a platform, behind the simulated network. */
function simulated(platform: Platform): Platform {
  const { origin, log, audit, sharedTier, notes } = platform;
  return {
    ...platform,
    origin: {
      url: origin.url,
      async fetch(request) {
        await pause(conditions.originMs / 2);
        const answer = await origin.fetch(request);
        await pause(conditions.originMs / 2);
        if (losses.origin === 0) {
          if (answer.kind !== "answered" || conditions.originNow === null) return answer;
          return { kind: "answered", response: moved(answer.response, conditions.originNow) };
        }
        losses = { ...losses, origin: losses.origin - 1 };
        if (answer.kind === "answered") await answer.response.body?.cancel();
        return { kind: "failed", because: "unreachable", cause: new Error("the simulated network lost the answer") };
      },
    },
    log: {
      read: (since, leaseMs, withinMs) => callLog(() => log.read(since, leaseMs, withinMs)),
      append: (purge) => callLog(() => log.append(purge)),
    },
    audit: {
      list: (before, limit) => callLog(() => audit.list(before, limit)),
      one: (seq) => callLog(() => audit.one(seq)),
    },
    sharedTier: {
      async get(key) {
        const found = await sharedTier.get(key);
        if (found) rememberKey(key);
        return found;
      },
      async put(stored) {
        writesUnderWay++;
        try {
          await sharedTier.put(stored);
          rememberKey(stored.head.key);
        } finally {
          writesUnderWay--;
        }
      },
      delete: (key) => {
        storedKeys.delete(key);
        return sharedTier.delete(key);
      },
      getBody: (bodyKey, part) => sharedTier.getBody(bodyKey, part),
      async putBody(bodyKey, body) {
        writesUnderWay++;
        try {
          await sharedTier.putBody(bodyKey, body);
        } finally {
          writesUnderWay--;
        }
      },
    },
    notes: {
      read: (name) => notes.read(name),
      async write(name, bytes) {
        writesUnderWay++;
        try {
          await notes.write(name, bytes);
        } finally {
          writesUnderWay--;
        }
      },
    },
  };
}

async function callLog<T>(call: () => Promise<T>): Promise<T> {
  await pause(conditions.logMs / 2);
  if (!conditions.isLogReachable) throw new Error("the simulated network does not reach the purge log");
  const answer = await call();
  await pause(conditions.logMs / 2);
  if (losses.log === 0) return answer;
  losses = { ...losses, log: losses.log - 1 };
  throw new Error("the simulated network lost the purge log's answer");
}

/**
 * The key of a URL, from the one function that makes keys: an edge of its own, with nothing stored and no network, is
 * asked for it, and what it looks up is the key.
 */
async function keyOf(url: string, fields: Readonly<Record<string, string>>, env: EdgeEnv): Promise<string | null> {
  if (site === null) return null;
  let key: string | null = null;
  const unreachable = async () => {
    throw new Error("nothing is asked for a key");
  };
  const platform = ({ origin, ...rest }: Platform): Platform => ({
    ...rest,
    origin: { url: origin.url, fetch: async () => ({ kind: "failed", because: "unreachable", cause: "for a key" }) },
    log: { read: unreachable, append: unreachable },
    notes: { read: async () => null, write: async () => undefined },
    sharedTier: {
      get: async (asked) => {
        key = asked;
        return undefined;
      },
      put: async () => undefined,
      delete: async () => undefined,
      getBody: async () => undefined,
      putBody: async () => undefined,
    },
  });
  const behind = { waitUntil: () => undefined, passThroughOnException: () => undefined };
  const edge = createDeployedEdge(site, { clock, takesWeakTokens: true, platform });
  const request = new Request(url, { headers: fields }) as Parameters<NonNullable<Handler["fetch"]>>[0];
  await edge.fetch!(request, serving(site, env), behind as unknown as ExecutionContext);
  return key;
}

function rememberKey(key: string): void {
  storedKeys.delete(key);
  storedKeys.add(key);
  for (const oldest of storedKeys) {
    if (storedKeys.size <= MOST_KEYS) break;
    storedKeys.delete(oldest);
  }
}

/** In real time; nothing for 0. */
async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
