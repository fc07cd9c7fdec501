import type { StreamedBody } from "../../ports/bodies.ts";
import { mayHaveBody } from "../../rules/storing/framing.ts";
import type { ReceivedAnswer } from "../origin/ask-origin.ts";
import type { RequestContext } from "../request-context.ts";
import { type Fill, startFill } from "./fill.ts";

/** Starts a fill within the budget of the isolate. Default for `maxBytes`: what the site stores with its head. */
export function startFillFor(
  { ports, isolate, background }: RequestContext,
  body: StreamedBody | null,
  lengthBytes: number | null,
  maxBytes = isolate.site.limits.storeBytes,
): Fill {
  const fill = startFill(body, lengthBytes, maxBytes, isolate.fills.open(ports.clock.now()), ports.bodies);
  background.run(fill.delivered);
  return fill;
}

/** The same for an answer of the origin. */
export function startFillOf(context: RequestContext, { status, body, lengthBytes }: ReceivedAnswer): Fill {
  return startFillFor(context, mayHaveBody(status) ? body : null, lengthBytes);
}
