import { styleText } from "node:util";
import type { RunningDemo } from "../cli/commands/dev.ts";
import type { DevPop } from "./dev-edge.ts";
import { cityOf } from "./regions.ts";
import { roundTripsOf } from "../cdn/latency.ts";

export interface Welcome {
  readonly pops: readonly DevPop[];
  readonly latency: boolean;
  readonly origin: string;
  readonly configFile: string | null;
  /** As it was asked for; `null` if it was not. */
  readonly publicUrl: string | null;
  readonly persist: string | null;
  readonly token: string;
  readonly isTokenGiven: boolean;
  readonly demo: RunningDemo | null;
}

/** Where an edge is reached, as a person types it. */
export function addressOf({ port }: DevPop): string {
  return `http://localhost:${port}`;
}

/** What is where, and what to try first. */
export function welcomeText(welcome: Welcome, stream: NodeJS.WriteStream): string {
  const { pops, origin, configFile, publicUrl, persist, token, isTokenGiven, demo } = welcome;
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
        ? "none: what the origin's Cache-Control says; --config FILE brings some"
        : `${configFile}  (edits are picked up at once)`,
    ],
    ...(publicUrl === null ? [] : [["public", `${publicUrl}  (what is keyed, and forwarded to the origin)`]]),
    ...(persist === null ? [] : [["kept in", `${persist}  (cache and purges, over a restart)`]]),
    ["token", `${token}${isTokenGiven ? "" : "  (a new one each time, unless TIDEMARK_TOKEN is set)"}`],
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
