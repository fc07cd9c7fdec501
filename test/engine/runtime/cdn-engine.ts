import { type Cdn, startCdn } from "tidemark/local";
import type { SiteInput } from "../../../worker/site/site-input.ts";
import type { Engine } from "../engine.ts";
import { HOST, TOKEN } from "../scenario.ts";

/** The isolates that scenarios can name, in order. */
export const ISOLATES = ["a", "b", "c"];

/**
 * A PoP of the simulated CDN: as many of the isolates that scenarios can name as requested, in the Workers runtime, and
 * a purge log that can be made unreachable. A request to an isolate that does not exist fails.
 */
export async function startCdnEngine(site: Omit<Partial<SiteInput>, "origin">, isolates: number): Promise<Engine> {
  const cdn = await startCdn({ site: { hosts: [HOST], ...site }, isolates, token: TOKEN });
  return engineOf(cdn);
}

function engineOf(cdn: Cdn<"local">): Engine {
  const { origin } = cdn;
  const pop = cdn.pop();
  return {
    name: "runtime",
    get seen() {
      return origin.seen;
    },
    send: ({ path, isolate = "a", ...request }) =>
      cdn.request(path, { ...request, isolate: ISOLATES.indexOf(isolate) }),
    settle: (promise) => promise,
    advance: (ms) => cdn.advance(`${ms}ms`),
    reply: (target, replies) => origin.reply(target, ...replies),
    release: (hold) => origin.release(hold),
    originSees: (target, count) => origin.waitUntilSeen(target, count),
    originDown: () => origin.goDown(),
    originUp: () => origin.comeUp(),
    restartIsolate: async () => {
      for (let number = 0; number < pop.isolates; number++) await pop.killIsolate(number);
    },
    finishWork: () => pop.finishWork(),
    emptySharedTier: () => pop.emptyCache(),
    setLogReachable: (isReachable) => (isReachable ? pop.reconnectToLog() : pop.cutFromLog()),
    makeLogAnew: () => cdn.log.recreate(),
    stop: () => cdn.close(),
  };
}
