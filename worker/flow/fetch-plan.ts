import { validatorsOf } from "../rules/storing/stored-response.ts";
import { validationFields } from "../rules/validation/conditional-request.ts";
import type { Miss } from "./miss.ts";
import { mayFetchByGet } from "./origin/head-by-get.ts";
import type { RequestContext } from "./request-context.ts";

/** How a request that no stored response may answer goes to the origin. Deciding it changes nothing. */
export interface FetchPlan {
  readonly kind: /** Answered with 504, because it wants no answer but a stored one. */
    | "only-if-cached"
    /** Passed on. Nothing is stored. */
    | "forward"
    /** The answer may be for one visitor, so nobody waits for it. It is stored if it is for everybody. */
    | "fetch-for-one"
    /** A HEAD for which the page is fetched by GET, and stored. */
    | "head-by-get"
    /** A HEAD that is passed on. It may freshen what is stored. */
    | "head"
    /** Fetched for this request alone, because it forbids storing. */
    | "fetch-unstored"
    /** Fetched and stored if that is allowed. Others may wait for the answer. */
    | "fetch";
  readonly miss: Miss;
  /** True if only its credentials or its session send it to the origin. */
  readonly isPastTheCache: boolean;
}

export function planFetch(context: RequestContext, miss: Miss): FetchPlan {
  const { facts } = context;
  const { forbidsStoring, onlyIfCached } = facts.directives;
  const plan = (kind: FetchPlan["kind"], changed = miss): FetchPlan => ({ kind, miss: changed, isPastTheCache: false });
  if (onlyIfCached) return plan("only-if-cached");
  const needsSession = miss.detail === "session" || losesSession(context);
  if (facts.authorized || needsSession) {
    if (needsSession || !facts.isForWholePage || forbidsStoring) return { ...plan("forward"), isPastTheCache: true };
    // It validates nothing and nobody joins it: until its head is there, its answer may be for one visitor.
    return { ...plan("fetch-for-one", { ...miss, selected: null, toValidate: null }), isPastTheCache: true };
  }
  if (facts.method === "HEAD") return plan(mayFetchByGet(context, miss) ? "head-by-get" : "head");
  if (facts.isPartial && !mayFetchWhole(context, miss)) return plan("forward", { ...miss, reason: "partial" });
  return plan(forbidsStoring ? "fetch-unstored" : "fetch");
}

/**
 * Whether a request for a part fetches the whole page: if the page may be small, or if a stored response can be
 * confirmed.
 */
function mayFetchWhole({ site, ports }: RequestContext, { toValidate }: Miss): boolean {
  if (site.limits.fetchWholeBytes > 0) return true;
  return toValidate !== null && validationFields(validatorsOf(toValidate.head), ports.clock.now()) !== null;
}

/** Whether the origin would not see the session of the request, because the route keys by other cookies alone. */
function losesSession({ facts }: RequestContext): boolean {
  return facts.hasSession && facts.choices.cookie !== undefined;
}
