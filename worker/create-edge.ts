import { addService } from "../wire/service-binding.ts";
import { fingerprint } from "./control/access/fingerprint.ts";
import { configuredTokens, type KnownToken } from "./control/access/tokens.ts";
import { edgeAnswer } from "./flow/answering/answers.ts";
import { isForControl, type RunningIsolate, startIsolate } from "./isolate.ts";
import { Counters } from "./metrics/counters.ts";
import type { IsolateControl, Platform, StartControl } from "./platform.ts";
import { type Clock, waitByTimer } from "./ports/clock.ts";
import type { PurgeLog } from "./purges/log/purge-log.ts";
import { PurgeLogStub } from "./purges/log/purge-log-stub.ts";
import { EDGE_ANSWER_FIELDS } from "./rules/forwarding/edge-answer-fields.ts";
import { analyticsWriter } from "./runtime/analytics.ts";
import { CacheApiNotes } from "./runtime/cache-api-notes.ts";
import { CacheApiTier } from "./runtime/cache-api-tier.ts";
import { OriginFetch } from "./runtime/origin-fetch.ts";
import { runtimeBodies } from "./runtime/runtime-bodies.ts";
import { toWebResponse } from "./runtime/web-answer.ts";
import { type CheckedSite, checkSite } from "./site/check-site.ts";
import { refuseServerSettings } from "./site/refuse-server-settings.ts";
import { compileChecked, compileSite, type Site, type SiteOverrides } from "./site/site.ts";
import { SiteError } from "./site/site-error.ts";
import type { SiteInput } from "./site/site-input.ts";
import { overridesOf } from "./site/site-overrides.ts";
import { weakenedDefences } from "./site/weakened-defences.ts";

/**
 * The bindings and variables that the worker reads. While a variable is not valid, each answer is 503 with
 * `detail=misconfigured`, and the log says why.
 */
export interface EdgeEnv {
  /**
   * The purge log: a Durable Object of the class `PurgeLog`, with SQLite. Without it every page passes unstored,
   * `/_tidemark/` answers 503, and the log names the missing lines.
   */
  readonly PURGE_LOG: DurableObjectNamespace<PurgeLog>;
  /** Gets a data point with each report to the site's ledger, at most one a minute and isolate. */
  readonly TIDEMARK_ANALYTICS?: AnalyticsEngineDataset;
  /**
   * A secret: one token that may purge and read, of at least 32 random characters. Without it and `TIDEMARK_TOKENS` the
   * control plane is closed, as it is with one that could be guessed.
   */
  readonly TIDEMARK_TOKEN?: string | undefined;
  /** A secret: named tokens as JSON, a list of `{"name", "scopes", "sha256"}` with the hash of each token in hexadecimal. */
  readonly TIDEMARK_TOKENS?: string | undefined;
  /** An address that takes precedence over the site's `origin`. */
  readonly TIDEMARK_ORIGIN?: string;
  /** Takes precedence over the site's `hosts`: names separated by commas, or `*` for any. */
  readonly TIDEMARK_HOSTS?: string;
  /** An address that takes precedence over the site's `publicUrl`. */
  readonly TIDEMARK_PUBLIC_URL?: string;
  /** The client address to forward if the runtime does not provide it, as on a developer's machine. */
  readonly TIDEMARK_CLIENT_ADDRESS?: string;
}

/**
 * The edge for a site: the default export of a worker, which must export `PurgeLog` as well. Throws a `SiteError` at once if
 * the rules are not valid, or have a setting that only `tidemark serve` has.
 */
export function createEdge(siteInput: SiteInput): ExportedHandler<EdgeEnv> {
  const edge = createEdgeWithHooks(siteInput, {});
  refuseServerSettings(siteInput);
  return edge;
}

/** The same for a site that a build has checked, so that the worker needs nothing to check it with. */
export function createCheckedEdge(site: CheckedSite): ExportedHandler<EdgeEnv> {
  return edgeOf((overrides) => compileChecked(site, overrides), {});
}

/** The parts that the simulated CDN and the dev command replace. An owner's worker does not need them. */
export interface EdgeHooks {
  /** Default: the runtime's clock. */
  readonly clock?: Clock;
  /** Accept a token that could be guessed, as on a developer's machine. Default false. */
  readonly acceptsWeakTokens?: boolean;
  /** Compiles the site. Default: with what the variables say. */
  readonly compile?: Compile;
  /** Returns the platform that the edge runs on, given the real one. Default: the real one. */
  readonly platform?: (platform: Platform) => Platform;
}

/** Like `createEdge`, with parts of the platform replaced. */
export function createEdgeWithHooks(siteInput: SiteInput, hooks: EdgeHooks): ExportedHandler<EdgeEnv> {
  checkSite({ ...siteInput }); // so that a mistake ends the start, and not the first request, unless variables may correct it
  return edgeOf(hooks.compile ?? ((overrides) => compileSite(siteInput, overrides)), hooks);
}

type Compile = (overrides: SiteOverrides) => Site;

function edgeOf(compile: Compile, hooks: EdgeHooks): ExportedHandler<EdgeEnv> {
  let isolate: RunningIsolate | undefined;
  return {
    fetch(request, env, context) {
      isolate ??= startOrExplain(compile, env, hooks);
      const { url, cf } = request; // each look at a property calls the runtime
      const answer = isolate.fetch({
        request,
        url,
        background: { run: (work) => context.waitUntil(work) },
        pop: typeof cf?.colo === "string" ? cf.colo : null,
        visitor: cf,
        country: typeof cf?.country === "string" ? cf.country : null,
        clientAddress: cf ? request.headers.get("cf-connecting-ip") : (env.TIDEMARK_CLIENT_ADDRESS ?? null),
      });
      return answer instanceof Promise ? answer.then(toWebResponse) : toWebResponse(answer);
    },
  };
}

/** Logs the mistakes of invalid settings for the owner, so that the runtime does not answer with its own error page. */
function startOrExplain(compile: Compile, env: EdgeEnv, hooks: EdgeHooks): RunningIsolate {
  try {
    return startOnWorkers(compile, env, hooks);
  } catch (error) {
    if (!(error instanceof SiteError)) throw error;
    console.error(`Tidemark cannot start: ${error.message}`);
    const words = "The settings of this edge are not valid. Its log says why.";
    return { fetch: () => edgeAnswer(503, "misconfigured", words) };
  }
}

/**
 * The runtime's clock. In production it stands still between I/O events, which the allowance for clocks covers (R7).
 */
const systemClock: Clock = { now: () => Date.now(), wait: waitByTimer };

/** The Workers runtime as a platform. */
function startOnWorkers(compile: Compile, env: EdgeEnv, hooks: EdgeHooks): RunningIsolate {
  const isLogBound = typeof env.PURGE_LOG?.idFromName === "function";
  const compiled = compile(overridesOf(env));
  const site = isLogBound ? compiled : withoutCache(compiled);
  const warn = (line: string) => console.warn(line);
  const log = new PurgeLogStub(isLogBound ? env.PURGE_LOG : null);
  for (const line of weakenedDefences(site)) warn(line);
  const host = site.hosts?.[0] ?? new URL(site.originUrl).host;
  const { TIDEMARK_ANALYTICS: analytics, TIDEMARK_TOKEN, TIDEMARK_TOKENS } = env;
  const { acceptsWeakTokens } = hooks;
  const platform: Platform = {
    clock: hooks.clock ?? systemClock,
    random: Math.random,
    sharedTier: new CacheApiTier(caches.default),
    notes: new CacheApiNotes(caches.default, host, log.objectId),
    origin: new OriginFetch(
      site.originUrl,
      site.limits.originTimeoutMs,
      serviceOf(site, env),
      site.limits.storeBytes,
      site.capacity !== null,
    ),
    log,
    audit: log,
    ledger: {
      client: log,
      isolate: crypto.randomUUID(),
      ...(analytics && { onReport: analyticsWriter(analytics, warn) }),
    },
    bodies: runtimeBodies,
    losesRequests: true,
    control: deferredControl,
    tokens: configuredTokens({ TIDEMARK_TOKEN, TIDEMARK_TOKENS, acceptsWeakTokens }, warn, readNamedLater),
    fingerprint,
    reporter: new Counters(site.originUrl, warn),
  };
  const isolate = startIsolate(site, hooks.platform?.(platform) ?? platform);
  if (isLogBound) return isolate;
  void import("../wire/purge-log-binding.ts").then(({ MISSING_PURGE_LOG }) => console.error(MISSING_PURGE_LOG));
  return withoutControlPlane(isolate, site);
}

/** The worker in the origin's place; `null` for an address. Throws `SiteError` if there is no such binding. */
function serviceOf({ originService: name }: Site, env: EdgeEnv): Fetcher | null {
  if (name === null) return null;
  const service: Fetcher | undefined = Reflect.get(env, name);
  if (typeof service?.fetch === "function") return service;
  const message = `${JSON.stringify(name)} is not a service binding of this worker: ${addService(name)}`;
  throw new SiteError([{ path: "origin.service", message }]);
}

/** Without a purge log nothing could be purged, so every route passes and nothing is stored (promise 6). */
function withoutCache(site: Site): Site {
  return { ...site, routes: site.routes.map((route) => ({ ...route, pass: true })) };
}

/**
 * Answers all of the control plane with 503, even health checks, so that a deployment without a purge log does not look
 * healthy.
 */
function withoutControlPlane(isolate: RunningIsolate, site: Site): RunningIsolate {
  const detail = "This edge has no binding PURGE_LOG, so it stores nothing. Its log says what wrangler.toml lacks.";
  return {
    fetch: (arrival) =>
      isForControl(site, arrival.request, arrival.url)
        ? loadControl().then(({ problemResponse }) =>
            problemResponse("unavailable", detail, undefined, EDGE_ANSWER_FIELDS),
          )
        : isolate.fetch(arrival),
  };
}

/** No page needs it, nor zod, which it brings. It is a module of its own. */
const loadControl = () => import("./isolate-control.ts");

/** Reads the list of named tokens. */
async function readNamedLater(text: string): Promise<readonly KnownToken[]> {
  const { readNamedTokens } = await loadControl();
  return readNamedTokens(text);
}

/** Loads the control plane when it is first called. */
const deferredControl: StartControl = (...parts) => {
  let starting: Promise<IsolateControl> | undefined;
  const start = async () => {
    const { startControl } = await loadControl();
    return startControl(...parts, ({ request }) => request as Request);
  };
  return {
    async fetch(incoming) {
      starting ??= start();
      return (await starting).fetch(incoming);
    },
  };
};
