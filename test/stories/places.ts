/** Three PoPs with two isolates each. */
export const REGIONS = ["fra", "nyc", "syd"] as const;
export const ISOLATES_PER_POP = 2;

export type Region = (typeof REGIONS)[number];

/** One isolate. */
export interface Place {
  readonly region: Region;
  readonly isolate: number;
}

export const PLACES: readonly Place[] = REGIONS.flatMap((region) =>
  Array.from({ length: ISOLATES_PER_POP }, (_, isolate) => ({ region, isolate })),
);

/** Its name in the field `CF-Worker` of the runtime's requests. */
export function nameOf({ region, isolate }: Place): string {
  return `${region}-${isolate}`;
}
