import type { FoundResponse } from "../../ports/store.ts";
import { effectiveCacheControl } from "../../rules/directives/targeted-fields.ts";
import { Fields } from "../../rules/fields/fields.ts";
import { initialAgeMs } from "../../rules/freshness/current-age.ts";
import { speaksForEverybody } from "../../rules/identity/identity.ts";
import { unkeyedField } from "../../rules/request/unkeyed-field.ts";
import { isWithdrawal, type NotStored } from "../../rules/storing/not-stored.ts";
import { withheldFields } from "../../rules/storing/storable.ts";
import {
  changedHead,
  type StoredFields,
  type StoredHead,
  tagsOf,
  validatorsOf,
} from "../../rules/storing/stored-response.ts";
import { confirms, freshenFields } from "../../rules/validation/freshen.ts";
import { clientFields } from "../answering/pass-on.ts";
import type { FetchedResponse } from "../origin/ask-origin.ts";
import type { RequestContext } from "../request-context.ts";
import { decideStorage, linesWithout } from "./storage-decision.ts";

/** A stored response as a 304 updates it. */
export interface Freshened {
  readonly stored: FoundResponse;
  /** The fields for the client whose request brought the 304. */
  readonly ownFields: StoredFields;
  /** The reason why it may not be stored; `null` if it may be. */
  readonly notStored: NotStored | null;
}

/**
 * The stored response whose validators were sent, as the 304 confirms it (R3); `null` if the 304 does not. RFC 9111
 * §4.3.4. Its stamp and times are those of the validation (R2).
 */
export function freshen(
  context: RequestContext,
  { head, body }: FoundResponse,
  notModified: Omit<FetchedResponse, "lengthBytes">,
): Freshened | null {
  const named = { etag: notModified.fields.get("etag"), lastModified: notModified.fields.get("last-modified") };
  if (!confirms(named, validatorsOf(head))) return null;
  const receivedAt = context.ports.clock.now();
  const fields = freshenedFields(head, notModified.fields, receivedAt);
  const response = { ...notModified, status: head.status, fields, lengthBytes: null };
  const decision = decideStorage(context, response, tagsOf(head));
  const { cacheControl } = effectiveCacheControl((name) => fields.get(name), context.isolate.site.targetedFields);
  const withheld = withheldFields(cacheControl).filter((name) => !notModified.fields.has(name));
  const { bodyBytes, bodyKey } = head;
  if (decision.kind === "not-stored") {
    // The response is not stored, so only the client whose request brought the 304 gets it.
    const age = initialAgeMs(fields.get("age"), fields.get("date"), notModified.fetchedAt, receivedAt);
    const lines = linesWithout(withheld, clientFields(context, fields));
    const changed = changedHead(head, { fields: lines, receivedAt, initialAgeMs: age });
    return { stored: { head: changed, body }, ownFields: lines, notStored: decision };
  }
  const givenPurgeKeys = [...new Set([...decision.head.givenPurgeKeys, ...head.givenPurgeKeys])]; // old and new tags (R17)
  return {
    stored: { head: { ...decision.head, givenPurgeKeys, bodyBytes, bodyKey }, body },
    ownFields: linesWithout(withheld, decision.fields),
    notStored: null,
  };
}

/**
 * Forgets a stored response that the origin has withdrawn: it now says that the same bytes are private or must not be
 * stored. They are not served to others again, not even stale.
 */
export function forgetWithdrawn(context: RequestContext, { stored, notStored }: Freshened): void {
  if (isWithdrawal(notStored?.because ?? null)) forgetOutdated(context, stored);
}

/** Forgets a stored response that the origin's answer shows to be out of date, if that is so for everybody. */
export function forgetOutdated(context: RequestContext, stored: FoundResponse): void {
  const { background, ports } = context;
  if (appliesToEverybody(context, stored)) background.run(ports.store.forget(stored.head.key));
}

/**
 * Whether the origin's answer also applies to the stored page. An answer to a visitor with cookies may be about that
 * visitor's page alone, and an unkeyed field may have influenced the answer.
 */
function appliesToEverybody(context: RequestContext, { head }: FoundResponse): boolean {
  const { facts, resolved } = context;
  const keyed = head.variant.map(([name]) => name);
  return speaksForEverybody(facts.identity) && unkeyedField(facts.fields, keyed, resolved.route) === null;
}

/** The client fields that the updated response would have, with the length of the stored body. */
function freshenedFields({ fields, hiddenFields, bodyBytes }: StoredHead, from304: Fields, receivedAt: number): Fields {
  const updated = freshenFields(Fields.of([...fields, ...hiddenFields]), from304);
  // RFC 9110 §6.6.1: an answer without a date has the date of its own arrival, not the stored one.
  if (!from304.has("date")) updated.set("date", new Date(receivedAt).toUTCString());
  updated.set("content-length", String(bodyBytes));
  return updated;
}
