/** Round trips of one region, in real milliseconds. */
export interface RoundTrips {
  /** Between a visitor and the PoP. */
  readonly clientMs: number;
  /** Between the PoP and the origin. */
  readonly originMs: number;
  /** Between the PoP and the purge log. */
  readonly logMs: number;
}

/** No delays but those of this machine. */
export const NO_LATENCY: RoundTrips = { clientMs: 0, originMs: 0, logMs: 0 };

/** What round trips come to over public networks: visitors near the PoP, the origin and the purge log in New York. */
export const ROUND_TRIPS: Readonly<Record<string, RoundTrips>> = {
  sfo: { clientMs: 12, originMs: 70, logMs: 70 },
  nyc: { clientMs: 10, originMs: 2, logMs: 2 },
  lon: { clientMs: 12, originMs: 72, logMs: 72 },
  fra: { clientMs: 12, originMs: 84, logMs: 84 },
  bom: { clientMs: 25, originMs: 195, logMs: 195 },
  gru: { clientMs: 20, originMs: 115, logMs: 115 },
  syd: { clientMs: 18, originMs: 205, logMs: 205 },
};

/** Which round trips a CDN has: those of the table, or one's own by region; what is left out is 0. */
export type Latency = boolean | Readonly<Record<string, Partial<RoundTrips>>>;

/** The round trips of a region. Throws a `TypeError` if the table is wanted and does not have it. */
export function roundTripsOf(region: string, latency: Latency): RoundTrips {
  if (latency === false) return NO_LATENCY;
  if (latency !== true) return { ...NO_LATENCY, ...latency[region] };
  const roundTrips = ROUND_TRIPS[region];
  if (!roundTrips) {
    throw new TypeError(
      `nothing is known of the round trips of ${region}. There are ${Object.keys(ROUND_TRIPS).join(", ")}; for others ` +
        `give them: latency: { ${region}: { clientMs: 12, originMs: 80, logMs: 80 } }.`,
    );
  }
  return roundTrips;
}
