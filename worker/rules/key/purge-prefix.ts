import { canonicalUrl } from "./canonical-url.ts";
import { MAX_PREFIX_CHARACTERS, pathPrefixes } from "./path-prefixes.ts";
import { parsePurgeHost } from "./purge-host.ts";
import { purgeSpelling } from "./purge-spelling.ts";
import { wildcardFault } from "./purge-url.ts";

export type PurgePrefix =
  | {
      readonly kind: "prefix";
      /** `null` for every host. */
      readonly host: string | null;
      /** Whole segments of a path, in the form of the entries' purge keys. */
      readonly prefix: string;
      /** True if the named prefix is deeper than the entries' purge keys, so that this one is shorter. */
      readonly isWidened: boolean;
      /** True if a query was named, which a prefix cannot have. */
      readonly hadQuery: boolean;
    }
  | { readonly kind: "refused"; readonly because: string };

/**
 * A prefix named by a purge: `/shop/a` for every host, `www.example.com/shop/a` or `https://www.example.com/shop/a` for
 * one, with or without a slash at its end. `hosts` are those of the site; `null` for any.
 */
export function parsePurgePrefix(text: string, hosts: readonly string[] | null): PurgePrefix {
  const refused = (because: string): PurgePrefix => ({ kind: "refused", because });
  const [, hostText = "", pathText = "/"] = /^(?:https?:\/\/)?([^/]*)(.+)?$/is.exec(text) ?? [];
  const url = canonicalUrl(`http://host.invalid${pathText}`);
  if (url.kind === "refused") return refused(url.because);
  const { path, search } = url;
  if (/^[/*]*$/.test(path))
    return refused("it names no path segment like /shop; to purge a whole site, use hosts or everything");
  const fault = wildcardFault(path);
  if (fault !== null) return refused(fault);
  const prefix = pathPrefixes(path).at(-1);
  if (prefix === undefined) {
    return refused(`its first segment has more than ${MAX_PREFIX_CHARACTERS} characters; purge by URL, tag or host`);
  }
  const rest = { prefix, isWidened: prefix !== purgeSpelling(path).replace(/\/+$/, ""), hadQuery: search !== "" };
  if (hostText === "") return { kind: "prefix", host: null, ...rest };
  const named = parsePurgeHost(hostText, hosts);
  return named.kind === "refused" ? named : { kind: "prefix", host: named.host, ...rest };
}
