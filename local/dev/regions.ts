import leven from "leven";
import { ROUND_TRIPS } from "../cdn/latency.ts";

/** The city of each region. Regions have the names that Cloudflare gives to its PoPs there, in lower case. */
const CITIES: Readonly<Record<string, string>> = {
  sfo: "San Francisco",
  nyc: "New York",
  lon: "London",
  fra: "Frankfurt",
  bom: "Mumbai",
  gru: "São Paulo",
  syd: "Sydney",
};

/** All regions, for a help text. */
export const REGION_NAMES = Object.keys(ROUND_TRIPS).join(", ");

export function cityOf(region: string): string {
  return CITIES[region] ?? region;
}

/** Reads a list like `nyc,fra,syd`. Throws a `RangeError` for a region that does not exist or is listed twice. */
export function parseRegions(text: string): readonly string[] {
  const regions = text.split(",").map((name) => name.trim().toLowerCase());
  for (const [index, region] of regions.entries()) {
    if (!Object.hasOwn(ROUND_TRIPS, region)) throw new RangeError(unknownRegionMessage(region));
    if (regions.indexOf(region) < index) throw new RangeError(`The region ${region} is listed twice.`);
  }
  return regions;
}

function unknownRegionMessage(region: string): string {
  const nearest = Object.keys(ROUND_TRIPS).find((name) => leven(name, region) === 1);
  const suggestion = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  return `There is no region ${region === "" ? "without a name" : region}.${suggestion} The regions are ${REGION_NAMES}.`;
}
