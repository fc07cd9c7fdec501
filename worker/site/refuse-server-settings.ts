import { SiteError } from "./site-error.ts";
import type { SiteInput } from "./site-input.ts";
import { sizeBytes } from "./units.ts";

/** What an isolate of Workers has for all that it does: developers.cloudflare.com/workers/platform/limits. */
const ISOLATE_BYTES = 128e6;

/** Throws `SiteError` for settings that only `tidemark serve` can obey. */
export function refuseServerSettings({ compression, doors, forward, limits, origin, routes }: SiteInput): void {
  const withDeltas = routes?.findIndex(({ deltas }) => deltas !== undefined) ?? -1;
  if (withDeltas !== -1) {
    const message =
      "is only for tidemark serve: the Workers runtime cannot compress with a dictionary yet, so leave it out here";
    throw new SiteError([{ path: `routes[${withDeltas}].deltas`, message }]);
  }
  if (compression) {
    const message = "is only for tidemark serve: Workers compress by themselves, so leave it out here";
    throw new SiteError([{ path: "compression", message }]);
  }
  if (typeof origin === "object" && "url" in origin && typeof origin.url !== "string") {
    const message = "can name several addresses only under tidemark serve: name one here";
    throw new SiteError([{ path: "origin.url", message }]);
  }
  if (forward?.host === "visitor") {
    const message =
      "is only for tidemark serve: on Workers, Host is the name in the origin's URL, so leave it out here";
    throw new SiteError([{ path: "forward.host", message }]);
  }
  if ((sizeBytes.safeParse(limits?.memoryBytes).data ?? 0) >= ISOLATE_BYTES) {
    const message =
      'is more than an isolate of Workers has, which is 128 MB for all that it does: write at most "64MiB"';
    throw new SiteError([{ path: "limits.memoryBytes", message }]);
  }
  if (typeof doors?.varnish === "object") {
    const message = "is only for tidemark serve: here every purge needs a token, so write varnish: true";
    throw new SiteError([{ path: "doors.varnish.from", message }]);
  }
}
