import { type Miss, type MissReason, missBy } from "./miss.ts";
import type { RequestContext } from "./request-context.ts";
import { fieldThatPasses } from "./second-look/second-look.ts";

/** The corridor's first decision about a request. Making it changes nothing. */
export type Entry =
  | { readonly kind: "look-up" }
  /** Fetched whatever is stored, if its `Tidemark-Refresh` is a token that may. */
  | { readonly kind: "refresh" }
  /** Sent to the origin unchanged. It is neither looked up nor stored. */
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
  if (context.facts.maxForwards.kind === "answer") return LAST_HOP;
  return { kind: "bypass", miss: missBy(reasonToPassOn(context)) };
}

/** A second look has found that a field of the request chooses the page: it is passed on. */
function marked(context: RequestContext): Entry | undefined {
  const field = fieldThatPasses(context);
  return field === undefined ? undefined : { kind: "bypass", miss: missBy({ kind: "marked", field }) };
}

function reasonToPassOn({ facts, resolved }: RequestContext): MissReason {
  const { method, bypassedBy } = facts;
  if (method !== "GET" && method !== "HEAD") return { kind: "passed-on", because: "method" };
  if (bypassedBy !== null) return { kind: "past-the-cache", because: bypassedBy };
  if (resolved.bypassesByQuery) return { kind: "past-the-cache", because: "query" };
  if (!resolved.mayStore) return { kind: "passed-on", because: "route-condition" };
  return { kind: "passed-on", because: resolved.route.pass ? "pass" : "condition" };
}
