import { DatabaseSync } from "node:sqlite";
import { expect } from "vitest";
import { sqlOver } from "../../server/log/node-sql.ts";
import type { BackgroundWork } from "../../worker/ports/background-work.ts";
import { PopSharing } from "../../worker/purges/lease/pop-sharing.ts";
import type { ViewLease } from "../../worker/purges/lease/view-lease.ts";
import type { LogSettings } from "../../worker/purges/log/log-settings.ts";
import type { SqlPurgeLog } from "../../worker/purges/log/sql-purge-log.ts";
import { PurgeView } from "../../worker/purges/view/purge-view.ts";
import { MemoryNotes } from "../engine/memory/memory-notes.ts";
import { Scheduler } from "../engine/scheduler.ts";
import { HeldLog, LEASE_MS } from "./lease/held-log.ts";
import { purge } from "./log/a-purge.ts";
import { deltaOf } from "./view/delta.ts";

/** The classes under test, which mutants change. */
export interface PurgeClasses {
  readonly SqlPurgeLog: typeof SqlPurgeLog;
  readonly ViewLease: typeof ViewLease;
}

const DAY_MS = 24 * 3600 * 1000;
/** For so long, grants of a lease that is on record already are not. */
const HOUR_MS = 3600 * 1000;
/** The longest view age, and the largest allowance for clocks. */
const LONGEST_MS = 3_600_000 + 60_000;
const OF_EARLIER_LOG = { logId: "log-0", seq: 7 };

/** What no world and no scenario shows of the log and its readers, by the words for it. */
export const CHECKS: Readonly<Record<string, (classes: PurgeClasses) => void | Promise<void>>> = {
  "a log that is read by a reader of an earlier log counts for a day with the longest use that a site may ask for"(
    classes,
  ) {
    countsForADay(classes, (log) => log.read(OF_EARLIER_LOG, 1000));
  },

  "a log to which a reader of an earlier log purges counts for a day with the longest use that a site may ask for"(
    classes,
  ) {
    countsForADay(classes, (log) => log.append(purge(["#x"], { since: OF_EARLIER_LOG })));
  },

  "a log whose storage went back, as a reader shows that is ahead, counts with the longest use that a site may ask for"(
    classes,
  ) {
    const { log } = logAtTime(classes);
    log.append(purge(["#a"]));
    log.read({ logId: "log-1", seq: 2 }, 1000);
    expect(log.append(purge(["#b"]))).toMatchObject({ seq: 2, logId: "log-2", settlesInMs: LONGEST_MS + 250 });
  },

  "a lease that is shorter than the longest counts for a day of its own, also when the longest no longer does"(
    classes,
  ) {
    const { log, time, open } = logAtTime(classes);
    log.read(null, 5000);
    time.now = DAY_MS - 1000;
    log.read(null, 3000);
    time.now = DAY_MS + HOUR_MS + 1;
    log.read(null, 1000);
    expect(log.append(purge(["#a"]))).toMatchObject({ settlesInMs: 3250 });
    time.now = 2 * DAY_MS;
    log.read(null, 1000);
    expect(open().append(purge(["#b"]))).toMatchObject({ settlesInMs: 3250 });
    time.now = 2 * DAY_MS + HOUR_MS;
    expect(log.append(purge(["#c"]))).toMatchObject({ settlesInMs: 1250 });
  },

  "the longest lease counts for a day after it was last granted, although not each grant is written"(classes) {
    const { log, time } = logAtTime(classes);
    log.read(null, 5000);
    time.now = HOUR_MS - 1000;
    log.read(null, 5000);
    time.now = DAY_MS + 1;
    log.read(null, 1000);
    expect(log.append(purge(["#a"]))).toMatchObject({ settlesInMs: 5250 });
    log.read(null, 5000);
    time.now = 2 * DAY_MS;
    expect(log.append(purge(["#b"]))).toMatchObject({ settlesInMs: 5250 });
  },

  "a log that is a day old counts with no earlier one, because nobody uses that for so long"(classes) {
    const { log, time } = logAtTime(classes);
    time.now = DAY_MS + 1;
    log.read(null, 60_000);
    log.read(OF_EARLIER_LOG, 1000);
    expect(log.append(purge(["#a"]))).toMatchObject({ settlesInMs: 60_250 });
  },

  "a log whose numbers ran out knows what it has granted under its earlier id"(classes) {
    const { log } = logAtTime(classes, { maxSeq: 1 });
    log.append(purge(["#a"]));
    log.append(purge(["#b"]));
    log.read({ logId: "log-1", seq: 1 }, 1000);
    expect(log.append(purge(["#c"]))).toMatchObject({ logId: "log-3", settlesInMs: 1250 });
  },

  "the reply to a purge grants a reader with a name no lease, because the book would not have it"(classes) {
    const { log } = logAtTime(classes);
    expect(log.append(purge(["#a"], { reader: "one" }))).toMatchObject({ delta: { leaseMs: 0 } });
    expect(log.append(purge(["#b"]))).toMatchObject({ delta: { leaseMs: 1000 } });
  },

  async "a token stays in force where the view refuses the reply, which then proves nothing"({ ViewLease: Lease }) {
    const clock = new Scheduler(1, 100_000_000);
    const log = new HeldLog();
    const [settings, reporter] = [{ leaseMs: LEASE_MS, skewMs: 250 }, { report: () => undefined }];
    const pop = new PopSharing(new MemoryNotes(clock), settings, clock, reporter);
    const lease = new Lease({ settings, view: new PurgeView(10_000), log, pop, clock, random: () => 0, reporter });
    const behind: BackgroundWork = { run: () => undefined };
    const renewal = lease.renew(behind, null);
    await clock.advance(0);
    log.answer(0, 5);
    await renewal;
    const token = { logId: "b", seq: 1 };
    const bearer = lease.renew(behind, token);
    await clock.advance(0);
    await lease.learn(deltaOf(5, 6), behind); // the view changes, so that the call under way is older than it
    log.answer(1, 1, "b");
    expect(await bearer).toEqual(token);
  },
};

function logAtTime({ SqlPurgeLog: Log }: PurgeClasses, settings: Partial<LogSettings> = {}) {
  const sql = sqlOver(new DatabaseSync(":memory:"));
  const time = { now: 0 };
  let ids = 0;
  /** A log over the same storage: a restart. */
  const open = () =>
    new Log(
      sql,
      settings,
      () => time.now,
      () => `log-${++ids}`,
    );
  return { log: open(), time, open };
}

function countsForADay(classes: PurgeClasses, meet: (log: SqlPurgeLog) => void): void {
  const { log, time, open } = logAtTime(classes);
  expect(log.append(purge(["#a"]))).toMatchObject({ settlesInMs: 1250 });
  meet(log);
  expect(log.append(purge(["#b"]))).toMatchObject({ settlesInMs: LONGEST_MS + 250 });
  time.now = DAY_MS;
  expect(open().append(purge(["#c"]))).toMatchObject({ settlesInMs: LONGEST_MS + 250 });
  time.now = DAY_MS + HOUR_MS + 1;
  expect(log.append(purge(["#d"]))).toMatchObject({ settlesInMs: 1250 });
}
