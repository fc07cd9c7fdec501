import type { Answer } from "../../ports/answer.ts";
import type { ReceiptToken } from "../../rules/request/receipt-token.ts";
import { fetchKeyOf } from "../collapsing/begin-fetch.ts";
import { collapse } from "../collapsing/collapse.ts";
import type { Miss } from "../miss.ts";
import type { RequestContext } from "../request-context.ts";
import { cancelBody } from "./cancel-body.ts";

/**
 * Whether the page is fetched by GET and stored for a HEAD that misses. What is held is validated by the HEAD itself
 * (RFC 9111 §4.3.5), which costs the origin less.
 */
export function mayFetchByGet(context: RequestContext, { selected, toValidate }: Miss): boolean {
  const { facts, resolved, isolate, ports } = context;
  if (!resolved.route.storesOnHead || facts.directives.forbidsStoring) return false;
  if (selected !== null || toValidate !== null) return false;
  const key = fetchKeyOf(context);
  return !isolate.headOnly.has(key, ports.clock.now()) && !isolate.collapsed.isHitForMiss(key);
}

/** Fetches the page as a GET would, and answers with its head. */
export async function headByGet(
  context: RequestContext,
  miss: Miss,
  token: ReceiptToken | null,
  lookAgain: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const asGet = { ...context, facts: context.facts.forWholePage() };
  const answer = await collapse({ context: asGet, miss, token, lookAgain });
  context.background.run(cancelBody(answer.body)); // it is read for the store alone
  return { ...answer, body: null };
}
