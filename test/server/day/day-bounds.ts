import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { NodeCompression } from "../../../server/compression/node-compression.ts";
import { Listener } from "../../../server/connections/listener.ts";
import { OpenConnections } from "../../../server/connections/open-connections.ts";
import { roomOf } from "../../../server/disk/disk-blocks.ts";
import { FileStore } from "../../../server/disk/file-store.ts";
import { LikelyCached } from "../../../server/disk/likely-cached.ts";
import { backUpLog } from "../../../server/log/log-copies.ts";
import { LogReaders } from "../../../server/log/log-readers.ts";
import { TimelyConfirmations } from "../../../server/log/timely-confirmations.ts";
import { CacheKeyMemo } from "../../../worker/flow/cache-key-memo.ts";
import { CollapsedFetches } from "../../../worker/flow/collapsing/collapsed-fetches.ts";
import { IdleFields } from "../../../worker/flow/second-look/idle-fields.ts";
import { SecondLooks } from "../../../worker/flow/second-look/second-looks.ts";
import { LargeFills } from "../../../worker/flow/storing/large-fills.ts";
import { ReuseSample } from "../../../worker/metrics/reuse-sample.ts";
import { TopUrls } from "../../../worker/metrics/top-urls.ts";
import { ViewLease } from "../../../worker/purges/lease/view-lease.ts";
import { Settlement } from "../../../worker/purges/settlement/settlement.ts";
import { PurgeView } from "../../../worker/purges/view/purge-view.ts";
import { ExpiringKeys } from "../../../worker/rules/key/expiring-keys.ts";
import { MemoryTier } from "../../../worker/store/memory-tier.ts";
import { RecentHeads } from "../../../worker/store/recent-heads.ts";
import { byDepth } from "../../suite/depth.ts";
import { AUDIT_MS, type Day, DISK_BYTES, HOUR_MS, MEMORY_BYTES } from "./day.ts";
import { type Class, type Held, heldBy } from "./held-state.ts";

/** As of when the audit trail was pruned last: once in 256 purges, as of the oldest of the last hundred. */
const LAST_PRUNED = "(SELECT at FROM audit WHERE seq = (SELECT max(seq) / 256 * 256 - 99 FROM audit))";
/** How far the clock may have been set back since. */
const SET_BACK_MS = 3 * 60_000;
/** Of what is opened for a moment, for each worker and its visitors. */
const MAX_TIMERS = 80;
const MAX_DESCRIPTORS_MORE = 100;
/** What Node opens for a thread. */
const DESCRIPTORS_OF_THREAD = 5;

/** They are kept for two hours, and looked at with the first report of an hour. Workers report where there is something to. */
const MINUTES_KEPT_MS = 3 * HOUR_MS + 15 * 60_000;

/** What a day may hold at any hour, with what it holds. Several hours are compared, so that growth shows. */
export interface Sample {
  readonly entries: number;
  readonly files: number;
  readonly diskBytes: number;
  readonly auditRows: number;
  readonly ledgerRows: number;
  readonly timers: number;
  readonly descriptors: number;
}

/** The most entries that an object of the engine may hold in one of its fields, or the most that it may count, while nobody waits. */
const MOST: readonly (readonly [of: Class, field: string, most: number])[] = [
  [SecondLooks, "#marks", 32],
  [IdleFields, "#records", 256],
  [ExpiringKeys, "#keys", 2_000],
  [CacheKeyMemo, "#resolved", 4_096],
  [LargeFills, "#fills", 0],
  [CollapsedFetches, "#leaders", 0],
  [ReuseSample, "#keys", 512],
  [TopUrls, "#entries", 255],
  [RecentHeads, "#heads", 512],
  [RecentHeads, "#characters", 2_000_000],
  [LikelyCached, "#files", 200_000],
  [FileStore, "changes", 0],
  [LogReaders, "#readers", 2],
  [TimelyConfirmations, "#waiting", 0],
  [LogReaders, "#admissions", 0],
  [Settlement, "#readers", 2],
  [OpenConnections, "#all", 64],
];

/** The objects of which a worker has one each. */
const ONE_EACH: readonly Class[] = [MemoryTier, PurgeView, ViewLease, Listener, NodeCompression];

const FEW: readonly Class[] = [PurgeView, ExpiringKeys, LargeFills, LogReaders];

/** How many objects of a class are alive, by its name. */
export type Alive = ReadonlyMap<string, number>;

/** The objects of which a worker has one each that are alive: before the day, those that other tests left in this process. */
export function aliveNow(): Alive {
  return countOf(heldBy(ONE_EACH));
}

function countOf(held: readonly Held[]): Alive {
  return new Map(ONE_EACH.map(({ name }) => [name, held.filter(({ of }) => of === name).length]));
}

/**
 * What the engine holds that it should not, in words: maps beyond their bounds, and objects of workers that ended. `before`:
 * what was alive before the day.
 */
export function heldTooMuch(workers: number, before: Alive): string[] {
  // Each class takes a collection of garbage.
  const looked: readonly Class[] = byDepth({ test: FEW, gate: FEW, all: [...MOST.map(([of]) => of), ...ONE_EACH] });
  const held = heldBy([...new Set(looked)]);
  const full = MOST.flatMap(([of, field, most]) => {
    const sizes = held.filter((each) => each.of === of.name).map(({ sizes }) => sizes[field]);
    return sizes.flatMap((size) => {
      if (size === undefined) return [`${of.name} has no ${field}`];
      return size > most ? [`${of.name}${field} holds ${size}, at most ${most}`] : [];
    });
  });
  const left = [...countOf(held)].filter(([name, count]) => count > workers + before.get(name)!);
  return [
    ...full,
    ...left.map(([name, count]) => `${count} of ${name} are alive, and ${before.get(name)} were before`),
  ];
}

/** Looks at the server while nobody waits. What is beyond a bound goes to the record. */
export async function look(day: Day, descriptorsBefore: number): Promise<Sample> {
  const within = (what: string, value: number, most: number) => {
    if (!(value <= most)) day.record.broke(`${what}: ${value}, and at most ${most} may be`);
  };
  let entries = 0;
  for (const visitors of day.everyVisitors) {
    const { body } = await day.time.during(visitors.call("GET", "stats?scope=isolate"));
    const { memory, fills, view } = body as unknown as Stats;
    entries += memory.entries;
    within("the bytes of a worker's memory", memory.bytes, MEMORY_BYTES / 2);
    within("the bytes of bodies on their way", fills.bytes, 0);
    within("the bytes of a worker's view", view.bytes, view.maxBytes);
  }
  const { bytes, files } = diskUse(join(day.folder, "pages"));
  within("the bytes on disk", bytes, DISK_BYTES);
  within("the bytes in the janitor's index", day.server.diskBytes, DISK_BYTES);
  const rows = logRows(day);
  within("old rows of the audit trail", rows.oldAudit, 0);
  within("minutes in the ledger that are over", rows.oldMinutes, 0);
  within("repetitions that are overdue", rows.overdue, 0);
  const timers = day.time.timers.length;
  within("timers", timers, MAX_TIMERS);
  const descriptors = descriptorsOpen() - descriptorsBefore - day.threads * DESCRIPTORS_OF_THREAD;
  within("file descriptors", descriptors, MAX_DESCRIPTORS_MORE);
  return {
    ...{ entries, files, diskBytes: bytes, timers, descriptors },
    auditRows: rows.audit,
    ledgerRows: rows.ledger,
  };
}

interface Stats {
  readonly memory: { readonly entries: number; readonly bytes: number };
  readonly fills: { readonly bytes: number };
  readonly view: { readonly bytes: number; readonly maxBytes: number };
}

export function descriptorsOpen(): number {
  return readdirSync("/proc/self/fd").length;
}

/** What all files below a folder take. */
export function diskUse(folder: string): { bytes: number; files: number } {
  let bytes = 0;
  let files = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const size = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
    bytes += roomOf(size);
    files++;
  }
  return { bytes, files };
}

/** The rows of the log, of which anybody may make a copy. */
function logRows(day: Day) {
  const copy = join(day.folder, "copy.sqlite");
  backUpLog(join(day.folder, "log"), copy);
  const database = new DatabaseSync(copy, { readOnly: true });
  const now = Math.floor(day.time.wall);
  const count = (from: string, ...given: number[]) =>
    database.prepare(`SELECT count(*) AS rows FROM ${from}`).get(...given)!.rows as number;
  try {
    return {
      audit: count("audit"),
      oldAudit: count(`audit WHERE at < ${LAST_PRUNED} - ?`, AUDIT_MS + SET_BACK_MS),
      ledger: count("ledger"),
      oldMinutes: count("ledger WHERE span = 60000 AND at < ?", now - MINUTES_KEPT_MS),
      overdue: count("repeats WHERE due_at < ?", now - 10_000),
    };
  } finally {
    database.close();
    rmSync(copy);
  }
}
