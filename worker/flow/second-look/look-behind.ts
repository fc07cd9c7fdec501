import { cancelBody } from "../../ports/cancel-body.ts";
import type { Fields } from "../../rules/fields/fields.ts";
import {
  type AnswerDigest,
  answerDigest,
  compareAnswers,
  fieldsThatMayChoose,
  hasOtherType,
  type PlainRequest,
  plainRequest,
} from "../../rules/request/second-look.ts";
import type { NotStored } from "../../rules/storing/not-stored.ts";
import type { StoredResponse } from "../../rules/storing/stored-response.ts";
import { selectingFields } from "../../rules/variants/vary.ts";
import { beginFetch } from "../collapsing/begin-fetch.ts";
import { type LeadingFetch, outcomeOfNotStored } from "../collapsing/collapsed-fetches.ts";
import { askOrigin, type ReceivedAnswer } from "../origin/ask-origin.ts";
import { readBehind, startFillOf } from "../reading-bodies.ts";
import { type RequestContext, unattended } from "../request-context.ts";
import { decideStorage, type HeadToStore, withBody } from "../storing/storage-decision.ts";
import { storeUnlessPurged, type TellFollowers, tellNobody } from "../storing/store-unless-purged.ts";
import { placeOf } from "./place.ts";

/**
 * Sends the client an answer that only an unknown field keeps from being stored. Then it asks the origin once more, as
 * a plain visitor would, and stores that answer. Returns the answer for the client.
 */
export function lookBehind(context: RequestContext, response: ReceivedAnswer, notStored: NotStored): ReceivedAnswer {
  const { isolate } = context;
  const { fields, lengthBytes } = response;
  const plain = plainOf(context, fields, notStored);
  if (!plain || (lengthBytes !== null && lengthBytes > isolate.site.limits.storeBytes)) return response;
  const body = readBehind(context, startFillOf(context, response), (bytes) =>
    look(context, plain, answerDigest(response, bytes)),
  );
  return { ...response, body };
}

/** The same where the origin has confirmed to the odd request what is stored: a page of this status. */
export function lookAgainAfterConfirmation(
  context: RequestContext,
  fields: Fields,
  status: number,
  notStored: NotStored,
): void {
  const plain = plainOf(context, fields, notStored);
  if (plain) context.background.run(look(context, plain, { status, digest: null }));
}

function plainOf(context: RequestContext, fields: Fields, { because }: NotStored): PlainRequest | null {
  const { facts, resolved } = context;
  const { route } = resolved;
  if (because !== "unkeyed-field" || !route.looksAgain || facts.method !== "GET" || facts.isPartial) return null;
  const names = selectingFields({
    field: (name) => fields.get(name),
    askedAcross: facts.field("origin") !== null,
    keyFields: route.selectingNames,
    parts: facts.parts,
    owners: route,
  });
  if (names === "*") return null;
  // An answer to credentials that the origin gives to others, too (RFC 9111 §3.5), belongs to no single visitor.
  const identity = facts.authorized && !facts.visitor.cookies.identifying ? "anonymous" : facts.identity;
  return plainRequest(facts.fields, identity, names, route);
}

async function look(context: RequestContext, { fields, leftOut }: PlainRequest, odd: AnswerDigest): Promise<void> {
  const { isolate, resolved, ports } = context;
  const { secondLooks } = isolate;
  const { idleFields } = secondLooks;
  const place = placeOf(resolved);
  const plain = unattended(context, context.facts.withFields(fields));
  const begun = context.facts.authorized ? null : beginFetch(plain);
  // A plain visitor asks already, or one has asked and nothing could be stored.
  if (begun && begun.kind !== "lead") return;
  const first = await fetchForAll(plain, begun?.fetch, odd);
  if (first.kind === "none") return;
  if (first.kind === "other-status") return idleFields.learn(place, leftOut, "unlike");
  const isOtherType = first.kind === "other-type";
  const compared = isOtherType ? "differs" : compareAnswers(odd, first.digest);
  // A redirect or an error shows nothing of pages.
  if (odd.digest !== null && (odd.status === 200 || compared !== "alike")) idleFields.learn(place, leftOut, compared);
  if (compared !== "differs") return;
  const suspects = fieldsThatMayChoose(leftOut.map(([name]) => name));
  if (suspects.length === 0 || !(isOtherType || (await isRepeated(context, odd)))) return;
  const { freshnessSeconds, initialAgeMs } = first.head;
  const now = ports.clock.now();
  const until = now + freshnessSeconds * 1000 - initialAgeMs;
  for (const field of suspects) {
    if (secondLooks.mark(place, field, until, now)) ports.reporter.report({ kind: "field-marked" });
  }
}

/**
 * Whether the odd request gets its answer once more. Else the page has changed since, or differs on each render, and the
 * plain answer shows nothing of the field.
 */
async function isRepeated(context: RequestContext, odd: AnswerDigest): Promise<boolean> {
  const asOdd = unattended(context, context.facts);
  const response = await ask(asOdd, true);
  const bytes = response && (await readWhole(asOdd, response));
  return !!bytes && compareAnswers(odd, answerDigest(response, bytes)) === "alike";
}

/** Fetches and stores the plain answer. Others may wait for it, unless it is asked for with credentials. */
async function fetchForAll(
  context: RequestContext,
  fetch: LeadingFetch | undefined,
  odd: AnswerDigest,
): Promise<PlainAnswer> {
  if (fetch) context.background.run(fetch.outcome);
  const tell = fetch?.tell ?? tellNobody;
  try {
    const answer = await fetchPlainly(context, odd, tell);
    if (answer.kind === "storable") await storeUnlessPurged(context, withBody(answer.head, answer.bytes), tell);
    return answer;
  } finally {
    tell({ kind: "failed", byOrigin: false }); // unless they have been told
  }
}

/**
 * `other-status`, `other-type`: not that of the odd answer, so that it would be wrong for who sends the field. `none`: there
 * is none, or it may not be stored.
 */
type PlainAnswer =
  | {
      readonly kind: "storable";
      readonly head: HeadToStore;
      readonly bytes: NonNullable<StoredResponse["body"]>;
      readonly digest: AnswerDigest;
    }
  | { readonly kind: "other-type"; readonly head: HeadToStore }
  | { readonly kind: "other-status" }
  | { readonly kind: "none" };

const NONE: PlainAnswer = { kind: "none" };

/** Asks for a plain answer, under a stamp of its own (R1). Followers are told of one that may not be stored. */
async function fetchPlainly(
  context: RequestContext,
  odd: AnswerDigest,
  tellFollowers: TellFollowers,
): Promise<PlainAnswer> {
  const response = await ask(context, false);
  if (!response) return NONE;
  const decision = decideStorage(context, response);
  const isLike = response.status === odd.status;
  const isOtherType = hasOtherType(odd, response.fields);
  if (decision.kind !== "store" || decision.isLarge || !isLike || isOtherType) {
    if (decision.kind === "not-stored") tellFollowers(outcomeOfNotStored(decision.because, response.status));
    context.background.run(cancelBody(response.body));
    if (!isLike) return { kind: "other-status" };
    return decision.kind === "store" && isOtherType ? { kind: "other-type", head: decision.head } : NONE;
  }
  const bytes = await readWhole(context, response);
  if (!bytes) return NONE;
  return { kind: "storable", head: decision.head, bytes, digest: answerDigest(response, bytes) };
}

/** Asks the origin, if the budget permits. `isAnew`: the origin itself, also where a cache is in its place. */
async function ask(context: RequestContext, isAnew: boolean): Promise<ReceivedAnswer | null> {
  const { ports, isolate } = context;
  if (!isolate.secondLooks.take()) return null;
  ports.reporter.report({ kind: "second-look" });
  const result = await askOrigin(context, { storing: true, isAnew });
  return result.kind === "answered" ? result.response : null;
}

/** The body, which no client gets; `null` if it is too large, or does not come whole. */
async function readWhole(context: RequestContext, response: ReceivedAnswer): Promise<StoredResponse["body"] | null> {
  const fill = startFillOf(context, response);
  context.background.run(cancelBody(fill.body));
  const read = await fill.read;
  return read.kind === "whole" ? read.bytes : null;
}
