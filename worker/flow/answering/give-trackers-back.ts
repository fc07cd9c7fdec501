import type { Answer } from "../../ports/answer.ts";
import { redirectTarget } from "../../rules/forwarding/client-response-fields.ts";
import { droppedTrackers, withParameters } from "../../rules/key/query.ts";
import type { RequestContext } from "../request-context.ts";

/**
 * A redirect to the same host, with the tracking parameters of the request: the origin did not get them, and scripts on the
 * page read them.
 */
export function giveTrackersBack(context: RequestContext, answer: Answer): Answer {
  const { incoming, resolved } = context;
  if (!incoming.url.includes("?")) return answer;
  const location = answer.fields.get("location");
  const site = `${resolved.scheme}://${resolved.host}`;
  const target = redirectTarget(answer.status, location, site);
  const isOfHost = target !== null && /^https?:/.test(target) && URL.parse(target)?.host === URL.parse(site)?.host;
  // One without a path or a query is of the same page.
  if (!isOfHost || /^(?:#|$)/.test(location!)) return answer;
  const trackers = droppedTrackers(incoming.url.replace(/^[^?]*/, ""), resolved.route.query);
  if (trackers.length === 0) return answer;
  const fields = answer.fields.filter(() => true);
  fields.set("location", withParameters(location!, trackers));
  return { ...answer, fields };
}
