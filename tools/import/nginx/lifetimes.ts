import type { RouteInput } from "#tidemark/internal";
import { ImportError, type Source } from "../imported-site.ts";
import type { Directive } from "./files/directives.ts";

type Lifetimes = Pick<RouteInput, "ttl" | "defaultTtl">;

export interface ImportedLifetimes {
  readonly lifetimes: Lifetimes;
  /** The statuses of `any` that the edge never stores. */
  readonly leftOutStatuses: readonly number[];
  /** True if nginx ignores the origin's lifetimes but the site uses them. */
  readonly readsOrigins: boolean;
}

/** The statuses that nginx stores if the line names none. */
const WITHOUT_STATUS = [200, 301, 302];

/** The meaning of `any`: every status that an origin sends and the edge may store. */
const ANY = [
  200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 402, 403, 404, 405, 409, 410, 411, 413, 414, 415, 422, 500, 501,
  502, 503, 504,
];

/** Statuses that the edge never stores. A test compares them with the rule, which `tools` may not import. */
const NEVER_STORED = [206, 401, 406, 407, 408, 412, 416, 417, 421, 425, 426, 428, 429, 431, 511];

/** The statuses to which a single `ttl` of a route applies. A test also compares them with the rule. */
const OBEYS_TTL = [200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 410];

/** The lines of `proxy_cache_valid` as lifetimes of a route. Throws an `ImportError` for a time that nginx does not know. */
export function importLifetimes(valid: readonly Directive[], ignoresOrigins: boolean): ImportedLifetimes {
  const seconds = new Map<number, number>();
  const leftOut: number[] = [];
  for (const { args, source } of valid) {
    const time = secondsOf(args.at(-1) ?? "", source);
    const statuses = args.slice(0, -1);
    const isForAny = statuses.includes("any");
    const named = statuses.length === 0 ? WITHOUT_STATUS : statuses.filter((each) => each !== "any").map(Number);
    for (const status of isForAny ? [...named, ...ANY, ...NEVER_STORED] : named) {
      if (NEVER_STORED.includes(status)) leftOut.push(status);
      else if (!seconds.has(status)) seconds.set(status, time);
    }
    if (isForAny) break; // nginx takes the first line that fits
  }
  const stored = [...seconds].filter(([, time]) => time > 0).sort(([a], [b]) => a - b);
  if (stored.length === 0) return { lifetimes: {}, leftOutStatuses: leftOut, readsOrigins: ignoresOrigins };
  const [ttlSeconds = 0, ...different] = new Set(OBEYS_TTL.map((status) => seconds.get(status)));
  if (ignoresOrigins && ttlSeconds > 0 && different.length === 0) {
    const others = stored.filter(([status]) => !OBEYS_TTL.includes(status));
    return {
      lifetimes: { ttl: durationOf(ttlSeconds), ...(others.length > 0 && { defaultTtl: recordOf(others) }) },
      leftOutStatuses: leftOut,
      readsOrigins: false,
    };
  }
  return { lifetimes: { defaultTtl: recordOf(stored) }, leftOutStatuses: leftOut, readsOrigins: ignoresOrigins };
}

function recordOf(seconds: readonly (readonly [status: number, time: number])[]): Record<string, string> {
  return Object.fromEntries(seconds.map(([status, time]) => [String(status), durationOf(time)]));
}

/** The seconds of each unit of time, of nginx. */
const UNITS: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 7 * 86_400,
  M: 30 * 86_400,
  y: 365 * 86_400,
};

/** A time as nginx writes it: `1h30m`, `10d`, `30`. Throws an `ImportError` for anything else. */
export function secondsOf(text: string, { place }: Pick<Source, "place">): number {
  if (!/^(?:\d+(?:ms|[smhdwMy])? ?)+$/.test(text))
    throw new ImportError(`${place}: ${JSON.stringify(text)} is not a time, like 10m`);
  const parts = [...text.matchAll(/(\d+)(ms|[smhdwMy])?/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit ?? "s"]!, 0);
}

/** Seconds as the site writes them, in the largest unit that fits. */
export function durationOf(seconds: number): string {
  if (!Number.isInteger(seconds)) return `${Math.round(seconds * 1000)}ms`;
  const unit = (["d", "h", "m", "s"] as const).find((each) => seconds % UNITS[each]! === 0)!;
  return seconds === 0 ? "0s" : `${seconds / UNITS[unit]!}${unit}`;
}
