import { notStoredDetail } from "../rules/storing/not-stored.ts";
import type { Miss } from "./miss.ts";
import type { RequestContext } from "./request-context.ts";
import { placeOf } from "./second-look/second-looks.ts";

/** The corridor's first decision about a request. Making it changes nothing. */
export type Entry =
  | { readonly kind: "look-up" }
  /** Fetched whatever is stored, if its `Tidemark-Refresh` is a token that may. */
  | { readonly kind: "refresh" }
  /** Sent to the origin unchanged. Nothing is looked up or stored. */
  | { readonly kind: "bypass"; readonly miss: Miss }
  /** Answered by the edge, because `Max-Forwards` lets the request go no further. */
  | { readonly kind: "last-hop" };

const LOOK_UP: Entry = { kind: "look-up" };
const REFRESH: Entry = { kind: "refresh" };
const LAST_HOP: Entry = { kind: "last-hop" };

export function entryOf(context: RequestContext): Entry {
  switch (context.facts.mode) {
    case "look-up":
      return marked(context) ?? LOOK_UP;
    case "refresh":
      return REFRESH;
    case "bypass":
      return bypassOf(context);
  }
}

/** The entry of a request that is not looked up, whatever its mode. */
export function bypassOf(context: RequestContext): Entry {
  const { facts } = context;
  if (facts.maxForwards.kind === "answer") return LAST_HOP;
  const reason = facts.method === "GET" || facts.method === "HEAD" ? "bypass" : "method";
  const detail = reason === "method" ? undefined : bypassDetail(context);
  return { kind: "bypass", miss: { xCache: "BYPASS", reason, detail, selected: null, toValidate: null } };
}

/** A second look has found that a field of the request chooses the page: it is passed on. */
function marked(context: RequestContext): Entry | undefined {
  const { facts, resolved, secondLooks, arrivedAt } = context;
  if (!secondLooks.hasMarks) return undefined;
  const has = (name: string) => facts.field(name) !== null;
  const field = secondLooks.markedField(placeOf(resolved), has, arrivedAt);
  if (field === undefined || facts.directives.onlyIfCached) return undefined;
  const detail = notStoredDetail({ because: "unkeyed-field", field });
  return { kind: "bypass", miss: { xCache: "BYPASS", reason: "bypass", detail, selected: null, toValidate: null } };
}

/** What of the owner's rules keeps a request from being looked up; `undefined` for none. */
function bypassDetail({ facts, resolved }: RequestContext): string | undefined {
  if (facts.bypassedBy !== null) return `bypass-${facts.bypassedBy}`;
  if (resolved.bypassesByQuery) return "bypass-query";
  return resolved.mayStore ? undefined : "route-condition";
}
