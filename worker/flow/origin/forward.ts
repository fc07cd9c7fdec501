import type { Answer } from "../../ports/answer.ts";
import { passOn } from "../answering/pass-on.ts";
import type { Miss } from "../miss.ts";
import type { RequestContext } from "../request-context.ts";
import { askOrigin } from "./ask-origin.ts";
import { invalidateAfter } from "./invalidation.ts";

/** Sends the request on unchanged and streams the answer. It stores nothing. */
export async function forward(context: RequestContext, miss: Miss): Promise<Answer> {
  const result = await askOrigin(context, { storing: false });
  await invalidateAfter(context, result);
  if (result.kind !== "answered") return result.answer();
  return passOn(context, result.response, miss, undefined);
}
