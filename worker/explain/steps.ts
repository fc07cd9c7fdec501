import type { Explanation } from "../../wire/explanation.ts";
import { type UnusableVerdict, type UsableVerdict, wordsOf, xCacheOf } from "../flow/miss.ts";
import type { Entry, FetchPlan } from "../flow/plans.ts";
import type { StandInBecause } from "../rules/freshness/stale-if-error.ts";
import { mayStoreAnswer } from "../rules/identity/identity.ts";
import type { ClientClass } from "../rules/queueing/client-class.ts";
import type { RequestFacts } from "../rules/request/request-facts.ts";
import type { StoredHead } from "../rules/storing/stored-response.ts";

type Step = Explanation["steps"][number];

/** A pretended request as the corridor has judged it. */
export interface JudgedRequest {
  readonly entry: Entry;
  readonly facts: Pick<RequestFacts, "identity" | "isPartial">;
  readonly memory: StoredHead | undefined;
  readonly sharedTier: StoredHead | undefined;
  /** Whether variants of the page are stored that the request does not select. */
  readonly hasOtherVariants: boolean;
  /** The stored response that answers; `null` for none. */
  readonly hit: {
    readonly head: StoredHead;
    readonly verdict: UsableVerdict;
    /** The coding that it gets here or, in words, why it gets none; `null` where the edge codes nothing. */
    readonly coding: string | null;
    /** The older version by which it is sent or, in words, why by none; `null` where the owner wants none used. */
    readonly delta: string | null;
  } | null;
  /** The stored responses that may not answer. */
  readonly unusable: readonly { readonly head: StoredHead; readonly verdict: UnusableVerdict }[];
  /** What happens if no stored response answers; `null` if one does, or if nothing is looked up. */
  readonly fetch: PlannedFetch | null;
  /**
   * The class of its client at the origin, whether others wait there before it, and whether no more may; `null` if the
   * site has no limit.
   */
  readonly queue: { readonly client: ClientClass; readonly isBusy: boolean; readonly isFull: boolean } | null;
  /** Whether the origin is known to be down, so that nobody waits for it. */
  readonly isDown: boolean;
  /** Why the token of a refresh is refused; `null` if it is not, or if the request is none. */
  readonly refusedBecause: string | null;
}

export interface PlannedFetch {
  readonly plan: FetchPlan;
  /** Whether the request to the origin has the validators of the stored response. */
  readonly validates: boolean;
  /** Why a stored response may replace an answer that does not come; `null` if it may not. */
  readonly standIn: StandInBecause | null;
  /** Whether another request is fetching the same, so that this one waits for it. */
  readonly follows: boolean;
  /** Whether the last answer could not be stored, so that nobody waits for this one. */
  readonly isHitForMiss: boolean;
  /** The first field that might change the answer, because nothing is known about it; `null` for none. */
  readonly unkeyedField: string | null;
}

/** The answer that a judged request would get. */
export function outcomeOf(judged: JudgedRequest): Explanation["outcome"] {
  const { entry, hit, fetch, isDown, refusedBecause } = judged;
  if (entry.kind === "last-hop") return withoutXCache("max-forwards");
  if (refusedBecause !== null) return withoutXCache("refresh-refused");
  if (hit) {
    const { verdict } = hit;
    return { xCache: xCacheOf(verdict), detail: verdict.kind === "fresh" ? null : verdict.because };
  }
  if (fetch?.plan.kind === "only-if-cached") return withoutXCache("only-if-cached");
  if (isDown || isTurnedAway(judged)) {
    const standIn = fetch?.standIn;
    // A busy origin is reached.
    if (standIn && (isDown || standIn !== "stale.ifDisconnected")) return { xCache: "STALE", detail: standIn };
    return withoutXCache(isDown ? "origin-down" : "origin-busy");
  }
  if (entry.kind === "refresh") return { xCache: "BYPASS", detail: "refresh" };
  const { xCache, detail } = wordsOf(entry.kind === "bypass" ? entry.miss : fetch!.plan.miss);
  return { xCache, detail: detail ?? null };
}

/** A request that waits for another's fetch does not enter the queue. */
function isTurnedAway({ queue, fetch }: JudgedRequest): boolean {
  return queue?.isFull === true && !fetch?.follows;
}

/** The answer of the edge itself. */
function withoutXCache(detail: string): Explanation["outcome"] {
  return { xCache: null, detail };
}

/** What would happen now to a judged request: a step for each decision, in order. */
export function stepsOf(judged: JudgedRequest): Step[] {
  const { entry, facts, hit, unusable, fetch, queue, isDown, refusedBecause } = judged;
  const busy = queue?.isBusy ? [step(isTurnedAway(judged) ? "queue-full" : "origin-busy")] : [];
  const inLine = queue === null ? [] : [step("client", queue.client), ...busy];
  const turn = isDown ? [step("origin-down")] : inLine;
  if (entry.kind === "bypass") {
    const { miss } = entry;
    return [step("bypass", wordsOf(miss).detail ?? (miss.kind === "passed-on" ? miss.because : null)), ...turn];
  }
  if (entry.kind === "last-hop") return [step("last-hop")];
  if (entry.kind === "refresh") return [step("refresh", refusedBecause), ...(refusedBecause === null ? turn : [])];
  const steps: Step[] = [];
  for (const place of ["memory", "sharedTier"] as const) {
    const head = judged[place];
    if (hit && hit.head === head) {
      steps.push(step(place, hit.verdict.kind === "fresh" ? "fresh" : hit.verdict.because));
      if (hit.coding !== null) steps.push(step("coding", hit.coding));
      if (hit.delta !== null) steps.push(step("delta", hit.delta));
      return steps;
    }
    const reason = unusable.find((each) => each.head === head)?.verdict.because;
    steps.push(step(place, reason ?? (judged.hasOtherVariants ? "other-variants" : "nothing")));
  }
  const { plan, validates, standIn, follows, isHitForMiss, unkeyedField } = fetch!;
  steps.push(step("fetch", plan.kind));
  if (plan.kind === "only-if-cached") return steps;
  steps.push(...turn);
  if (follows) steps.push(step("follow"));
  if (isHitForMiss) steps.push(step("hit-for-miss"));
  if (validates) steps.push(step("revalidate"));
  if (standIn) steps.push(step("stale-if-error", standIn));
  if (facts.isPartial && plan.kind.startsWith("fetch")) steps.push(step("part"));
  const { kind } = plan;
  if (kind === "part" || kind === "date" || kind === "forward" || kind === "head" || kind === "fetch-unstored") {
    return [...steps, step("store", "no")];
  }
  steps.push(step("store", mayStoreAnswer(facts.identity)));
  if (unkeyedField !== null) steps.push(step("store", `unkeyed-field:${unkeyedField}`));
  return steps;
}

function step(name: string, because: string | null = null): Step {
  return { step: name, because };
}
