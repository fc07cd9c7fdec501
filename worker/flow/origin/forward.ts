import { readForwardedCookies } from "../../rules/request/request-facts.ts";
import type { Miss, Passage } from "../request-context.ts";
import { askOrigin, stream } from "./ask-origin.ts";
import { invalidateAfter } from "./invalidation.ts";

/** Sends the request on as it is and streams what comes; nothing is kept. */
export async function forward(passage: Passage, miss: Miss): Promise<Response> {
  const cookies = readForwardedCookies((name) => passage.request.headers.get(name), []);
  const asked = await askOrigin(passage, { storing: false, cookie: cookies.forwarded, conditions: [] });
  await invalidateAfter(passage, asked);
  if (asked.kind !== "answered") return asked.answer();
  return stream(passage, asked.response, miss, undefined);
}
