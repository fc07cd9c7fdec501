import { type CountTree, numberAt, treeAt } from "../../metrics/count-tree.ts";
import type { LedgerReading } from "../../metrics/ledger-reading.ts";
import type { MetricFamily, Sample } from "../../metrics/metric-family.ts";
import { countUpTo, type SketchedTimes } from "../../metrics/time-sketch.ts";
import { CLIENT_CLASSES } from "../../rules/queueing/client-class.ts";

const OPEN_METRICS = "application/openmetrics-text";

/** Prometheus names OpenMetrics if it takes it. */
export function takesOpenMetrics(accept: string | null): boolean {
  return accept?.includes(OPEN_METRICS) === true;
}

export function metricsMediaType(isOpen: boolean): string {
  return `${isOpen ? `${OPEN_METRICS}; version=1.0.0` : "text/plain; version=0.0.4"}; charset=utf-8`;
}

/** The upper bounds of the buckets, in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * The counters of each PoP: name, and path in the stats. With a label, they have one sample for each name there, and for
 * each of the `names`, which begin at 0: Prometheus sees no increase in the first sample of a series.
 */
const COUNTERS: readonly (readonly [name: string, path: string, label?: string, names?: readonly string[]])[] = [
  ["requests", "answers", "outcome"],
  ["responses", "statuses", "status"],
  ["edge_answers", "answeredByEdge", "detail"],
  ["not_stored", "store.refused", "reason"],
  ["cache_response_bytes", "bytes.fromCache"],
  ["origin_response_bytes", "bytes.fromOrigin"],
  ["delta_responses", "deltas.sent"],
  ["delta_saved_bytes", "deltas.savedBytes"],
  ["origin_requests", "origin.asked"],
  ["origin_failures", "origin.failed"],
  ["origin_waits", "queue.awaited", "client", CLIENT_CLASSES],
  ["origin_refusals", "queue.turnedAway", "client", CLIENT_CLASSES],
  ["collapsed_requests", "collapsed"],
  ["log_reads", "log.reads"],
  ["log_read_failures", "log.failedReads"],
  ["purges", "purges"],
  ["purged_keys_read", "purgedKeysRead"],
  ["failures", "failures"],
];

/** This many of them, from the first one on, are also counted for each route. */
const OF_ROUTES = 2;

/** The gauges of the site: name, and path in the stats. */
const GAUGES = [
  ["memory_bytes", "isolates.memoryBytes"],
  ["memory_limit_bytes", "isolates.memoryMaxBytes"],
  ["isolates", "isolates.alive"],
  ["silent_isolates", "isolates.silent"],
  ["heard_ratio", "isolates.heardShare"],
] as const;

/**
 * The totals in the Prometheus text format 0.0.4, or OpenMetrics 1.0. Labels have bounded values: at most 101 PoPs, 51
 * routes, 51 statuses, and the words of `X-Cache` and `detail`.
 */
export function metricsText(totals: LedgerReading, isOpen: boolean): string {
  const pops = Object.entries(totals.pops);
  const lines: string[] = [];
  const write = (...[name, type, path, samples]: MetricFamily) => {
    const total = type === "counter" ? "_total" : "";
    const family = `tidemark_${name}${isOpen ? "" : total}`;
    const unit = /_(bytes|seconds|ratio)$/.exec(name)?.[1];
    lines.push(`# HELP ${family} Stats: ${path}`, `# TYPE ${family} ${type}`);
    if (isOpen && unit) lines.push(`# UNIT ${family} ${unit}`);
    for (const [labels, value, suffix = total] of samples) {
      lines.push(`tidemark_${name}${suffix}${written(labels)} ${value}`);
    }
  };
  for (const [name, path, label, names] of COUNTERS) {
    const samples = pops.flatMap(([pop, counts]) => samplesAt(counts, path, { pop }, label, names));
    write(name, "counter", path, samples);
  }
  const routes = Object.entries(totals.routes as Record<string, CountTree>);
  for (const [name, path, label] of COUNTERS.slice(0, OF_ROUTES)) {
    const samples = routes.flatMap(([route, counts]) => samplesAt(counts, path, { route }, label));
    write(`route_${name}`, "counter", `routes.${path}`, samples);
  }
  const times = pops.flatMap(([pop, counts]) => histogramSamples(treeAt(counts, "times"), pop));
  write("time_to_head_seconds", "histogram", "times", times);
  for (const [name, path] of GAUGES) {
    write(name, "gauge", path, [[{}, numberAt({ isolates: totals.isolates }, path)]]);
  }
  for (const family of totals.metrics ?? []) write(...family);
  return [...lines, ...(isOpen ? ["# EOF"] : []), ""].join("\n");
}

function samplesAt(
  counts: CountTree,
  path: string,
  labels: Record<string, string>,
  label?: string,
  names: readonly string[] = [],
): Sample[] {
  if (label === undefined) return [[labels, numberAt(counts, path)]];
  const tree = treeAt(counts, path);
  return [...new Set([...names, ...Object.keys(tree)])].map((name) => [
    { ...labels, [label]: name },
    Number(tree[name] ?? 0),
  ]);
}

function histogramSamples(times: CountTree, pop: string): Sample[] {
  return Object.entries(times as Record<string, SketchedTimes>).flatMap(([tier, sketch]): Sample[] => {
    const labels = { pop, tier };
    const count = countUpTo(sketch);
    return [
      ...BOUNDS.map((le): Sample => [{ ...labels, le: String(le) }, countUpTo(sketch, le * 1000), "_bucket"]),
      [{ ...labels, le: "+Inf" }, count, "_bucket"],
      [labels, (sketch.sum ?? 0) / 1000, "_sum"],
      [labels, count, "_count"],
    ];
  });
}

function written(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs}}`;
}
