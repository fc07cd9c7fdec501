import { isWithin, type Network } from "../../rules/forwarding/trusted-proxies.ts";
import { isOfProxies } from "../../rules/request/request-fields.ts";

/** The addresses that may purge without a token, and those of proxies, which may not: everybody comes from there. */
export interface PurgeAddresses {
  readonly from: readonly Network[];
  readonly proxies: readonly Network[];
}

/** What browsers add to each PURGE and BAN of a script, and no script can leave out. Fetch §3.2, W3C Fetch Metadata §2.3. */
const OF_SCRIPTS = ["origin", "sec-fetch-site"];

/**
 * Why a call from this address needs a token; `null` if it needs none. `peer` is the other end of the connection, and
 * `null` where the platform does not tell it.
 */
export function whyTokenIsNeeded(peer: string | null, fields: Headers, addresses: PurgeAddresses): string | null {
  const { from, proxies } = addresses;
  if (from.length === 0) return "send Authorization: Bearer with a token that has the scope door:varnish";
  if (peer === null) return "this platform does not tell addresses, so a token is needed";
  if (isWithin(peer, proxies)) return `${peer} is one of the site's trustedProxies, so anybody may send through it`;
  if (!isWithin(peer, from)) return `${peer} is not an address in doors.varnish.from`;
  const ofScript = OF_SCRIPTS.find((name) => fields.has(name));
  if (ofScript !== undefined) return `a call with ${ofScript} comes from a page in a browser`;
  const forwarding = [...fields.keys()].find(isOfProxies);
  return forwarding === undefined ? null : `a call with ${forwarding} does not come from ${peer}`;
}
