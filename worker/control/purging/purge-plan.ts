import type { Problem } from "../../../wire/problem.ts";
import type { PurgeReceiptBody } from "../../../wire/purge-receipt.ts";
import type { PurgeRequestBody } from "../../../wire/purge-request.ts";
import { type KeyRules, type ResolvedUrl, resolveUrl } from "../../rules/key/cache-key.ts";
import { parsePurgeHost } from "../../rules/key/purge-host.ts";
import {
  EVERYTHING_PURGE_KEY,
  hostPurgeKey,
  pathPurgeKey,
  prefixPurgeKey,
  tagPurgeKey,
  urlPurgeKey,
} from "../../rules/key/purge-key.ts";
import { parsePurgePrefix } from "../../rules/key/purge-prefix.ts";
import { wildcardFault } from "../../rules/key/purge-url.ts";
import type { Route } from "../../rules/key/route.ts";
import { browserWarnings, machineWarnings, mayTouch, prefixWarnings, urlWarnings } from "./purge-warnings.ts";

type Planned = NonNullable<PurgeReceiptBody["planned"]>;

/** The items of a purge, resolved to purge keys. */
export interface PurgePlan {
  /** The purge keys of the items, each once. */
  readonly purgeKeys: readonly string[];
  readonly planned: Planned;
  /** The URLs to fetch again, if the purge asks for that. */
  readonly refresh: readonly string[];
  readonly warnings: readonly string[];
  /** The items that cannot be purged, and why. */
  readonly errors: NonNullable<Problem["errors"]>;
}

/** One item that can be purged. */
interface PlannedItem {
  readonly kind: "planned";
  readonly purgeKey: string;
  readonly planned: Planned[number];
  readonly refresh?: string;
  /** The host that it names, as the edge has it; `null` for none. */
  readonly host: string | null;
  readonly warnings: readonly string[];
  /** The routes of the purged pages, as far as they are known. */
  readonly routes: readonly Route[];
}

interface Refused {
  readonly kind: "refused";
  readonly because: string;
}

/** Resolves each item to the form that keys have. `base` is the public address to which the purge was sent. */
export function planPurge(request: PurgeRequestBody, base: string, rules: KeyRules): PurgePlan {
  const keys = new Set<string>(request.everything ? [EVERYTHING_PURGE_KEY] : []);
  const touched = new Set<Route>(request.everything ? rules.routes : []);
  const planned: Planned = [];
  const refresh: string[] = [];
  const warnings: string[] = [];
  const errors: { path: string; message: string }[] = [];
  const add = (list: string, items: readonly string[] = [], plan: (item: string) => PlannedItem | Refused) => {
    for (const [index, text] of items.entries()) {
      const item = plan(text);
      if (item.kind === "refused") {
        errors.push({ path: `${list}[${index}]`, message: `${JSON.stringify(text)}: ${item.because}` });
        continue;
      }
      keys.add(item.purgeKey);
      planned.push(item.planned);
      if (item.refresh !== undefined) refresh.push(item.refresh);
      warnings.push(...item.warnings);
      if (item.host !== null && rules.hosts === null)
        warnings.push(...machineWarnings(text, item.host, new URL(base).host));
      for (const route of item.routes) touched.add(route);
    }
  };
  const namedHostRules = rulesOfNamedHost(rules);
  add("urls", request.urls, (url) => planUrl(url, base, rules, namedHostRules));
  add("prefixes", request.prefixes, (prefix) => planPrefix(prefix, rules, namedHostRules));
  add("hosts", request.hosts, (host) => planHost(host, rules, namedHostRules));
  add("tags", request.tags, planTag);
  warnings.push(...browserWarnings(touched));
  return { purgeKeys: [...keys], planned, refresh, warnings, errors };
}

function planUrl(url: string, base: string, rules: KeyRules, namedHostRules: KeyRules): PlannedItem | Refused {
  if (lacksScheme(url, rules)) return { kind: "refused", because: `it has no scheme; write https:${url}` };
  const relative = url.startsWith("/");
  const absolute = relative ? base + url : url;
  const named = relative ? null : resolveUrl(absolute, namedHostRules);
  if (named?.kind === "refused") {
    return { kind: "refused", because: wildcardFault("", URL.parse(url)?.host) ?? named.because };
  }
  const target = resolveUrl(absolute, { ...rules, hosts: null });
  if (target.kind === "refused") return target;
  const { pathAndQuery } = target;
  const [path = ""] = pathAndQuery.split("?", 1);
  const fault = wildcardFault(path, named?.host);
  if (fault !== null) return { kind: "refused", because: fault };
  return {
    kind: "planned",
    purgeKey: relative ? pathPurgeKey(pathAndQuery) : urlPurgeKey(target.host, pathAndQuery),
    planned: { item: url, key: relative ? pathAndQuery : target.cacheKey, route: target.route.pattern },
    refresh: relative ? onSiteHost(target, rules) : target.cacheKey,
    host: relative ? null : hostInKeys(target.host, rules),
    warnings: urlWarnings(url, absolute, target),
    routes: [target.route],
  };
}

/** Whether a text is a URL of the site's without its scheme. RFC 3986 §4.2. As a path it would name no page. */
function lacksScheme(text: string, { hosts, publicHost }: KeyRules): boolean {
  const [, host = ""] = /^\/\/([^/?#]+?)\.?(?::(?:80|443))?(?:[/?#]|$)/.exec(text.toLowerCase()) ?? [];
  return [...(hosts ?? []), publicHost].includes(host);
}

function planPrefix(text: string, rules: KeyRules, { hosts, routes }: KeyRules): PlannedItem | Refused {
  const named = parsePurgePrefix(lacksScheme(text, rules) ? text.slice(2) : text, hosts);
  if (named.kind === "refused") return named;
  const { prefix } = named;
  const host = named.host === null ? null : hostInKeys(named.host, rules);
  return {
    kind: "planned",
    purgeKey: host === null ? prefixPurgeKey(prefix) : hostPurgeKey(host, prefix),
    planned: { item: text, key: (host ?? "") + prefix },
    host,
    warnings: prefixWarnings(text, named),
    routes: routes.filter((route) => mayTouch(route, prefix)),
  };
}

function planHost(text: string, rules: KeyRules, { hosts, routes }: KeyRules): PlannedItem | Refused {
  const named = parsePurgeHost(text, hosts);
  if (named.kind === "refused") return named;
  const host = hostInKeys(named.host, rules);
  const planned = { item: text, key: host };
  return { kind: "planned", purgeKey: hostPurgeKey(host), planned, host, warnings: [], routes };
}

/** The host in the keys for a host of the site. */
function hostInKeys(host: string, { publicHost }: KeyRules): string {
  return publicHost ?? host;
}

/** The routes of a tag are unknown, because origins give tags, too. */
function planTag(tag: string): PlannedItem {
  return {
    kind: "planned",
    purgeKey: tagPurgeKey(tag),
    planned: { item: tag, key: tag },
    host: null,
    warnings: [],
    routes: [],
  };
}

/**
 * A relative URL is fetched from the host to which the purge was sent, if it is one of the site's; otherwise from the
 * site's first host.
 */
function onSiteHost(target: ResolvedUrl, { hosts }: KeyRules): string {
  if (hosts === null || hosts.includes(target.host)) return target.cacheKey;
  return `${target.scheme}://${hosts[0]}${target.pathAndQuery}`;
}

/** The rules that decide whether a named host is one of the site's. `publicHost` replaces it later. */
function rulesOfNamedHost(rules: KeyRules): KeyRules {
  return { ...rules, publicHost: null };
}
