import type { Problem } from "../../wire/problem.ts";
import type { PurgeReceiptBody } from "../../wire/purge-receipt.ts";
import type { PurgeRequestBody } from "../../wire/purge-request.ts";
import { type KeyRules, keyedPath, type ResolvedUrl, resolveUrl } from "../rules/key/cache-key.ts";
import { parsePurgeHost } from "../rules/key/purge-host.ts";
import {
  EVERYTHING_PURGE_KEY,
  hostPurgeKey,
  pathPurgeKey,
  prefixPurgeKey,
  tagPurgeKey,
  urlPurgeKey,
} from "../rules/key/purge-key.ts";
import { parsePurgePrefix } from "../rules/key/purge-prefix.ts";
import type { Route } from "../rules/key/route.ts";
import { browserWarnings, mayTouch, prefixWarnings, urlWarnings } from "./purge-warnings.ts";

type Planned = NonNullable<PurgeReceiptBody["planned"]>;

/** What a purge's items come to. */
export interface NamedItems {
  /** What they are filed under, each once. */
  readonly keys: readonly string[];
  readonly planned: Planned;
  /** The URLs, as they would be fetched anew. */
  readonly refresh: readonly string[];
  readonly warnings: readonly string[];
  /** What is wrong with which of them. */
  readonly errors: NonNullable<Problem["errors"]>;
}

/** One item that is right. */
interface Named {
  readonly kind: "named";
  readonly purgeKey: string;
  readonly planned: Planned[number];
  readonly refresh?: string;
  readonly warnings: readonly string[];
  /** The routes of what it purges, as far as that can be told. */
  readonly touches: readonly Route[];
}

interface Refused {
  readonly kind: "refused";
  readonly because: string;
}

/** Looks at each item, in the key's normal form. `base` is the public address that the purge came to. */
export function namedItems(request: PurgeRequestBody, base: string, rules: KeyRules): NamedItems {
  const keys = new Set<string>(request.everything ? [EVERYTHING_PURGE_KEY] : []);
  const touched = new Set<Route>(request.everything ? rules.routes : []);
  const planned: Planned = [];
  const refresh: string[] = [];
  const warnings: string[] = [];
  const errors: { path: string; message: string }[] = [];
  const take = (list: string, items: readonly string[] = [], name: (item: string) => Named | Refused) => {
    for (const [index, item] of items.entries()) {
      const named = name(item);
      if (named.kind === "refused") {
        errors.push({ path: `${list}[${index}]`, message: `${JSON.stringify(item)}: ${named.because}` });
        continue;
      }
      keys.add(named.purgeKey);
      planned.push(named.planned);
      if (named.refresh !== undefined) refresh.push(named.refresh);
      warnings.push(...named.warnings);
      for (const route of named.touches) touched.add(route);
    }
  };
  const ofNamedHost = namedHostRules(rules);
  take("urls", request.urls, (url) => namedUrl(url, base, rules, ofNamedHost));
  take("prefixes", request.prefixes, (prefix) => namedPrefix(prefix, ofNamedHost));
  take("hosts", request.hosts, (host) => namedHost(host, ofNamedHost));
  take("tags", request.tags, namedTag);
  return { keys: [...keys], planned, refresh, warnings: [...warnings, ...browserWarnings(touched)], errors };
}

function namedUrl(url: string, base: string, rules: KeyRules, ofNamedHost: KeyRules): Named | Refused {
  const relative = url.startsWith("/");
  const absolute = relative ? base + url : url;
  const target = resolveUrl(absolute, relative ? { ...rules, hosts: null } : ofNamedHost);
  if (target.kind === "refused") return { kind: "refused", because: target.because };
  const pathAndQuery = keyedPath(target);
  return {
    kind: "named",
    purgeKey: relative ? pathPurgeKey(pathAndQuery) : urlPurgeKey(target.host, pathAndQuery),
    planned: { item: url, key: relative ? pathAndQuery : target.cacheKey, route: target.route.pattern },
    refresh: relative ? onAHostOfTheSite(target, rules) : target.cacheKey,
    warnings: urlWarnings(url, absolute, target),
    touches: [target.route],
  };
}

function namedPrefix(text: string, { hosts, routes }: KeyRules): Named | Refused {
  const named = parsePurgePrefix(text, hosts);
  if (named.kind === "refused") return named;
  const { host, prefix } = named;
  return {
    kind: "named",
    purgeKey: host === null ? prefixPurgeKey(prefix) : hostPurgeKey(host, prefix),
    planned: { item: text, key: (host ?? "") + prefix },
    warnings: prefixWarnings(text, named),
    touches: routes.filter((route) => mayTouch(route, prefix)),
  };
}

function namedHost(text: string, { hosts, routes }: KeyRules): Named | Refused {
  const named = parsePurgeHost(text, hosts);
  if (named.kind === "refused") return named;
  const { host } = named;
  const planned = { item: text, key: host };
  return { kind: "named", purgeKey: hostPurgeKey(host), planned, warnings: [], touches: routes };
}

/** Which routes a tag touches is not known: the origin gives tags, too. */
function namedTag(tag: string): Named {
  return { kind: "named", purgeKey: tagPurgeKey(tag), planned: { item: tag, key: tag }, warnings: [], touches: [] };
}

/** A relative URL is fetched from the host that the purge came to, if that is the site's; else from the site's first. */
function onAHostOfTheSite(target: ResolvedUrl, { hosts }: KeyRules): string {
  if (hosts === null || hosts.includes(target.host)) return target.cacheKey;
  return `${target.scheme}://${hosts[0]}${keyedPath(target)}`;
}

/** A whole URL means the host that it names, also where the public address stands in for every request's own. */
function namedHostRules(rules: KeyRules): KeyRules {
  const { publicUrl } = rules;
  return publicUrl ? { ...rules, publicUrl: null, hosts: rules.hosts ?? [publicUrl.host] } : rules;
}
