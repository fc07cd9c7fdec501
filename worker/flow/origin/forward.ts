import type { Answer } from "../../ports/answer.ts";
import { cancelBody } from "../../ports/cancel-body.ts";
import type { OriginResponse } from "../../ports/origin.ts";
import { Fields } from "../../rules/fields/fields.ts";
import { destinationAt } from "../../rules/forwarding/destination.ts";
import { invalidatedGroups } from "../../rules/invalidation/cache-groups.ts";
import { invalidatedUrls } from "../../rules/invalidation/invalidated-urls.ts";
import { isSafeMethod } from "../../rules/invalidation/safe-method.ts";
import { partsKey } from "../../rules/key/cache-key.ts";
import { groupPurgeKey, urlPurgeKey } from "../../rules/key/purge-key.ts";
import { mayLackReferer } from "../../rules/request/second-look.ts";
import type { NotStored } from "../../rules/storing/not-stored.ts";
import { storedField, validatorsOf } from "../../rules/storing/stored-response.ts";
import { freshenByHead } from "../../rules/validation/freshen.ts";
import { clientFields, passOn } from "../answering/pass-on.ts";
import { passOnUnlessHeld } from "../answering/pass-on-unless-held.ts";
import { hasStandIn, staleAnswer } from "../answering/stale-answer.ts";
import { type Miss, mayBeConfirmed } from "../miss.ts";
import { isInMemory } from "../reading-bodies.ts";
import type { RequestContext } from "../request-context.ts";
import { forgetOutdated, forgetWithdrawn, freshen } from "../storing/freshening.ts";
import { storeUnlessPurged, tellNobody } from "../storing/store-unless-purged.ts";
import { askOrigin, hasFailed, type OriginResult } from "./ask-origin.ts";

/** Sends the request on unchanged and streams the answer. It stores nothing. */
export async function forward(asked: RequestContext, miss: Miss): Promise<Answer> {
  const context = withoutDoubtfulRange(withWholeQuery(asked));
  const asking = askAndInvalidate(context);
  // On Workers the code of a request whose client has left ends, unless something holds it.
  if (!isSafeMethod(context.facts.method)) context.background.run(asking.catch(() => undefined));
  const result = await asking;
  return result.kind === "answered" ? passOn(context, result.response, miss, undefined) : result.answerInstead();
}

/** Sends a request that was refused once more, now with its `Referer`. The answer is for this client alone. */
export async function forwardWithReferer(
  context: RequestContext,
  refusal: OriginResponse,
  miss: Miss,
): Promise<Answer> {
  context.background.run(cancelBody(refusal.body));
  const result = await askOrigin(context, { storing: false });
  if (result.kind !== "answered") return result.answerInstead();
  return passOn(context, result.response, miss, { because: "unkeyed-field", field: "referer" });
}

async function askAndInvalidate(context: RequestContext): Promise<OriginResult> {
  const result = await askOrigin(context, { storing: false });
  await invalidateAfter(context, result);
  return result;
}

/**
 * A client may hold a coded form, to which the origin's bytes would not fit. Neither a date nor a weak tag tells which one, so
 * it gets the whole page.
 */
export function withoutDoubtfulRange(context: RequestContext): RequestContext {
  const { facts, ports, resolved } = context;
  const held = facts.field("if-range") ?? facts.field("if-unmodified-since");
  if (!ports.compression || resolved.route.pass || facts.method !== "GET") return context;
  if (held === null || held.startsWith('"')) return context;
  const fields = Fields.copy(facts.fields, (name) => name !== "range" && name !== "if-range");
  return { ...context, facts: facts.withFields(fields) };
}

function withWholeQuery(context: RequestContext): RequestContext {
  const { resolved } = context;
  return { ...context, resolved: { ...resolved, pathAndQuery: resolved.pathAndWholeQuery } };
}

/**
 * Forwards a HEAD that no stored response answers. Its answer is not stored, but may freshen or invalidate a stored
 * response. RFC 9111 §4.3.5. `notStored`: why the answer to a GET in its place was not.
 */
export async function forwardHead(context: RequestContext, miss: Miss, notStored?: NotStored): Promise<Answer> {
  const { ports, background } = context;
  const result = await askOrigin(context, { storing: true, hasStandIn: () => hasStandIn(context, miss) });
  const answer = hasFailed(result) ? await staleAnswer(context, miss, result) : null;
  if (answer) return answer;
  if (result.kind !== "answered") return result.answerInstead();
  const { response } = result;
  if (mayLackReferer(response.status, context.facts.fields, context.resolved.route))
    return forwardWithReferer(context, response, miss);
  const stored = miss.selected;
  if (stored && !ports.origin.isCache && response.status === 200 && stored.head.status === 200) {
    const { fields, lengthBytes } = response;
    const { bodyBytes } = stored.head;
    const effect = freshenByHead(
      { ...validatorsOf(stored.head), bodyBytes, contentEncoding: storedField(stored.head, "content-encoding") },
      {
        etag: fields.get("etag"),
        lastModified: fields.get("last-modified"),
        bodyBytes: lengthBytes,
        contentEncoding: fields.get("content-encoding"),
      },
    );
    if (effect === "invalidate") forgetOutdated(context, stored);
    if (effect === "freshen" && mayBeConfirmed(context, stored.head)) {
      const freshened = freshen(context, stored, response); // as if by a 304 (R2)
      if (freshened) forgetWithdrawn(context, freshened);
      if (freshened?.notStored === null && isInMemory(freshened.stored)) {
        background.run(storeUnlessPurged(context, freshened.stored, tellNobody));
      }
    }
  }
  return passOnUnlessHeld(context, response, miss, notStored);
}

/**
 * Invalidates the responses that an unsafe request has made outdated: those of its own URL, of the URLs that the answer
 * names, and of cache groups. RFC 9111 §4.4, RFC 9875 §3. This PoP's copies are removed before the client gets the
 * answer; the log is told after the origin's answer and before the client's (R15). A lost answer may have been a
 * success, so the URL is invalidated then, too. `ended`: the end of an answer that may come before the change.
 */
async function invalidateAfter(context: RequestContext, result: OriginResult, ended = endOf(result)): Promise<void> {
  const { facts, resolved, ports, background, incoming } = context;
  const { collapsed, resolve } = context.isolate;
  if (isSafeMethod(facts.method) || resolved.route.pass) return;
  if (result.kind === "refused" || result.kind === "switched") return;
  const address = `${resolved.scheme}://${resolved.host}`;
  const url = address + resolved.pathAndQuery;
  const isAnswered = result.kind === "answered" && !isLost(result.response);
  const fields = isAnswered ? clientFields(context, result.response.fields) : new Fields();
  const status = isAnswered ? result.response.status : 200;
  const [location, contentLocation] = [fields.get("location"), fields.get("content-location")];
  const destination = destinationAt(() => address, facts, [url, incoming.url]);
  const named = invalidatedUrls(facts.method, status, url, location, contentLocation, destination);
  const groups = status < 400 ? invalidatedGroups(facts.method, fields.get("cache-group-invalidation")) : [];
  const invalidated = named.flatMap((each) => {
    const target = resolve(each, incoming.child);
    return target.kind === "resolved" ? [target] : [];
  });
  const purgeKeys = invalidated.map(({ host, pathAndQuery }) => urlPurgeKey(host, pathAndQuery));
  purgeKeys.push(...groups.map((group) => groupPurgeKey(resolved, group)));
  if (purgeKeys.length === 0) return;
  const told = ports.invalidations.tell([...new Set(purgeKeys)], background);
  for (const { cacheKey } of invalidated) collapsed.abandonPage(cacheKey);
  const keys = invalidated.flatMap(({ cacheKey }) => [cacheKey, partsKey(cacheKey)]);
  const forgotten = Promise.all(keys.map((key) => ports.store.forget(key)));
  background.run(forgotten);
  if (ended) background.run(ended.then(() => invalidateAfter(context, result, null)));
  await Promise.all([forgotten, told]);
}

/** The end of an answer of unknown length, until which the origin may go on changing something. */
function endOf(result: OriginResult): Promise<void> | null | undefined {
  return result.kind === "answered" && result.response.lengthBytes === null ? result.response.ended?.() : null;
}

/** Whether a cache in place of the origin says that the origin's answer was lost. With 503, the origin was not asked. */
function isLost({ isOriginLost, status }: OriginResponse): boolean {
  return isOriginLost === true && status !== 503;
}
