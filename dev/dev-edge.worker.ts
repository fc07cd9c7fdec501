/**
 * `tidemark/worker` as the dev command runs it: the same edge and the same log on the running clock, with the round trips
 * of real networks if they are wanted, and a line for each request. What is deployed has nothing of this.
 */
import {
  createEdge,
  PurgeLog as DeployedPurgeLog,
  type EdgeEnv,
  type EdgeOptions,
  type SiteInput,
} from "tidemark/worker";
import { type DevSettings, ENTRY_MARK, type LogEntry } from "./request-log-entry.ts";

type Platform = Parameters<NonNullable<EdgeOptions["platform"]>>[0];
type DevEnv = EdgeEnv & { readonly DEV: DevSettings };
type Arriving = Request<unknown, IncomingRequestCfProperties>;

/** What one request spends on the origin. */
interface Spending {
  originMs: number | null;
}

/** An `AsyncLocalStorage`: the entry makes it, because the runtime's types do not know `node:async_hooks`. */
export interface SpendingOfRequest {
  run<T>(spending: Spending, work: () => T): T;
  getStore(): Spending | undefined;
}

/** The object that the edge's log is, too. */
const LOG_NAME = "tidemark";

/** How long a runtime may take to find the log of another one, and how often it looks. */
const FIND_LOG_MS = 10_000;
const LOOK_FOR_LOG_MS = 10;

/** A larger purge is told by its numbers alone. */
const MOST_READ_BYTES = 64 * 1024;

/** What the edge answers itself and nobody wants to read about. */
const UNLOGGED = new Set(["/_tidemark/health", "/_tidemark/stats", "/_tidemark/openapi.json"]);

const PURGE_PATH = "/_tidemark/purge";

export class PurgeLog extends DeployedPurgeLog {
  /** Answers. */
  call(): true {
    return true;
  }
}

/** The edge for a site, as `createEdge` of `tidemark/worker` makes it, on this machine's network. */
export function createDevEdge(site: SiteInput, spendings: SpendingOfRequest): ExportedHandler<DevEnv> {
  let settings: DevSettings | undefined;
  const edge = createEdge(site, {
    takesWeakTokens: true,
    platform: (platform) => onNetwork(platform, settings!, spendings),
  });
  let served: DevEnv | undefined;
  let isLogFound = false;
  return {
    async fetch(request, env, context) {
      settings ??= env.DEV;
      served ??= serving(site, env);
      if (settings.isLogElsewhere && !isLogFound) {
        await findLog(env);
        isLogFound = true;
      }
      const answering = () => edge.fetch!(request, served!, context) as Promise<Response>;
      const { pathname } = new URL(request.url);
      if (!settings.isLogged || UNLOGGED.has(pathname)) return answering();
      const isPurge = request.method === "PURGE" || (request.method === "POST" && pathname === PURGE_PATH);
      return isPurge ? tellPurge(request, answering, context) : tellRequest(request, answering, spendings);
    },
  };
}

async function tellRequest(
  request: Arriving,
  answering: () => Promise<Response>,
  spendings: SpendingOfRequest,
): Promise<Response> {
  const startedAt = Date.now();
  const spending: Spending = { originMs: null };
  const answer = await spendings.run(spending, answering);
  const { method, url } = request;
  const status = answer.headers.get("cache-status")?.split(",").at(-1) ?? "";
  tell({
    kind: "request",
    method,
    path: pathOf(url),
    status: answer.status,
    xCache: answer.headers.get("x-cache"),
    detail: /; detail=([^;]+)/.exec(status)?.[1] ?? null,
    ageS: numberOf(answer.headers.get("age")),
    ttlS: numberOf(/; ttl=(-?\d+)/.exec(status)?.[1]),
    stored: status.includes("; stored"),
    ms: Date.now() - startedAt,
    originMs: spending.originMs,
  });
  return answer;
}

async function tellPurge(
  request: Arriving,
  answering: () => Promise<Response>,
  context: ExecutionContext,
): Promise<Response> {
  const startedAt = Date.now();
  const { method, url } = request;
  const isShort = Number(request.headers.get("content-length") ?? Number.NaN) <= MOST_READ_BYTES;
  const asked = method === "POST" && isShort ? request.clone() : null;
  const answer = await answering();
  const { status } = answer;
  const ms = Date.now() - startedAt;
  if (status !== 200) {
    tell({ kind: "purge", method, status, purged: [], seq: null, settlesInMs: null, ms });
    return answer;
  }
  const receipt = answer.clone();
  context.waitUntil(
    (async () => {
      const { seq, settlesInMs, accepted } = await receipt.json<Receipt>();
      const items = asked && (await asked.json<Items>());
      const purged = method === "PURGE" ? [pathOf(url)] : items ? namesOf(items) : numbersOf(accepted);
      tell({ kind: "purge", method, status, purged, seq, settlesInMs, ms });
    })(),
  );
  return answer;
}

interface Receipt {
  readonly seq: number;
  readonly settlesInMs: number;
  readonly accepted: Items<number>;
}

interface Items<List = readonly string[]> {
  readonly urls?: List;
  readonly tags?: List;
  readonly everything?: boolean;
}

function namesOf({ urls = [], tags = [], everything = false }: Items): string[] {
  return [...(everything ? ["everything"] : []), ...urls, ...tags.map((tag) => `tag ${tag}`)];
}

function numbersOf({ urls = 0, tags = 0, everything = false }: Items<number>): string[] {
  return [
    ...(everything ? ["everything"] : []),
    ...(urls > 0 ? [`${urls} URLs`] : []),
    ...(tags > 0 ? [`${tags} tags`] : []),
  ];
}

function tell(entry: LogEntry): void {
  console.log(ENTRY_MARK + JSON.stringify(entry));
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

function numberOf(text: string | null | undefined): number | null {
  return text ? Number(text) : null;
}

/** Where neither the site nor the command names a public address, all regions serve the same one. */
function serving(site: SiteInput, env: DevEnv): DevEnv {
  const { publicUrl } = env.DEV;
  if (publicUrl === null || env.TIDEMARK_PUBLIC_URL || site.publicUrl !== undefined) return env;
  return { ...env, TIDEMARK_PUBLIC_URL: publicUrl };
}

function onNetwork(platform: Platform, { originMs, logMs }: DevSettings, spendings: SpendingOfRequest): Platform {
  const { origin, log } = platform;
  return {
    ...platform,
    origin: {
      url: origin.url,
      async fetch(request) {
        const spending = spendings.getStore();
        const startedAt = Date.now();
        const answer = await roundTrip(originMs, () => origin.fetch(request));
        if (spending) spending.originMs = (spending.originMs ?? 0) + Date.now() - startedAt;
        return answer;
      },
    },
    log: {
      read: (since, leaseMs, withinMs) => roundTrip(logMs, () => log.read(since, leaseMs, withinMs)),
      append: (purge) => roundTrip(logMs, () => log.append(purge)),
    },
  };
}

async function roundTrip<T>(ms: number, call: () => Promise<T>): Promise<T> {
  await pause(ms / 2);
  const answer = await call();
  await pause(ms / 2);
  return answer;
}

/** Resolves once the log answers, or when it has been looked for long enough: what then goes wrong, the edge tells. */
async function findLog(env: DevEnv): Promise<void> {
  const startedAt = Date.now();
  while (Date.now() - startedAt < FIND_LOG_MS) {
    const log = env.PURGE_LOG.get(env.PURGE_LOG.idFromName(LOG_NAME)) as unknown as { call(): Promise<true> };
    if (await log.call().catch(() => false)) return;
    await pause(LOOK_FOR_LOG_MS);
  }
}

async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
