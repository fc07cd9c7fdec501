import { InvalidArgumentError } from "commander";
import leven from "leven";
import { ROUND_TRIPS } from "../cdn/latency.ts";

/** A place for a PoP, by the name that Cloudflare gives its own there, in lower case. */
const CITIES: Readonly<Record<string, string>> = {
  sfo: "San Francisco",
  nyc: "New York",
  lon: "London",
  fra: "Frankfurt",
  bom: "Mumbai",
  gru: "São Paulo",
  syd: "Sydney",
};

/** The regions that there are, for a help text. */
export const REGION_NAMES = Object.keys(ROUND_TRIPS).join(", ");

export function cityOf(region: string): string {
  return CITIES[region] ?? region;
}

/** A list like `nyc,fra,syd`. Throws an `InvalidArgumentError` that tells what is wrong with it. */
export function parseRegions(text: string): readonly string[] {
  const regions = text.split(",").map((name) => name.trim().toLowerCase());
  for (const [index, region] of regions.entries()) {
    if (!Object.hasOwn(ROUND_TRIPS, region)) throw new InvalidArgumentError(unknownWords(region));
    if (regions.indexOf(region) < index) throw new InvalidArgumentError(`${region} is there twice.`);
  }
  return regions;
}

function unknownWords(region: string): string {
  const nearest = Object.keys(ROUND_TRIPS).find((name) => leven(name, region) === 1);
  const suggestion = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  return `There is no region ${region === "" ? "without a name" : region}.${suggestion} There are ${REGION_NAMES}.`;
}
