import type { OriginRequest } from "../../ports/origin.ts";
import { reasonToRefuseFields } from "../../rules/fields/field-limits.ts";
import { storedField } from "../../rules/storing/stored-response.ts";
import { clientFields } from "../answering/pass-on.ts";
import type { Miss } from "../miss.ts";
import type { RequestContext } from "../request-context.ts";

/**
 * The function that takes the origin's interim responses to the client whose request it got. They are not stored, and
 * no other request that waits for the fetch gets them. RFC 9110 §15.2, RFC 8297. `undefined` if no client waits, or the
 * platform cannot.
 */
export function interimsFor(context: RequestContext): OriginRequest["inform"] {
  const { incoming, isUnattended, isolate } = context;
  const { request } = incoming;
  if (isUnattended || !request.inform) return undefined;
  const { responseFields: maxFields, responseFieldBytes: maxBytes } = isolate.site.limits;
  return ({ status, fields }) => {
    if (reasonToRefuseFields(fields, { maxFields, maxBytes }) !== null) return;
    request.inform!({ status, fields: clientFields(context, fields) });
  };
}

/** The `rel` of links that a browser follows before it has the page. RFC 8297 §2; HTML, "Early hints". */
const EARLY = /preload|preconnect/i;

/**
 * Sends a browser the links of the stored page that it would have got, while that is fetched anew: most pages keep
 * their styles and scripts. Only on navigations, where browsers act on them. Not if a purge has made the page stale.
 */
export function hintAtLinks({ incoming, isUnattended, facts }: RequestContext, miss: Miss): void {
  if (isUnattended || miss.toValidate === null) return;
  if (miss.kind !== "stale" || (miss.because !== "stale" && miss.because !== "no-cache")) return;
  if (facts.field("sec-fetch-mode") !== "navigate") return;
  const link = storedField(miss.toValidate.head, "link");
  if (link !== null && EARLY.test(link)) incoming.request.hint?.(link);
}
