import { mayBeIdle, plainRequest } from "../../rules/request/second-look.ts";
import { varyFields } from "../../rules/variants/vary.ts";
import type { RequestContext } from "../request-context.ts";
import { type Place, placeOf } from "./second-looks.ts";
import type { StorageDecision } from "./storage-decision.ts";

/** So many second looks in a row have to find that a field chooses nothing. */
const LOOKS = 3;
/** Of so many requests, one goes to the origin with the field, and is looked at again. */
const ONE_OF = 16;
/** The most fields that are known to be idle, each in one place. */
const MAX_FIELDS = 256;

interface Record {
  /** The second looks in a row that have found the field to choose nothing. */
  looks: number;
  requests: number;
  /** False if what visitors with cookies or credentials got without the field could not be stored. */
  forIdentified: boolean;
}

/**
 * Unknown fields that choose nothing in a folder of the site, as far as second looks have found. What they are left out
 * of costs the origin one request instead of two, and can be stored at once.
 */
export class IdleFields {
  readonly #records = new Map<string, Record>();

  /** Notes what a second look has found of these fields. */
  learn(place: Place, fields: readonly string[], because: "alike" | "unlike" | "differs"): void {
    for (const field of fields) {
      const key = keyOf(place, field);
      if (because !== "alike") this.#records.delete(key);
      else if (mayBeIdle(field)) {
        const record = this.#records.get(key) ?? { looks: 0, requests: 0, forIdentified: true };
        record.looks++;
        this.#records.delete(key);
        this.#records.set(key, record); // the last of all, because the first one goes
        if (this.#records.size > MAX_FIELDS) this.#records.delete(this.#records.keys().next().value!);
      }
    }
  }

  get isEmpty(): boolean {
    return this.#records.size === 0;
  }

  /** Whether a request in this place may go to the origin without these fields. It counts as such a request. */
  mayLeaveOut(place: Place, fields: readonly string[], isAnonymous: boolean): boolean {
    const records = fields.map((field) => this.#records.get(keyOf(place, field)));
    if (!records.every((record) => record && record.looks >= LOOKS && (isAnonymous || record.forIdentified)))
      return false;
    return records.every((record) => ++record!.requests % ONE_OF !== 0);
  }

  /** The origin's answer without these fields cannot be stored, so they may matter here. */
  refute(place: Place, fields: readonly string[], isAnonymous: boolean): void {
    for (const field of fields) {
      const record = this.#records.get(keyOf(place, field));
      if (record && !isAnonymous) record.forIdentified = false;
      else this.#records.delete(keyOf(place, field));
    }
  }
}

function keyOf({ route, folder }: Place, field: string): string {
  return `${field} ${folder} ${route}`;
}

/** The request without fields that are known to be idle where it goes; the same request if there is any other. */
export function withoutIdleFields(context: RequestContext): RequestContext {
  const { facts, resolved, idleFields, answersHead } = context;
  const { route } = resolved;
  if (idleFields.isEmpty || !route.looksAgain || facts.method !== "GET" || facts.isPartial || answersHead)
    return context;
  if (facts.directives.forbidsStoring) return context;
  const plain = plainRequest(facts.fields, "anonymous", route.selectingNames, route);
  const isAnonymous = facts.identity === "anonymous";
  if (!plain || !idleFields.mayLeaveOut(placeOf(resolved), plain.leftOut, isAnonymous)) return context;
  const { fields, leftOut } = plain;
  return {
    ...context,
    facts: facts.withFields(new Headers(fields.map(([name, value]) => [name, value]))),
    leftOut,
    asSent: context,
  };
}

/**
 * The request as it was sent, if the origin's answer to it without its idle fields is not what it should get: an answer
 * that is not stored, or that varies by one of them. These fields are idle no longer.
 */
export function toAskAgainAsSent(
  context: RequestContext,
  decision: StorageDecision,
  vary: string | null,
): RequestContext | null {
  const { asSent, leftOut = [], idleFields, resolved } = context;
  if (!asSent) return null;
  const names = varyFields(vary);
  if (decision.kind === "store" && !leftOut.some((name) => names.includes(name))) return null;
  idleFields.refute(placeOf(resolved), leftOut, decision.kind === "store" || asSent.facts.identity === "anonymous");
  return asSent;
}
