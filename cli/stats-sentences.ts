import type { SiteStats, TimeStats } from "../wire/stats.ts";

/** The stats of a site as a person would say them. Numbers are as the edge sent them, rounded; there is no advice. */
export function statsSentences(stats: SiteStats, last: string): string {
  const { requests, fromCache, origin, bytes, times, isolates, pop } = stats;
  const where = pop === null ? "" : ` in ${printable(pop)}`;
  const about = `Last ${lastWords(last)}${where}`;
  if (requests === 0) return `${about}: no requests were reported. Isolates report once a minute.\n`;
  const sentences = [
    `${about}: ${whole(requests)} ${requests === 1 ? "request" : "requests"}, ${percent(fromCache / requests)} from cache.`,
    `The origin was asked ${timesWords(origin.asked)}${origin.failed > 0 ? ` and failed ${timesWords(origin.failed)}` : ""}; ` +
      `${size(bytes.fromCache)} did not leave it, ${size(bytes.fromOrigin)} did.`,
    ...waits(times),
    ...refusals(stats),
    heard(isolates),
  ];
  return `${sentences.join("\n")}\n`;
}

function waits({ memory, shared, origin }: SiteStats["times"]): string[] {
  const named: readonly (readonly [string, TimeStats | undefined])[] = [
    ["the origin", origin],
    ["the cache of the PoP", shared],
    ["memory", memory],
  ];
  const measured = named.flatMap(([name, time]) =>
    time ? [`${name} ${ms(time.p50Ms)} (95 %: ${ms(time.p95Ms)}, 99 %: ${ms(time.p99Ms)})`] : [],
  );
  if (measured.length === 0) return [];
  return [`Time to the head in the median: ${measured.join("; ")}.${memory ? "" : " In memory it was not measured."}`];
}

function refusals({ store }: SiteStats): string[] {
  const reasons = Object.entries(store.refused).sort(([, a], [, b]) => b - a);
  if (reasons.length === 0) return [];
  const named = reasons.slice(0, 5).map(([reason, count]) => `${printable(reason)} ${whole(count)}`);
  const more = reasons.length > 5 ? `, and ${reasons.length - 5} more reasons` : "";
  return [`Not stored: ${named.join(", ")}${more}.`];
}

function heard({ reported, silent, heardShare }: SiteStats["isolates"]): string {
  const isolates = `${whole(reported)} ${reported === 1 ? "isolate" : "isolates"}`;
  const quiet = silent === 0 ? "none has" : `${whole(silent)} ${silent === 1 ? "has" : "have"}`;
  return `Heard of ${isolates}; ${quiet} fallen silent. The reports cover at least ${percent(heardShare, "floor")} of their time.`;
}

function lastWords(last: string): string {
  const [, number, unit] = /^([0-9]+)([mhd])$/.exec(last)!;
  return `${number} ${{ m: "min", h: "h", d: number === "1" ? "day" : "days" }[unit as "m" | "h" | "d"]}`;
}

function timesWords(count: number): string {
  return count === 1 ? "once" : `${whole(count)} times`;
}

function whole(count: number): string {
  return count.toLocaleString("en-US");
}

/** To a tenth. What is not all is never said to be 100 %. */
function percent(share: number, by: "round" | "floor" = "round"): string {
  const tenths = Math[by](share * 1000);
  return `${(share < 1 ? Math.min(tenths, 999) : tenths) / 10} %`;
}

function size(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
  const unit = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  return `${Number((bytes / 1000 ** unit).toPrecision(3))} ${units[unit]}`;
}

function ms(time: number): string {
  return `${Number(time.toPrecision(2))} ms`;
}

/** Text from elsewhere, safe for a terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");
}
