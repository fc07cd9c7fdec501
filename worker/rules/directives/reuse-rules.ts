import type { CacheControl } from "./cache-control.ts";
import { secondsOrNone } from "./delta-seconds.ts";

/** What a stored response says about its own reuse, beside its freshness. */
export interface ReuseRules {
  /** How long past its freshness it may answer while it is validated behind the answer. RFC 5861 §3. */
  readonly staleWhileRevalidateSeconds: number;
  /** How long past its freshness it may answer for an origin that fails; `null` where that is not said. RFC 5861 §4. */
  readonly staleIfErrorSeconds: number | null;
  /** True if each reuse has to be validated first. RFC 9111 §5.2.2.4. */
  readonly validateAlways: boolean;
  /** False if it must never answer while stale, whatever the two windows say. RFC 9111 §4.2.4. */
  readonly mayServeStale: boolean;
  /** True if it does not change while fresh, so that its route may let a purge come late. RFC 8246. */
  readonly immutable: boolean;
}

export function reuseRules(cacheControl: CacheControl): ReuseRules {
  const { noCache, mustRevalidate, proxyRevalidate, sMaxage, staleIfError } = cacheControl;
  return {
    staleWhileRevalidateSeconds: secondsOrNone(cacheControl.staleWhileRevalidate),
    staleIfErrorSeconds: staleIfError === "absent" ? null : secondsOrNone(staleIfError),
    validateAlways: noCache === "whole",
    // RFC 9111 §5.2.2.2, §5.2.2.4, §5.2.2.8, and §5.2.2.10: s-maxage means proxy-revalidate, too.
    mayServeStale: !mustRevalidate && !proxyRevalidate && sMaxage === "absent" && noCache !== "whole",
    immutable: cacheControl.immutable,
  };
}
