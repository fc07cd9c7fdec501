import type { RequestCookies } from "./cookies.ts";

/**
 * The kind of visitor that a request may come from. `anonymous`: nothing in it distinguishes visitors. `cookies`: it
 * carries cookies that may. `authorized`: it carries `Authorization`, with or without cookies.
 */
export type Identity = "anonymous" | "cookies" | "authorized";

export function identityOf(authorized: boolean, { identifying }: RequestCookies): Identity {
  if (authorized) return "authorized";
  return identifying ? "cookies" : "anonymous";
}

/**
 * Whether the answer to such a request may be stored. RFC 9111 §3.5. `explain` answers with the same words.
 * - `yes`: nothing in the request forbids it.
 * - `if-for-everybody`: only with `public` or an `s-maxage` above 0, because cookies may have made it for one visitor.
 * - `if-wholly-for-everybody`: only with one of these, and with a status that does not tell whether the visitor was let
 *   in. Its lifetime is the origin's, or a shorter one of the owner.
 */
export function mayStoreAnswer(identity: Identity): "yes" | "if-for-everybody" | "if-wholly-for-everybody" {
  switch (identity) {
    case "anonymous":
      return "yes";
    case "cookies":
      return "if-for-everybody";
    case "authorized":
      return "if-wholly-for-everybody";
  }
}

/**
 * Whether a stored response may answer such a request. Stored responses are for everybody, so cookies do not matter and
 * a hit need not read them. A request with `Authorization` needs the origin's permission. RFC 9111 §3.5.
 */
export function mayBeAnsweredBy(
  stored: { readonly sharedWithAuthorized: boolean },
  request: { readonly authorized: boolean },
): boolean {
  return !request.authorized || stored.sharedWithAuthorized;
}

/**
 * Whether a stored response may answer a request that carries a framework's session. A response that only the owner's
 * lifetime made storable is the page of visitors without a session.
 */
export function mayBeAnsweredInSession(
  stored: { readonly sharedWithSessions: boolean },
  request: { readonly hasSession: boolean },
): boolean {
  return stored.sharedWithSessions || !request.hasSession;
}

/**
 * The kinds of requests whose fetches such a request may join. Its own kind is last, because others may join its fetch
 * as one of that kind.
 */
export function mayJoinFetchesOf(identity: Identity): readonly Identity[] {
  switch (identity) {
    case "anonymous":
      return ["anonymous"];
    // The store would give an anonymous answer to a visitor with cookies, too; but the answer to such a visitor may be
    // personal.
    case "cookies":
      return ["anonymous", "cookies"];
    case "authorized":
      return [];
  }
}

/** Whether the answer to such a request applies to the page that everybody gets. */
export function speaksForEverybody(identity: Identity): boolean {
  return identity === "anonymous";
}
