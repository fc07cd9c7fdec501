import type { Explanation } from "../../wire/explanation.ts";
import { isControl } from "../../wire/fields.ts";
import type { PurgeRecordBody } from "../../wire/purge-record.ts";
import { mayStandIn } from "../flow/answering/stale-answer.ts";
import { isHitForMiss, sharedKeyOf } from "../flow/collapsing/begin-fetch.ts";
import { judgeAtOnce, judgeNow, mayAnswer, mustAskForItself } from "../flow/judging.ts";
import { lookFurther } from "../flow/looking-up.ts";
import { conditionsOf, type Miss, missOf, type UsableVerdict } from "../flow/miss.ts";
import { entryOf, planFetch } from "../flow/plans.ts";
import {
  clientOf,
  type IncomingRequest,
  type Isolate,
  openContext,
  type RequestContext,
} from "../flow/request-context.ts";
import { markerInMemory, selectInMemory, selectInSharedTier, selectingNames } from "../flow/selection.ts";
import type { FoundResponse } from "../ports/store.ts";
import { currentAgeMs } from "../rules/freshness/current-age.ts";
import { isMadeStale } from "../rules/freshness/judge.ts";
import type { ResolvedUrl } from "../rules/key/cache-key.ts";
import { canonicalQuery } from "../rules/key/query.ts";
import { unkeyedField } from "../rules/request/unkeyed-field.ts";
import { type StoredHead, tagsOf } from "../rules/storing/stored-response.ts";
import { nearestKeys } from "./nearest-keys.ts";
import { type JudgedRequest, outcomeOf, type PlannedFetch, stepsOf } from "./steps.ts";

/** Why and when, in epoch milliseconds, the last answer of a page was not stored. */
interface LastRefusal {
  readonly because: string;
  readonly at: number;
}

/** What an explanation needs beside the corridor's own ports. */
export interface ExplainPorts {
  /** The worker of a server that has several. */
  readonly worker: string | undefined;
  /** The keys in this isolate's memory. */
  keys(): Iterable<string>;
  /** The number of the purge by which the view has judged a stored response; 0 for none. */
  purgeOf(stored: StoredHead): number;
  /** As far as that is known. Never rejects. */
  lastRefusal(url: string): LastRefusal | undefined | Promise<LastRefusal | undefined>;
  /** A row of the audit trail; `null` if there is none, or if the log does not answer. */
  findPurge(seq: number): Promise<PurgeRecordBody | null>;
}

/**
 * Explains what the corridor would do with a request. The decisions are the corridor's own. The ports of the isolate
 * must change nothing (`UnchangedStore`); only a view whose lease is over is renewed, as for any request.
 */
export async function explain(incoming: IncomingRequest, isolate: Isolate, ports: ExplainPorts): Promise<Explanation> {
  const { url, request } = incoming;
  const common = { version: 1, url, method: request.method } as const;
  const { urlBytes } = isolate.site.limits;
  if (isControl(url)) return { ...common, ...withoutPage(null, "control-plane", null) };
  if (url.length > urlBytes) {
    return { ...common, ...withoutPage("url-too-long", "refuse", `it is longer than ${urlBytes} bytes`) };
  }
  const resolved = isolate.resolve(url, incoming.child);
  if (resolved.kind === "refused") {
    const detail = resolved.status === 421 ? "host-unknown" : "url-refused";
    return { ...common, ...withoutPage(detail, "refuse", resolved.because) };
  }
  const context = openContext(incoming, isolate, resolved);
  const judged = await judgeRequest(context);
  const { memory, sharedTier, hit, fetch } = judged;
  const refusal = fetch && (await ports.lastRefusal(resolved.cacheKey));
  // Another isolate than the one that remembers it may have stored the page since.
  const isLast = refusal && ![memory, sharedTier].some((head) => head && head.receivedAt > refusal.at);
  const decisive = hit?.head ?? fetch?.plan.miss.selected?.head;
  return {
    ...common,
    ...(ports.worker && { worker: ports.worker }),
    route: resolved.route.pattern,
    key: resolved.cacheKey,
    dropped: droppedOf(url, resolved),
    memory: describe(context, memory),
    sharedTier: describe(context, sharedTier),
    purge: await purgeOf(context, [decisive, memory, hit ? undefined : sharedTier], ports),
    outcome: outcomeOf(judged),
    steps: stepsOf(judged),
    ...(isLast && { lastRefusal: { ...refusal, at: new Date(refusal.at).toISOString() } }),
    nearest: fetch ? nearest(context, resolved, ports) : [],
  };
}

/** The explanation of a URL that is no page's. */
function withoutPage(detail: string | null, step: string, because: string | null) {
  return {
    route: null,
    key: null,
    dropped: [],
    memory: null,
    sharedTier: null,
    purge: null,
    outcome: { xCache: null, detail },
    steps: [{ step, because }],
    nearest: [],
  };
}

/** The parameters that are not in the key. */
function droppedOf(url: string, { route }: ResolvedUrl): string[] {
  const { search } = new URL(url);
  const isDropped = (text: string) => text !== "" && canonicalQuery(`?${text}`, route.query) === "";
  return search.slice(1).split("&").filter(isDropped);
}

/** Takes the corridor's decisions, up to the point where it would act. */
async function judgeRequest(context: RequestContext): Promise<JudgedRequest> {
  const { facts, ports } = context;
  const entry = entryOf(context);
  const remembered = selectInMemory(context);
  const verdict = entry.kind === "look-up" && remembered && judgeAtOnce(context, remembered.head, ports.clock.now());
  const isDecided = entry.kind !== "look-up" || verdict;
  const look = isDecided ? null : await lookFurther(context, remembered, ports.clock.now());
  const found = look ? look.found : await selectInSharedTier(context);
  const hasOtherVariants = markerInMemory(context) !== undefined;
  // A fetch may have put the one that answers into memory meanwhile.
  const inMemory = look?.kind === "answers" && look.stored !== found ? look.stored : remembered;
  const tiers = { memory: inMemory?.head, sharedTier: found?.head, hasOtherVariants };
  const isDown = context.isolate.originState.isDown(ports.clock.now());
  const token = entry.kind === "refresh" && (await ports.tokens.check(facts.refreshToken, "purge"));
  const refusedBecause = token && token.kind === "refused" ? token.because : null;
  const judged = { ...tiers, entry, facts, queue: queueOf(context), isDown, refusedBecause };
  if (look === null) {
    const hit = remembered && verdict ? hitOf(context, remembered, verdict) : null;
    return { ...judged, hit, unusable: [], fetch: null };
  }
  if (look.kind === "answers") {
    // The response in memory was judged first. A purge may have left a newer one in the shared tier.
    const passedOver = remembered && look.stored !== remembered ? [remembered] : [];
    const unusable = passedOver.flatMap(({ head }) => {
      const verdict = judgeNow(context, head, null, ports.clock.now());
      return mayAnswer(verdict) ? [] : [{ head, verdict }];
    });
    return { ...judged, unusable, hit: hitOf(context, look.stored, look.verdict), fetch: null };
  }
  const unusable = look.unusable.map(({ stored, verdict }) => ({ head: stored.head, verdict }));
  const fetch = plannedFetch(context, missOf(context, look.unusable));
  return { ...judged, unusable, hit: null, fetch };
}

function queueOf(context: RequestContext): JudgedRequest["queue"] {
  const { isolate, facts, resolved, ports } = context;
  const gate = isolate.originGate;
  if (gate === null) return null;
  const place = { since: ports.clock.now(), ...gate.standingOf(clientOf(context)) };
  const ahead = gate.queueAhead(resolved.route.pattern, facts.asksForStream);
  return { client: place.client, isBusy: ahead !== undefined, isFull: ahead?.isFullFor(place) ?? false };
}

function hitOf(context: RequestContext, stored: FoundResponse, verdict: UsableVerdict): JudgedRequest["hit"] {
  const { compression } = context.ports;
  const coding = compression?.explain(context, stored) ?? null;
  const delta = compression?.explainDelta(context, stored) ?? null;
  return { head: stored.head, verdict, coding, delta };
}

function plannedFetch(context: RequestContext, miss: Miss): PlannedFetch {
  const { facts, resolved, isolate } = context;
  const plan = planFetch(context, miss);
  const { selected } = plan.miss;
  const sendsConditions = plan.kind === "fetch" || plan.kind === "fetch-unstored";
  const isShared = plan.kind === "fetch" || plan.kind === "head-by-get";
  const key = isShared ? sharedKeyOf(context) : null;
  const goesAlone = key !== null && isHitForMiss(context, key);
  const mayFollow = key !== null && !goesAlone && !mustAskForItself(context);
  return {
    plan,
    validates: sendsConditions && conditionsOf(context, plan.miss) !== null,
    standIn: plan.kind !== "forward" && selected ? mayStandIn(context, selected.head, "disconnected") : null,
    follows: mayFollow && isolate.collapsed.find(key) !== undefined,
    isHitForMiss: goesAlone,
    unkeyedField: unkeyedField(facts.fields, selectingNames(context), resolved.route),
  };
}

function describe({ ports }: RequestContext, head: StoredHead | undefined): Explanation["memory"] {
  if (!head) return null;
  const ageMs = currentAgeMs(head.initialAgeMs, head.receivedAt, ports.clock.now());
  return {
    status: head.status,
    bodyBytes: head.bodyBytes,
    since: new Date(head.receivedAt).toISOString(),
    ageSeconds: Math.floor(ageMs / 1000),
    freshForSeconds: Math.floor(head.freshnessSeconds - ageMs / 1000),
    selectedBy: head.variant.map(([name]) => name),
    tags: tagsOf(head),
  };
}

/** The purge by which the view judges the first of these responses that one has touched, with its row of the audit trail. */
async function purgeOf(
  { ports: { purges, clock } }: RequestContext,
  heads: readonly (StoredHead | undefined)[],
  ports: ExplainPorts,
): Promise<Explanation["purge"]> {
  for (const head of heads) {
    const made = head && purges.check(head, purges.isUsable(clock.now(), null));
    if (made !== "purged" && !(made && isMadeStale(made))) continue;
    const seq = ports.purgeOf(head!);
    return { seq, made, record: await ports.findPurge(seq) };
  }
  return null;
}

function nearest({ facts }: RequestContext, { cacheKey }: ResolvedUrl, ports: ExplainPorts): Explanation["nearest"] {
  return nearestKeys(cacheKey, (name) => facts.originView.value(name), ports.keys());
}
