import { readForwardedCookies } from "../../rules/request/request-facts.ts";
import type { Miss, RequestContext } from "../request-context.ts";
import { askOrigin, stream } from "./ask-origin.ts";
import { invalidateAfter } from "./invalidation.ts";

/** Sends the request on as it is and streams what comes; nothing is kept. */
export async function forward(context: RequestContext, miss: Miss): Promise<Response> {
  const cookies = readForwardedCookies((name) => context.request.headers.get(name), []);
  const asked = await askOrigin(context, { storing: false, cookie: cookies.forwarded, conditions: [] });
  await invalidateAfter(context, asked);
  if (asked.kind !== "answered") return asked.answer();
  return stream(context, asked.response, miss, undefined);
}
