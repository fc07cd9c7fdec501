import type { Answer } from "../../ports/answer.ts";
import { redirectTarget } from "../../rules/forwarding/client-response-fields.ts";
import { droppedTrackers, withParameters } from "../../rules/key/query.ts";
import type { RequestContext } from "../request-context.ts";

/**
 * A redirect within the site, with the tracking parameters of the request: the origin did not get them, and scripts on the
 * page read them.
 */
export function giveTrackersBack(context: RequestContext, answer: Answer): Answer {
  const { incoming, resolved } = context;
  const location = answer.fields.get("location");
  const site = `${resolved.scheme}://${resolved.host}`;
  const target = redirectTarget(answer.status, location, site);
  if (target === null || URL.parse(target)?.host !== URL.parse(site)?.host) return answer;
  const trackers = droppedTrackers(incoming.url.replace(/^[^?]*/, ""), resolved.route.query);
  const fields = answer.fields.filter(() => true);
  fields.set("location", withParameters(location!, trackers));
  return { ...answer, fields };
}
