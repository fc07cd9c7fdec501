import { isIP } from "node:net";
import { withoutPort } from "../../worker/rules/key/unknown-host.ts";

/** The hosts of a server: those for which an authority on the internet can give a certificate, and the others. */
export interface NamesToCertify {
  readonly names: readonly string[];
  /** Hosts for which no such authority gives a certificate. */
  readonly others: readonly string[];
}

/**
 * Names that exist only in local networks. RFC 6762 §3, RFC 6761 §6.3, RFC 7686, RFC 8375, and what ICANN keeps free. Of
 * those of RFC 2606 §2, `test` and `example` are left, because owners try `--acme` with an authority of their own for them.
 */
const NOT_PUBLIC = /(?:^|\.)(?:localhost|local|internal|home\.arpa|onion|lan|invalid)$/;
const NAME = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/** `hosts`: as the configs have them, some with a port. A certificate is for a name, whatever the port. RFC 6125 §6.4. */
export function namesToCertify(hosts: readonly string[]): NamesToCertify {
  const bare = [...new Set(hosts.map((host) => withoutPort(host.toLowerCase()).replace(/\.$/, "")))];
  const isPublic = (name: string) => isIP(name) === 0 && NAME.test(name) && !NOT_PUBLIC.test(name);
  return { names: bare.filter(isPublic), others: bare.filter((name) => !isPublic(name)) };
}
