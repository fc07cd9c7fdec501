import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { ConfigFileError } from "../../package/config-file-error.ts";
import { LOG_WORKER } from "../runtime/log-address.ts";
import { PurgeLogRuntime } from "../runtime/purge-log-runtime.ts";
import { simulatedWorker } from "../runtime/simulated-worker.ts";
import { TemporaryFolder } from "../runtime/temporary-folder.ts";
import { Cdn, stopInTurn } from "./cdn.ts";
import type { CdnOptions } from "./cdn-options.ts";
import { roundTripsOf } from "./latency.ts";
import { Lifecycle } from "./lifecycle.ts";
import { Pop } from "./pop.ts";
import { type OriginScript, ScriptedOrigin } from "./scripted-origin.ts";

/** The time at which a CDN with a scripted origin starts: epoch milliseconds. */
const SIMULATED_START = Date.UTC(2026, 0, 1, 12);

/** The work of `startCdn`, once all the packages that it needs are known to be installed. */
export async function assembleCdn<Region extends string>(options: CdnOptions<Region>): Promise<Cdn<Region>> {
  const { regions = ["local" as Region], isolates = 1, latency = false, publicUrl } = options;
  const token = options.token ?? randomBytes(24).toString("base64url");
  const roundTrips = regions.map((region) => roundTripsOf(region, latency));
  const url = originUrl(options.origin);
  const clock = { now: url === null ? SIMULATED_START : Date.now() };
  const script = options.origin as OriginScript | undefined;
  const lifecycle = new Lifecycle();
  const origin = url === null ? new ScriptedOrigin(() => clock.now, script, lifecycle) : null;

  const started: { stop(): Promise<void> }[] = [];
  const home = await TemporaryFolder.make("tidemark-cdn-");
  try {
    await origin?.comeUp();
    const reachedAt = url ?? origin!.url;
    const worker = await simulatedWorker(options, reachedAt);
    const variables = {
      ...worker.variables,
      TIDEMARK_ORIGIN: reachedAt,
      TIDEMARK_TOKEN: token,
      ...(publicUrl === undefined ? {} : { TIDEMARK_PUBLIC_URL: publicUrl }),
    };
    const runtime = {
      ...worker,
      variables,
      registry: join(home.path, "registry"),
      temporary: home.path,
      log: { className: worker.logClass },
    };
    const logRuntime = new PurgeLogRuntime({ ...runtime, persist: join(home.path, "log") }, clock.now);
    started.push(logRuntime);
    const popRuntime = { ...runtime, log: { ...runtime.log, of: LOG_WORKER } };
    const starting = regions.map(async (name, index) => {
      const pop = await Pop.start({
        name,
        isolates,
        runtime: popRuntime,
        now: clock.now,
        roundTrips: roundTrips[index]!,
        isOriginOnRealTime: origin === null,
        logAddress: logRuntime.address,
        lifecycle,
      });
      started.push(pop);
      return pop;
    });
    const [log, ...outcomes] = await Promise.allSettled([logRuntime.start(), ...starting]);
    if (log.status === "rejected") throw startError(options, log.reason);
    const pops = outcomes.map((outcome) => {
      if (outcome.status === "rejected") throw outcome.reason;
      return outcome.value;
    });
    const site = await pops[0]!.isolate().site();
    if (site === null) {
      throw new Error(
        "The worker did not make its edge with createEdge of tidemark/worker, so it cannot be put on simulated time.",
      );
    }
    logRuntime.address.publish();
    await Promise.all(pops.map((pop) => pop.waitForLog(true)));
    const cleanUp = () => home.remove();
    return new Cdn<Region>({ pops, logRuntime, origin, clock, lifecycle, ...site, token, cleanUp });
  } catch (error) {
    await stopInTurn(started.toReversed()); // the log was first
    await origin?.goDown();
    await home.remove();
    throw error;
  }
}

/**
 * The runtime's message that it failed to start contains the error that a module of the owner's worker threw, mostly a
 * mistake in the site's rules.
 */
function startError({ config }: { readonly config?: string | undefined }, error: unknown): unknown {
  const message = error instanceof Error ? error.message : "";
  const thrown = /Uncaught (?:Error: )?(?:SiteError: )?(.+?)(?:\n +at |$)/s.exec(message)?.[1]?.trim();
  if (config === undefined || thrown === undefined) return error;
  return new ConfigFileError(`${config}: its worker does not start: ${thrown}`, { cause: error });
}

/** `null` for a script. */
function originUrl(origin: string | URL | OriginScript | undefined): string | null {
  if (typeof origin === "string" || origin instanceof URL) return new URL(origin).origin;
  return null;
}
