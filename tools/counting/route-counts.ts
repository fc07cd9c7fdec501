/** The counts of the paths that begin with one segment. */
export class RouteCounts {
  requests = 0;
  /** GET and HEAD. */
  readable = 0;
  bytes = 0;
  unsafe = 0;
  /** Answers 401 and 403. */
  refused = 0;
  /** By lifetime, estimated. */
  readonly misses: Float64Array;
  missBytes = 0;
  crawlerRequests = 0;
  crawlerMisses = 0;

  constructor(lifetimes: number) {
    this.misses = new Float64Array(lifetimes);
  }

  add(other: RouteCounts): void {
    this.requests += other.requests;
    this.readable += other.readable;
    this.bytes += other.bytes;
    this.unsafe += other.unsafe;
    this.refused += other.refused;
    for (const [index, misses] of other.misses.entries()) this.misses[index]! += misses;
    this.missBytes += other.missBytes;
    this.crawlerRequests += other.crawlerRequests;
    this.crawlerMisses += other.crawlerMisses;
  }
}

/** First segments under which frameworks keep pages for one visitor. */
const PERSONAL =
  /^\/(?:admin|wp-admin|wp-login\.php|login|logout|signin|sign-in|signup|sign-up|register|account|accounts|my|me|user|users|profile|cart|basket|checkout|orders?|session|sessions|auth|oauth2?|settings|dashboard|graphql)$/i;

/** Only a path of letters, digits and a few marks gets its own rule. */
const OF_A_RULE = /^\/[A-Za-z0-9._~-]+$/;

/** Routes with a smaller share of all requests are listed together. */
export const MIN_ROUTE_SHARE = 0.005;

/** So many requests of a route say enough about it, however small their share. */
const ENOUGH_REQUESTS = 50;

const UNSAFE_SHARE = 0.2;
const REFUSED_SHARE = 0.05;

/**
 * Why the config leaves a route to the origin; `null` if it may be stored. Scanners ask for many paths a few times each,
 * so that only a route's name counts while it has few of all requests.
 */
export function passReason(path: string, route: RouteCounts, allRequests: number): string | null {
  const { requests, unsafe, refused } = route;
  if (!OF_A_RULE.test(path)) return null;
  if (PERSONAL.test(path)) return "its name suggests personal pages";
  if (requests < Math.min(allRequests * MIN_ROUTE_SHARE, ENOUGH_REQUESTS)) return null;
  if (refused >= requests * REFUSED_SHARE && refused > 1) return "it answers 401 or 403";
  if (unsafe >= requests * UNSAFE_SHARE && unsafe > 1) return "many of its requests change something";
  return null;
}

/** The first segment of a path with its slash: `/blog` of `/blog/a`, and `/` itself. */
export function firstSegment(path: string): string {
  const end = path.indexOf("/", 1);
  return end < 0 ? path : path.slice(0, end);
}
