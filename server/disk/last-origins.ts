import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { putFile } from "../put-file.ts";
import { CacheFolder, ORIGINS } from "./cache-folder.ts";

/**
 * Keeps the origins of these sites, by the sites' names, beside their pages. Returns those from which a site's pages came
 * until now, where another one has taken their place. The origin is no part of a page's key, because a site may move.
 */
export function replacedOrigins(folder: string, origins: ReadonlyMap<string, string>): Map<string, string> {
  if (!CacheFolder.isAt(folder)) return new Map(); // it holds no pages yet, and must stay empty until it is marked
  const path = join(folder, ORIGINS);
  const before = read(path);
  const now = new Map([...before, ...origins]); // a site that is not served now may come back to its pages
  if (isDeepStrictEqual(now, before)) return new Map();
  try {
    putFile(path, JSON.stringify([...now]), { isDurable: false });
  } catch {
    // Whoever writes pages tells why.
  }
  return new Map([...before].filter(([site, origin]) => origin !== now.get(site)));
}

/** Empty if the file is missing or damaged: then nothing is known of the pages. */
function read(path: string): Map<string, string> {
  try {
    const entries = JSON.parse(readFileSync(path, "utf8")) as unknown[][];
    const areTexts = entries.every((entry) => entry.length === 2 && entry.every((each) => typeof each === "string"));
    return new Map(areTexts ? (entries as [string, string][]) : []);
  } catch {
    return new Map();
  }
}
