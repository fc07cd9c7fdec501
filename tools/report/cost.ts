/** The price list of the Workers runtime, standard usage, in dollars. */
const PRICES = {
  source: "https://developers.cloudflare.com/workers/platform/pricing/",
  readIn: "November 2026",
  plan: 5,
  includedRequests: 10_000_000,
  perMillionRequests: 0.3,
  includedCpuMs: 30_000_000,
  perMillionCpuMs: 0.02,
  freeRequestsPerDay: 100_000,
} as const;

/** An assumption, more than a hit takes. */
const CPU_MS_PER_REQUEST = 1;

/** The reads of the purge log by a busy PoP with the default lease, as docs/scale.md has them. */
const PURGE_LOG_DOLLARS = 0.71;

const DAYS_PER_MONTH = 30;
const DAY_MS = 86_400_000;

/** A month of the edge on Cloudflare. */
export interface CostReport {
  readonly requestsPerMonth: number;
  readonly dollarsPerMonth: number;
  /** Whether the free plan has room for the busiest day. */
  readonly fitsFreePlan: boolean;
  readonly source: string;
  readonly readIn: string;
}

/** What the edge costs on Cloudflare. Every request runs the worker, a hit as well as a miss; the Cache API is free. */
export function costOf(requests: number, durationMs: number, busiestDay: number): CostReport {
  const days = durationMs / DAY_MS;
  const perMonth = Math.round((requests / days) * DAYS_PER_MONTH);
  const overRequests = Math.max(0, perMonth - PRICES.includedRequests);
  const overCpuMs = Math.max(0, perMonth * CPU_MS_PER_REQUEST - PRICES.includedCpuMs);
  const dollars =
    PRICES.plan +
    (overRequests / 1e6) * PRICES.perMillionRequests +
    (overCpuMs / 1e6) * PRICES.perMillionCpuMs +
    PURGE_LOG_DOLLARS;
  const perDay = Math.max(requests / days, busiestDay);
  return {
    requestsPerMonth: perMonth,
    dollarsPerMonth: Math.round(dollars * 100) / 100,
    fitsFreePlan: perDay <= PRICES.freeRequestsPerDay,
    source: PRICES.source,
    readIn: PRICES.readIn,
  };
}
