/** A value under its labels, for which `suffix` stands behind the name: `_bucket`. */
export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number, suffix?: string];

/**
 * The samples of one name, as monitors read them. The name is without `tidemark_` and `_total`, and ends with its unit, if
 * it has one: `_bytes`, `_seconds` or `_ratio`. `path`: where the stats have the same.
 */
export type MetricFamily = readonly [
  name: string,
  type: "counter" | "gauge" | "histogram",
  path: string,
  samples: readonly Sample[],
];
