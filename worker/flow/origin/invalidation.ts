import { invalidatedGroups } from "../../rules/invalidation/cache-groups.ts";
import { invalidatedTargets } from "../../rules/invalidation/invalidated-urls.ts";
import { isSafeMethod } from "../../rules/invalidation/safe-method.ts";
import { groupPurgeKey, keyedPath, urlPurgeKey } from "../../rules/key/cache-key.ts";
import type { RequestContext } from "../request-context.ts";
import type { OriginResult } from "./ask-origin.ts";
import { clientFields } from "./ask-origin.ts";

/**
 * What an unsafe request has put out of date: its own URL, those that the answer names, and cache groups. RFC 9111 §4.4,
 * RFC 9875 §3. This PoP's copies are gone before the client has its answer; the log is told now, after the origin's
 * answer and before the client's (R15). An answer that was lost may have been a success, so its URL counts.
 */
export async function invalidateAfter(context: RequestContext, asked: OriginResult): Promise<void> {
  const { facts, target, ports, background, collapsed } = context;
  if (isSafeMethod(facts.method) || target.route.pass) return;
  if (asked.kind === "refused" || asked.kind === "switched") return;
  const url = `${target.scheme}://${target.host}${target.pathAndQuery}`;
  const fields = asked.kind === "answered" ? clientFields(context, asked.response.headers) : new Headers();
  const status = asked.kind === "answered" ? asked.response.status : 200;
  const named = invalidatedTargets(facts.method, status, url, fields.get("location"), fields.get("content-location"));
  const groups = status < 400 ? invalidatedGroups(facts.method, fields.get("cache-group-invalidation")) : [];
  const targets = named.flatMap((each) => {
    const resolved = context.resolve(each);
    return resolved.kind === "target" ? [resolved] : [];
  });
  const purgeKeys = targets.map((each) => urlPurgeKey(each.host, keyedPath(each)));
  purgeKeys.push(...groups.map((group) => groupPurgeKey(target, group)));
  if (purgeKeys.length === 0) return;
  ports.invalidations.tell([...new Set(purgeKeys)], background);
  for (const { key } of targets) collapsed.abandonKey(key);
  const forgotten = Promise.all(targets.map(({ key }) => ports.store.forget(key)));
  background.run(forgotten);
  await forgotten;
}
