import type { Sql } from "../../worker/purges/log/sql.ts";
import { leasesIn } from "../../worker/purges/log/sql-purge-log.ts";

/**
 * Moves the instants of a purge log that are still ahead along with the clock, which has just been set forward (or back, if
 * negative) and is at `now`. Repetitions and settle times then stay as far away as they were.
 */
export function followClock(sql: Sql, byMs: number, now: number): void {
  sql.transaction(() => {
    sql.exec("UPDATE repeats SET due_at = due_at + ?", byMs);
    // If the clock went back, purges that had settled stay so. Those that are not newer than `now` may have come since, so
    // they wait for their time again.
    sql.exec(
      "UPDATE audit SET settles_at = max(settles_at + ?, ?) WHERE settles_at > ? OR at > ?",
      ...[byMs, now, now - byMs, now],
    );
    const leases = leasesIn(sql);
    const { until, namelessAt, bornAt } = leases.read()!; // A log has them from its beginning on.
    leases.write({
      until: Object.fromEntries(Object.entries(until).map(([ms, at]) => [ms, at + byMs])),
      namelessAt: namelessAt + byMs,
      bornAt: bornAt === undefined ? undefined : bornAt + byMs,
    });
  });
}
