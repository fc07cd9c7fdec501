import { describe, test } from "vitest";
import { ViewLease } from "../../worker/purges/lease/view-lease.ts";
import { SqlPurgeLog } from "../../worker/purges/log/sql-purge-log.ts";
import { CHECKS } from "./purge-checks.ts";

describe("a purge log and a reader", () => {
  test.each(Object.keys(CHECKS))("%s", (name) => CHECKS[name]!({ SqlPurgeLog, ViewLease }));
});
