import { PurgeError } from "../sdk/errors.ts";
import type { Purger } from "../sdk/index.ts";
import { siteStatsSchema } from "../wire/site-stats-schema.ts";
import type { SiteStats } from "../wire/stats.ts";
import { issuePath } from "../wire/text/issue-path.ts";

/**
 * The stats as they came, if they have everything that words about them need; the SDK checks only their version. Throws a
 * `PurgeError` for those of another version of the edge that lack something.
 */
export function completeStats(stats: Awaited<ReturnType<Purger["stats"]>>): SiteStats {
  const { error } = siteStatsSchema.safeParse(stats);
  if (error === undefined) return stats;
  throw new PurgeError(
    `The edge answered with stats that are not complete, from ${issuePath(error.issues[0]!.path)} on. It may have another ` +
      "version. tidemark stats --json prints them as they came.",
    { code: "unexpected-answer", status: 200, retryable: false, attempts: 1, cause: error },
  );
}
