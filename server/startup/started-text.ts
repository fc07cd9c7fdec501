import { styleText } from "node:util";
import { DEFAULT_CONFIG } from "../../package/config-file-error.ts";
import { addressText } from "../origin/origin-address.ts";
import { ONLY_SITE } from "../supervisor/site-logs.ts";
import { fileSystemBytes } from "./disk-room.ts";
import { localAuthority } from "./listen-addresses.ts";
import type { Prepared } from "./prepare-server.ts";
import type { PreparedSite } from "./prepared-site.ts";
import { sizeText } from "./size.ts";

/** What a config can say of pages to which the origin gives no lifetime. */
const ROUTES = 'routes: [{ match: "/*", defaultTtl: "5m" }]';

/** What the server serves and where, and commands to try first. */
export function startedText(server: { readonly addresses: readonly string[]; readonly prepared: Prepared }): string {
  const { addresses, prepared } = server;
  const only = prepared.sites.get(ONLY_SITE);
  const title = styleText("bold", "Tidemark", { stream: process.stdout });
  const heading = `${title} serves ${addresses.map((each) => (each.includes("/") ? each : `http://${each}`)).join(", ")}`;
  if (only === undefined) return `${heading}\n\n${severalText(prepared)}\n`;
  const { config } = prepared;
  const { loaded, settings, site, isLocal, madeToken } = only;
  const address = addresses.find((each) => !each.includes("/"));
  const page = address === undefined ? null : `http://${localAuthority(address)}/`;
  const lines = inRows([
    ...(settings.parent ? [["parent", addressText(settings.parent.address)]] : []),
    ...(settings.origin ? [["origin", addressText(settings.origin)]] : []),
    ["rules", rulesText(config)],
    [
      "hosts",
      isLocal ? "answers only this machine; name hosts in the config to serve others" : hostsText(loaded.review.hosts),
    ],
    ["memory", memoryText(prepared)],
    ["disk", diskText(prepared)],
    ...(isLocal ? [["token", tokenText(only)]] : []),
    ...(site.hasDashboard ? [["look", dashboardText(isLocal ? page : null)]] : []),
  ]);
  const hasPlainRequests = settings.toHttps === null && !prepared.settings.usesProxyProtocol;
  if (page === null || !hasPlainRequests) return `${heading}\n\n${lines}\n`;
  const host = isLocal || loaded.review.hosts === null ? "" : ` -H "Host: ${loaded.review.hosts[0]}"`;
  const bearer = `-H "Authorization: Bearer ${madeToken ?? "$TIDEMARK_TOKEN"}"`;
  return `${heading}.${isLocal ? " Ctrl-C stops it." : ""}

${lines}

Ask twice, then purge and ask again:

  curl -si ${page}${host} | grep -i -e ^x-cache -e ^cache-status -e ^age
  curl -s -X PURGE ${page}${host} ${bearer}

MISS twice with detail=no-freshness: the origin gave the page no lifetime. A route gives it one: ${ROUTES}
`;
}

/** The page is for browsers, at each host of the site. */
function dashboardText(page: string | null): string {
  return page === null
    ? "/_tidemark/ at each host, in a browser  (log in with a token)"
    : `${page}_tidemark/ in a browser  (log in with the token)`;
}

function rulesText(config: string | null): string {
  if (config !== null) return `${config}  (edits are picked up)`;
  return `none: a page is stored if the origin says s-maxage or max-age  (a ${DEFAULT_CONFIG} is picked up)`;
}

/** What `--check` prints of settings that are valid. */
export function checkedText({ sites, config }: Prepared): string {
  const texts = [...sites.values()].map(({ loaded, settings, isLocal }) => {
    const hosts = isLocal
      ? "no hosts, so it would answer only this machine"
      : `hosts ${hostsText(loaded.review.hosts)}`;
    const site = settings.name === ONLY_SITE ? "" : `site ${settings.name}: `;
    const parent = settings.parent && `parent ${addressText(settings.parent.address)}`;
    const origin = settings.origin && `origin ${addressText(settings.origin)}`;
    const count = loaded.site.routes?.length ?? 0;
    const routes = `${count} ${count === 1 ? "route" : "routes"}${config === null ? "" : ` in ${config}`}`;
    const rules = loaded.files.size === 0 ? "no config" : routes;
    return site + [parent, origin, rules, hosts].filter((each) => each !== null).join(", ");
  });
  return texts.length === 1 && sites.has(ONLY_SITE)
    ? `The settings are valid: ${texts[0]}.`
    : `The settings are valid:\n${texts.map((text) => `  ${text}`).join("\n")}`;
}

function severalText(prepared: Prepared): string {
  const sites = [...prepared.sites.values()].map((site) => {
    const { loaded, settings, isLocal } = site;
    const hosts = isLocal ? "only this machine" : hostsText(loaded.review.hosts);
    const token = isLocal ? `, token ${tokenText(site)}` : "";
    return [settings.name, `${hosts} from ${settings.origin ? addressText(settings.origin) : "its parent"}${token}`];
  });
  return inRows([...sites, ["memory", memoryText(prepared)], ["disk", diskText(prepared)]]);
}

/** A token that the owner has set is no text for logs. */
function tokenText({ settings: { tokens }, madeToken }: PreparedSite): string {
  return madeToken ?? (tokens.TIDEMARK_TOKEN ? "from TIDEMARK_TOKEN" : "from TIDEMARK_TOKENS");
}

function inRows(rows: readonly (readonly string[])[]): string {
  const width = Math.max(8, ...rows.map(([name]) => name!.length));
  return rows.map(([name, text]) => `  ${name!.padEnd(width)} ${text}`).join("\n");
}

function memoryText({ settings: { memoryBytes, workers } }: Prepared): string {
  return `at most ${sizeText(memoryBytes * workers)} for pages`;
}

function diskText({ settings: { disk, roomForBodies, workers } }: Prepared): string {
  if (disk === null) return "none";
  const has = fileSystemBytes(disk.folder);
  if (has < disk.maxBytes) return `${disk.folder}  (at most the ${sizeText(has)} of its file system)`;
  const forBodies = sizeText(roomForBodies.fileBytes * workers);
  return `${disk.folder}  (at most ${sizeText(disk.maxBytes)}, and ${forBodies} for bodies of requests)`;
}

function hostsText(hosts: readonly string[] | null): string {
  return hosts === null ? "any" : hosts.join(", ");
}
