import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { sqlOver } from "../../../server/log/node-sql.ts";
import { SqlSeenKeys } from "../../../worker/purges/log/sql-seen-keys.ts";

const NOON = Date.UTC(2026, 0, 1, 12);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;

/** The keys of a ledger that has listened for an hour, and a clock. */
function listening(...keys: readonly string[]) {
  const clock = { now: NOON };
  const database = new DatabaseSync(":memory:");
  const seen = new SqlSeenKeys(sqlOver(database), () => clock.now);
  const take = (named: readonly string[]) => {
    seen.hold(named);
    seen.write();
  };
  take(keys);
  clock.now += HOUR_MS;
  return Object.assign(clock, { seen, database, take });
}

const missed = (world: { readonly seen: SqlSeenKeys }, ...keys: readonly string[]) =>
  world.seen.unseen(keys).map(({ at }) => keys[at]);

const many = (kind: string, count: number) => Array.from({ length: count }, (_, at) => `${kind}${at}`);

test("a key from a report counts as seen, and any other as unseen", () => {
  const world = listening("#a", "path:/a");
  expect(world.seen.unseen(["#a", "#b", "path:/a", "path:/b"])).toEqual([
    { at: 1, nearest: undefined, isSure: true },
    { at: 3, nearest: undefined, isSure: true },
  ]);
});

test("a key counts as unseen only an hour after the first key of its kind", () => {
  const world = listening("#a");
  world.now--;
  expect(world.seen.unseen(["#b"])).toMatchObject([{ isSure: false }]);
  world.now++;
  expect(world.seen.unseen(["#b", "path:/b"])).toMatchObject([{ isSure: true }, { isSure: false }]);
});

test("a new ledger calls no key unseen", () => {
  expect(listening().seen.unseen(["#b"])).toEqual([{ at: 0, nearest: undefined, isSure: false }]);
});

test("a key is forgotten a week after the last report that has named it, or up to a day later", () => {
  const world = listening("#a", "#b");
  const namedLast = NOON + DAY_MS - 1; // too soon to be written
  world.now = namedLast;
  world.take(["#a"]);
  world.now = namedLast + WEEK_MS;
  world.seen.prune(world.now);
  expect(missed(world, "#a", "#b")).toEqual([]);
  world.take(["#a"]);
  world.now++;
  world.seen.prune(world.now);
  expect(missed(world, "#a", "#b")).toEqual(["#b"]);
});

test("a key is written once a day, however often it is named", () => {
  const world = listening("#a");
  const at = () => world.database.prepare("SELECT at FROM seen_keys").get()!.at;
  world.now = NOON + DAY_MS - 1;
  world.take(["#a"]);
  expect(at()).toBe(NOON);
  world.now++;
  world.take(["#a"]);
  expect(at()).toBe(NOON + DAY_MS);
});

test("keys are counted when more were written than one kind may have, so that no crawl writes more than twice as many", () => {
  const world = listening("#a", "path:/a");
  for (let times = 0; times < 3; times++) world.take(many("path:/", 19_998)); // written once
  expect(missed(world, "path:/b")).toEqual(["path:/b"]);
  world.take(["#b"]); // counted
  world.take(many("path:/more-", 20_000));
  expect(missed(world, "path:/b")).toEqual(["path:/b"]);
  world.take(["path:/c"]);
  expect(missed(world, "path:/b", "#c")).toEqual(["#c"]);
});

test("a kind with too many keys is not reported for a week, but the other kind is", () => {
  const world = listening("#a", "path:/a");
  world.take(many("path:/", 19_999));
  world.seen.prune(world.now);
  expect(missed(world, "path:/b")).toEqual(["path:/b"]);
  world.take(["path:/x"]);
  world.seen.prune(world.now);
  expect(missed(world, "path:/b", "#b")).toEqual(["#b"]);
  world.take(["path:/c"]);
  expect(world.database.prepare("SELECT count(*) AS held FROM seen_keys").get()!.held).toBe(1);
  world.now += WEEK_MS - 1;
  expect(missed(world, "path:/b")).toEqual([]);
  world.now++;
  world.take(["path:/c"]);
  expect(world.seen.unseen(["path:/b", "path:/c"])).toMatchObject([{ at: 0, isSure: false }]);
});

test("a kind is not reported if an isolate has seen more keys of it than it reports", () => {
  const world = listening("#a", "path:/a");
  world.take(["path:/b", "path:"]);
  expect(missed(world, "path:/c", "#c")).toEqual(["#c"]);
});

test("the nearest are searched for the first three unseen keys, among those of their kinds", () => {
  const world = listening("#plog:hello", "path:/about");
  const asked = ["#plog-hello", "#plog_hello", "#ploghello", "path:/about/"];
  const nearest = () => world.seen.unseen(asked).map((key) => key.nearest);
  expect(nearest()).toEqual(["#plog:hello", "#plog:hello", "#plog:hello", undefined]);
  world.now += 1000;
  asked.reverse();
  expect(nearest()).toEqual(["path:/about", "#plog:hello", "#plog:hello", undefined]);
});

test("an answer names ten keys at most, and the nearest are searched for once a second", () => {
  const world = listening("#plog:hello");
  expect(world.seen.unseen(many("#", 20))).toHaveLength(10);
  world.now += 999;
  expect(world.seen.unseen(["#plog-hello"])).toMatchObject([{ nearest: undefined }]);
  world.now++;
  expect(world.seen.unseen(["#plog-hello"])).toMatchObject([{ nearest: "#plog:hello" }]);
  expect(world.seen.unseen(["#plog-hello"])).toMatchObject([{ nearest: undefined }]);
});
