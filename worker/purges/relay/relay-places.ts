/** Where the platform is asked to keep a continent's relays, by the runtime's codes of continents. */
const PLACES: Readonly<Record<string, DurableObjectLocationHint>> = {
  AF: "afr",
  AN: "oc",
  AS: "apac",
  EU: "weur",
  NA: "enam",
  OC: "oc",
  SA: "sam",
};

/** A relay's object: its name, and where the platform is asked to keep it. */
export interface PlacedRelay {
  readonly name: string;
  readonly locationHint: DurableObjectLocationHint;
}

/**
 * One of the relays near an isolate, at random, so that they share the load. `null` where the site has none, or if the
 * runtime does not tell the continent: the isolate then connects to the log itself.
 */
export function placeRelay(relays: number, continent: unknown, random: () => number): PlacedRelay | null {
  const locationHint = PLACES[String(continent)];
  if (relays === 0 || locationHint === undefined) return null;
  return { name: `relay ${locationHint} ${Math.floor(random() * relays)}`, locationHint };
}
