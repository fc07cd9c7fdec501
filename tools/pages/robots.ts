import type parseRobots from "robots-parser";
import robotsParser from "robots-parser";

/** The package's types describe an ES module, but it is a CommonJS module whose export is the function itself. */
const parse = robotsParser as unknown as typeof parseRobots.default;

/** What a site's robots.txt says to this crawler. */
export interface RobotRules {
  allows(path: string): boolean;
  /** The pause between requests that it asks for; 0 if it asks for none. */
  readonly delayMs: number;
  readonly sitemaps: readonly string[];
}

/** The name of this crawler in a robots.txt. RFC 9309 §2.2.1 */
export const PRODUCT_TOKEN = "tidemark";

/** The most bytes of a robots.txt that are read. RFC 9309 §2.5 asks for at least 500 KiB. */
export const MAX_ROBOTS_BYTES = 512 * 1024;

/** Nothing is forbidden: there is no robots.txt. RFC 9309 §2.3.1.3. */
export const NO_RULES: RobotRules = { allows: () => true, delayMs: 0, sitemaps: [] };

export function readRobots(text: string, edge: URL): RobotRules {
  const url = new URL("/robots.txt", edge).href;
  const robots = parse(url, text);
  return {
    // `undefined` is for URLs of other hosts.
    allows: (path) => robots.isAllowed(edge.origin + path, PRODUCT_TOKEN) !== false,
    delayMs: Math.max(0, robots.getCrawlDelay(PRODUCT_TOKEN) ?? 0) * 1000,
    sitemaps: robots.getSitemaps(),
  };
}
