import type { Answer } from "../../ports/answer.ts";
import { cancelBody } from "../../ports/cancel-body.ts";
import type { OriginResponse } from "../../ports/origin.ts";
import type { NotStored } from "../../rules/storing/not-stored.ts";
import type { Miss } from "../miss.ts";
import { startFillFor } from "../reading-bodies.ts";
import type { RequestContext } from "../request-context.ts";
import { isHeldByClient } from "./answer-from-store.ts";
import { notModifiedFields } from "./answers.ts";
import { passOn } from "./pass-on.ts";

/** How much of a body that nobody needs is read at most, so that the connection to the origin stays open: bytes. */
const DRAINED_BYTES = 256 * 1024;

/**
 * Does as `passOn` for a request whose conditions were not sent to the origin: a client that holds this very answer, by its
 * tag, gets a 304. RFC 9110 §13.1.2. A date does not count: PHP gives each page of a session that of its script, and sends
 * the page whatever date the client has.
 */
export function passOnUnlessHeld(
  context: RequestContext,
  response: OriginResponse,
  miss: Miss,
  notStored: NotStored | undefined,
  countedStatus?: number,
): Answer {
  const tag = response.fields.lines((name) => name === "etag");
  if (response.status !== 200 || tag.length === 0 || !isHeldByClient(context, { fields: tag }))
    return passOn(context, response, miss, notStored, countedStatus);
  context.background.run(cancelBody(startFillFor(context, response.body, null, DRAINED_BYTES).body));
  const answer = passOn(context, { ...response, body: null }, miss, notStored, 304);
  return { ...answer, status: 304, statusText: "", fields: notModifiedFields(answer.fields) };
}
