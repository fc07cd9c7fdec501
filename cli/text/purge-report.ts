import type { Accepted, Planned, Receipt, Refreshed } from "../../sdk/index.ts";
import { counted } from "../../wire/text/numbers.ts";

/**
 * A receipt for a person: the purge's number, its items, when it settles and what that means, and the refetched pages.
 * `receipts`: those of its purges, if it covers several.
 */
export function purgeReport(receipt: Receipt, mode: "hard" | "soft", receipts: readonly Receipt[] = [receipt]): string {
  const { seq, accepted, replayed, settlesInMs, dryRun, planned = [], refreshed = [] } = receipt;
  if (dryRun) {
    const first = `Nothing was purged. This purge would cover ${inWords(accepted)}.`;
    return `${[first, ...planned.map(plannedLine)].join("\n")}\n`;
  }
  const accepting = replayed ? " was accepted earlier under this id" : " is accepted";
  const settles =
    settlesInMs === 0
      ? `It has settled: ${ONCE_SETTLED[mode]}`
      : `It settles in ${seconds(settlesInMs)}: from then on ${ONCE_SETTLED[mode]}`;
  const purges =
    receipts.length === 1
      ? `Purge ${seq}${accepting}`
      : `${receipts.length} purges, the last with number ${seq}, ${severalAccepted(receipts)}`;
  const lines = [`${purges}: ${inWords(accepted)}. ${settles}`, ...refreshed.map(refreshedLine)];
  return `${lines.join("\n")}\n`;
}

const ONCE_SETTLED = {
  hard: "no PoP serves what was purged.",
  soft: "every PoP fetches again what was purged, and may show the old page meanwhile.",
} as const;

function severalAccepted(receipts: readonly Receipt[]): string {
  const before = receipts.filter(({ replayed }) => replayed).length;
  return before === 0 ? "are accepted" : `are accepted, ${before} of them earlier under this id`;
}

/** Milliseconds as seconds, to the hundredth. */
export function seconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(2))} s`;
}

function inWords({ everything, urls, tags, prefixes, hosts }: Accepted): string {
  if (everything) return "the whole site";
  const kinds = [
    { count: urls, text: counted(urls, "URL") },
    { count: tags, text: counted(tags, "tag") },
    { count: prefixes, text: counted(prefixes, "prefix", "prefixes") },
    { count: hosts, text: counted(hosts, "host") },
  ];
  return kinds.flatMap(({ count, text }) => (count === 0 ? [] : [text])).join(" and ");
}

/** `/a?utm_source=x  is stored as /a, on the route /a` */
function plannedLine({ item, key, route }: Planned): string {
  const where = route === undefined ? "" : route === null ? ", on no route" : `, on the route ${route}`;
  return `${item}  is purged as ${key}${where}`;
}

/** `BYPASS  200  https://www.example.com/about`, with a dash if the edge had to answer itself. */
function refreshedLine({ url, status, xCache = "-", error }: Refreshed): string {
  return [xCache.padEnd("BYPASS".length), status, url, ...(error === undefined ? [] : [error])].join("  ");
}
