import { styleText } from "node:util";
import { roundTripsOf } from "../cdn/latency.ts";
import type { RunningDemo } from "./demo-site.ts";
import type { DevPop } from "./dev-edge.ts";
import { cityOf } from "./regions.ts";

export interface Welcome {
  readonly pops: readonly DevPop[];
  readonly latency: boolean;
  readonly origin: string;
  readonly configFile: string | null;
  /** The requested public address; `null` for none. */
  readonly publicUrl: string | null;
  readonly persist: string | null;
  readonly token: string;
  readonly isTokenGiven: boolean;
  /** The code of the link that logs in at the dashboard; `null` where the site has none. */
  readonly loginCode: string | null;
  readonly demo: RunningDemo | null;
}

/** The address of an edge, as a person types it. */
export function addressOf({ port }: DevPop): string {
  return `http://localhost:${port}`;
}

/** The addresses and settings of the running edge, and commands to try first. */
export function welcomeText(welcome: Welcome, stream: NodeJS.WriteStream): string {
  const { pops, origin, configFile, publicUrl, persist, token, isTokenGiven, loginCode, demo } = welcome;
  const bold = (text: string) => styleText("bold", text, { stream });
  const endpoint = addressOf(pops[0]!);
  const page = endpoint + (demo?.path ?? "/");
  const isOne = pops[0]!.region === null;
  const rows = [
    ...(isOne ? [["edge", bold(endpoint)]] : []),
    ["origin", `${origin}${demo ? "  (the demo site)" : ""}`],
    [
      "rules",
      configFile === null
        ? "none: only the origin's Cache-Control decides; name a file of rules with --config FILE"
        : `${configFile}  (edits are picked up at once)`,
    ],
    ...(publicUrl === null ? [] : [["public", `${publicUrl}  (in cache keys, and forwarded to the origin)`]]),
    ...(persist === null ? [] : [["kept in", `${persist}  (cache and purges survive a restart)`]]),
    ["token", `${token}${isTokenGiven ? "" : "  (a new one each time, unless TIDEMARK_TOKEN is set)"}`],
    ...(loginCode === null
      ? []
      : [["look", `${endpoint}/_tidemark/#code=${loginCode}  (the dashboard; this link logs in, once)`]]),
    ...(demo?.places ?? []),
  ];
  return `
${bold("Tidemark")} is up. Ctrl-C stops it.
${isOne ? "" : `\n${regionTable(welcome, bold)}\n`}
${rows.map(([name, text]) => `  ${name!.padEnd(8)} ${text}`).join("\n")}

Ask twice, then purge and ask again:

  curl -si ${page} | grep -i -e ^x-cache -e ^cache-status -e ^age
  curl -s -X PURGE ${page} -H "Authorization: Bearer ${token}"
  curl -s -X POST ${endpoint}/_tidemark/purge -H "Authorization: Bearer ${token}" -H "Content-Type: application/json" -d '{"everything":true}'
`;
}

function regionTable({ pops, latency }: Welcome, bold: (text: string) => string): string {
  const line = (region: string, city: string, address: string, rest: string) =>
    `  ${region.padEnd(8)} ${city.padEnd(14)} ${address.padEnd(23)} ${rest}`.trimEnd();
  const rows = pops.map((pop) => {
    const { originMs, logMs } = roundTripsOf(pop.region!, latency);
    const trips = latency ? `${originMs} ms to the origin, ${logMs} ms to the purge log` : "none added";
    return line(pop.region!, cityOf(pop.region!), addressOf(pop), trips);
  });
  const hint = latency ? "" : "\n\n  --latency adds the round trips of public networks.";
  return [bold(line("region", "city", "address", "round trips")), ...rows].join("\n") + hint;
}
