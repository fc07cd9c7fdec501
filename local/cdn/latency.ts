/** Round trips of one region, in real milliseconds. */
export interface RoundTrips {
  /** Between a visitor and the PoP. */
  readonly clientMs: number;
  /** Between the PoP and the origin. */
  readonly originMs: number;
  /** Between the PoP and the purge log. */
  readonly logMs: number;
}

/** No added round trips. */
export const NO_LATENCY: RoundTrips = { clientMs: 0, originMs: 0, logMs: 0 };

/** Typical round trips over public networks, for visitors near the PoP and an origin and a purge log in New York. */
export const ROUND_TRIPS: Readonly<Record<string, RoundTrips>> = {
  sfo: { clientMs: 12, originMs: 70, logMs: 70 },
  nyc: { clientMs: 10, originMs: 2, logMs: 2 },
  lon: { clientMs: 12, originMs: 72, logMs: 72 },
  fra: { clientMs: 12, originMs: 84, logMs: 84 },
  bom: { clientMs: 25, originMs: 195, logMs: 195 },
  gru: { clientMs: 20, originMs: 115, logMs: 115 },
  syd: { clientMs: 18, originMs: 205, logMs: 205 },
};

/** The round trips of a CDN: `true` for those of the table, or your own by region; missing ones are 0. */
export type Latency = boolean | Readonly<Record<string, Partial<RoundTrips>>>;

/** The round trips of a region. Throws a `TypeError` for `true` and a region that the table does not have. */
export function roundTripsOf(region: string, latency: Latency): RoundTrips {
  if (latency === false) return NO_LATENCY;
  if (latency !== true) return { ...NO_LATENCY, ...latency[region] };
  const roundTrips = ROUND_TRIPS[region];
  if (!roundTrips) {
    throw new TypeError(
      `latency: true does not know the round trips of ${region}; it knows those of ${Object.keys(ROUND_TRIPS).join(", ")}. ` +
        `Give them yourself: latency: { ${region}: { clientMs: 12, originMs: 80, logMs: 80 } }.`,
    );
  }
  return roundTrips;
}
