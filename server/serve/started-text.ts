import { styleText } from "node:util";
import type { OriginAddress } from "../origin/origin-address.ts";
import type { Prepared, RunningServer } from "./serve.ts";

/** What the server serves and where, and commands to try first. */
export function startedText({ addresses, prepared }: RunningServer, config: string | null): string {
  const { loaded, settings, isLocal } = prepared;
  const stream = process.stdout;
  const address = addresses.find((each) => !each.includes("/"));
  const rows = [
    ...(settings.parent ? [["parent", addressText(settings.parent.address)]] : []),
    ...(settings.origin ? [["origin", addressText(settings.origin)]] : []),
    ["rules", config === null ? "none: the origin's Cache-Control decides alone" : `${config}  (edits are picked up)`],
    [
      "hosts",
      isLocal ? "this machine alone; name hosts in the config to serve others" : hostsText(loaded.review.hosts),
    ],
    ["disk", settings.disk === null ? "none" : settings.disk.folder],
    ...(isLocal ? [["token", settings.tokens.TIDEMARK_TOKEN ?? "those of TIDEMARK_TOKENS"]] : []),
  ];
  const lines = rows.map(([name, text]) => `  ${name!.padEnd(8)} ${text}`).join("\n");
  const title = styleText("bold", "Tidemark", { stream });
  const heading = `${title} serves ${addresses.map((each) => (each.includes("/") ? each : `http://${each}`)).join(", ")}`;
  if (!isLocal || address === undefined) return `${heading}\n\n${lines}\n`;
  const page = `http://localhost:${address.slice(address.lastIndexOf(":") + 1)}/`;
  const bearer = `-H "Authorization: Bearer ${settings.tokens.TIDEMARK_TOKEN ?? "$TIDEMARK_TOKEN"}"`;
  return `${heading}. Ctrl-C stops it.

${lines}

Ask twice, then purge and ask again:

  curl -si ${page} | grep -i -e ^x-cache -e ^cache-status -e ^age
  curl -s -X PURGE ${page} ${bearer}
`;
}

/** What `--check` prints if nothing is wrong. */
export function checkedText({ loaded, settings, isLocal }: Prepared): string {
  const hosts = isLocal ? "no hosts, so it would serve this machine alone" : `hosts ${hostsText(loaded.review.hosts)}`;
  const parent = settings.parent && `parent ${addressText(settings.parent.address)}`;
  const origin = settings.origin && `origin ${settings.origin.socketPath ?? settings.origin.url}`;
  return `The settings are valid: ${[parent, origin, hosts].filter((each) => each !== null).join(", ")}.`;
}

function addressText({ url, socketPath }: OriginAddress): string {
  return socketPath === null ? url : `unix:${socketPath}`;
}

function hostsText(hosts: readonly string[] | null): string {
  return hosts === null ? "any" : hosts.join(", ");
}
