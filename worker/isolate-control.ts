import type { Explanation } from "../wire/explanation.ts";
import { controlPlane } from "./control/app.ts";
import { recordBody } from "./control/purging/audit.ts";
import { explain } from "./explain/explain.ts";
import { handle } from "./flow/corridor.ts";
import { type IncomingRequest, type Isolate, withoutAnswerEvents } from "./flow/request-context.ts";
import { Counters } from "./metrics/counters.ts";
import type { ControlledParts, IsolateControl, Platform } from "./platform.ts";
import type { ClientRequest } from "./ports/answer.ts";
import type { Reporter } from "./ports/reporter.ts";
import type { Fields } from "./rules/fields/fields.ts";
import { resolveUrl } from "./rules/key/cache-key.ts";
import type { StoredHead } from "./rules/storing/stored-response.ts";
import type { Site } from "./site/site.ts";
import { UnchangedStore } from "./store/unchanged-store.ts";

export { readNamedTokens } from "./control/access/named-tokens.ts";
export { problemResponse } from "./control/problem-response.ts";

/** Wires the control plane of one isolate. `webRequest` makes the web's class of a platform's request. */
export function startControl(
  site: Site,
  platform: Platform,
  { corridor, memory, purging, reports, stats }: ControlledParts,
  webRequest: (incoming: IncomingRequest) => Request,
): IsolateControl {
  const { clock, reporter } = platform;
  const control = controlPlane({
    rules: site,
    doors: site.doors,
    purgeAddresses: { from: site.purgesFrom, proxies: site.trustedProxies },
    tokens: platform.tokens,
    log: purging.log,
    audit: platform.audit,
    reporter,
    ledger: platform.ledger?.client ?? null,
    sightings: reporter.sightings,
    clock,
    readLedger: reports?.read ?? null,
    nothing: () => new Counters("", () => undefined).tree().counts,
    stats,
    hasDashboard: site.hasDashboard,
    settings: { version: 1, ...site.settings, limits: site.limits, purge: site.purge },
    originIsDown: () => corridor.originState.isDown(clock.now()),
    fingerprint: platform.fingerprint,
  });
  const explainPage = explainer(site, platform, { corridor, memory, purging });
  const unattended: Isolate = {
    ...corridor,
    ports: { ...corridor.ports, reporter: withoutAnswerEvents(corridor.ports.reporter) },
  };
  return {
    fetch: (incoming) =>
      control.fetch(webRequest(incoming), {
        peerAddress: incoming.peerAddress ?? null,
        bodies: platform.bodies,
        refresh: async (page, fields, noteStoring) => {
          const run = (work: Promise<unknown>) => {
            incoming.background.run(work);
            noteStoring(work);
          };
          return handle({ ...incoming, request: requestFor("GET", fields), url: page, storing: { run } }, unattended);
        },
        explain: (page, method, fields) => explainPage({ ...incoming, request: requestFor(method, fields), url: page }),
      }),
  };
}

/**
 * Explains what would happen to a request. The request is simulated, so it changes nothing, and only a wrong token of a
 * refresh counts.
 */
function explainer(
  site: Site,
  { audit, sharedTier, reporter, worker, lastRefusal = (url) => reporter.lastRefusals.of(url) }: Platform,
  { corridor, memory, purging }: Pick<ControlledParts, "corridor" | "memory" | "purging">,
): (incoming: IncomingRequest) => Promise<Explanation> {
  const ports = {
    keys: () => memory.keys(),
    worker,
    purgeOf: (stored: StoredHead) => purging.view.purgeOf(stored),
    lastRefusal,
    findPurge: async (seq: number) => {
      const row = await audit.find(seq).catch(() => null);
      return row && recordBody(row);
    },
  };
  const unchanged = (): Isolate => ({
    ...corridor,
    ports: { ...corridor.ports, store: new UnchangedStore(memory, sharedTier), reporter: DEAF },
    resolve: (url) => resolveUrl(url, site),
  });
  return (incoming) => explain(incoming, unchanged(), ports);
}

/** A request that the edge itself makes. */
function requestFor(method: string, headers: Fields): ClientRequest {
  return { method, headers, body: null, bodyUsed: false };
}

/** Does not hear of requests that are only simulated. */
const DEAF: Reporter = { report: () => undefined };
