import { canonicalHost } from "./canonical-url.ts";
import { wildcardFault } from "./purge-url.ts";
import { unknownHost } from "./unknown-host.ts";

export type PurgeHost =
  | { readonly kind: "host"; readonly host: string }
  | { readonly kind: "refused"; readonly because: string };

/** A host named by a purge, in the form that keys have. `hosts` are those of the site; `null` for any. */
export function parsePurgeHost(text: string, hosts: readonly string[] | null): PurgeHost {
  const refused = (because: string): PurgeHost => ({ kind: "refused", because });
  if (/^https?:/i.test(text) || /[/?#@\\\s]/.test(text)) {
    return refused("a host is a name like www.example.com, without scheme and path");
  }
  // A host covers http and https, so neither scheme's default port is part of it.
  const host = canonicalHost(text);
  if (host === null || host === "") return refused("it is not a host name");
  const fault = wildcardFault("", host);
  if (fault !== null) return refused(fault);
  if (hosts && !hosts.includes(host)) return refused(unknownHost(host, hosts));
  return { kind: "host", host };
}
