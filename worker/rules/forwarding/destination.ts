import { canonicalHost } from "../key/canonical-url.ts";
import type { RequestFacts } from "../request/request-facts.ts";
import { hopByHopFields } from "./hop-by-hop.ts";

/** The scheme and the authority of a URL with a path. */
const SITE = /^https?:\/\/([^/?#@\\]+)(?=\/)/i;

/**
 * Where a MOVE or COPY puts the page, by its `Destination`; `null` for nowhere. RFC 4918 §10.3. If it names the host of one
 * of these URLs, `address` replaces that and the scheme, which may be another one where TLS ends in front of the edge. The
 * rest stays as it was sent.
 */
export function destinationAt(
  address: () => string,
  facts: Pick<RequestFacts, "method" | "field">,
  urls: readonly string[],
): string | null {
  const { method } = facts;
  const destination = method === "MOVE" || method === "COPY" ? facts.field("destination") : null;
  if (destination === null || hopByHopFields(facts.field("connection")).has("destination")) return null;
  if (!urls.some((url) => hostIn(url) === hostIn(destination))) return destination;
  return destination.replace(SITE, address);
}

function hostIn(url: string): string | null {
  return canonicalHost(SITE.exec(url)?.[1] ?? "");
}
