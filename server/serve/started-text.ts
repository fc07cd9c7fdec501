import { styleText } from "node:util";
import { DEFAULT_CONFIG } from "../../cdn/config/config-file-error.ts";
import type { OriginAddress } from "../origin/origin-address.ts";
import { ONLY_SITE } from "../processes/site-logs.ts";
import { localAuthority } from "./listen-addresses.ts";
import type { PreparedSite } from "./prepared-site.ts";
import type { Prepared, RunningServer } from "./serve.ts";

/** What the server serves and where, and commands to try first. */
export function startedText(server: RunningServer): string {
  const { addresses, prepared } = server;
  const only = prepared.sites.get(ONLY_SITE);
  const title = styleText("bold", "Tidemark", { stream: process.stdout });
  const heading = `${title} serves ${addresses.map((each) => (each.includes("/") ? each : `http://${each}`)).join(", ")}`;
  if (only === undefined) return `${heading}\n\n${severalText(prepared)}\n`;
  const { config } = prepared;
  const { loaded, settings, isLocal, madeToken } = only;
  const address = addresses.find((each) => !each.includes("/"));
  const lines = inRows([
    ...(settings.parent ? [["parent", addressText(settings.parent.address)]] : []),
    ...(settings.origin ? [["origin", addressText(settings.origin)]] : []),
    ["rules", rulesText(config)],
    [
      "hosts",
      isLocal ? "this machine alone; name hosts in the config to serve others" : hostsText(loaded.review.hosts),
    ],
    ["disk", diskText(prepared)],
    ...(isLocal ? [["token", tokenText(only)]] : []),
  ]);
  if (!isLocal || address === undefined) return `${heading}\n\n${lines}\n`;
  const page = `http://${localAuthority(address)}/`;
  const bearer = `-H "Authorization: Bearer ${madeToken ?? "$TIDEMARK_TOKEN"}"`;
  return `${heading}. Ctrl-C stops it.

${lines}

Ask twice, then purge and ask again:

  curl -si ${page} | grep -i -e ^x-cache -e ^cache-status -e ^age
  curl -s -X PURGE ${page} ${bearer}
`;
}

function rulesText(config: string | null): string {
  if (config !== null) return `${config}  (edits are picked up)`;
  return `none: the origin's Cache-Control decides alone  (a ${DEFAULT_CONFIG} is picked up)`;
}

/** What `--check` prints if nothing is wrong. */
export function checkedText({ sites }: Prepared): string {
  const texts = [...sites.values()].map(({ loaded, settings, isLocal }) => {
    const hosts = isLocal
      ? "no hosts, so it would serve this machine alone"
      : `hosts ${hostsText(loaded.review.hosts)}`;
    const site = settings.name === ONLY_SITE ? "" : `site ${settings.name}: `;
    const parent = settings.parent && `parent ${addressText(settings.parent.address)}`;
    const origin = settings.origin && `origin ${settings.origin.socketPath ?? settings.origin.url}`;
    return site + [parent, origin, hosts].filter((each) => each !== null).join(", ");
  });
  return texts.length === 1 && sites.has(ONLY_SITE)
    ? `The settings are valid: ${texts[0]}.`
    : `The settings are valid:\n${texts.map((text) => `  ${text}`).join("\n")}`;
}

function severalText(prepared: Prepared): string {
  const sites = [...prepared.sites.values()].map((site) => {
    const { loaded, settings, isLocal } = site;
    const hosts = isLocal ? "this machine alone" : hostsText(loaded.review.hosts);
    const token = isLocal ? `, token ${tokenText(site)}` : "";
    return [settings.name, `${hosts} from ${settings.origin ? addressText(settings.origin) : "its parent"}${token}`];
  });
  return inRows([...sites, ["disk", diskText(prepared)]]);
}

/** A token that the owner has set is no text for logs. */
function tokenText({ settings: { tokens }, madeToken }: PreparedSite): string {
  return madeToken ?? (tokens.TIDEMARK_TOKEN ? "that of TIDEMARK_TOKEN" : "those of TIDEMARK_TOKENS");
}

function inRows(rows: readonly (readonly string[])[]): string {
  const width = Math.max(8, ...rows.map(([name]) => name!.length));
  return rows.map(([name, text]) => `  ${name!.padEnd(width)} ${text}`).join("\n");
}

function addressText({ url, socketPath }: OriginAddress): string {
  return socketPath === null ? url : `unix:${socketPath}`;
}

function diskText({ settings: { disk } }: Prepared): string {
  return disk === null ? "none" : disk.folder;
}

function hostsText(hosts: readonly string[] | null): string {
  return hosts === null ? "any" : hosts.join(", ");
}
