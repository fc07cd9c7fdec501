import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { sqlOver } from "../../../server/log/node-sql.ts";
import { metricsText } from "../../../worker/control/stats/metrics.ts";
import type { CountTree } from "../../../worker/metrics/count-tree.ts";
import { REPORT_FORM } from "../../../worker/metrics/reports.ts";
import type { Sql } from "../../../worker/purges/log/sql.ts";
import { SqlLedger } from "../../../worker/purges/log/sql-ledger.ts";
import { report } from "./a-report.ts";

const NOON = Date.UTC(2026, 0, 1, 12);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

function ledgerAt(start = NOON) {
  const database = new DatabaseSync(":memory:");
  const clock = { now: start };
  const ledger = new SqlLedger(sqlOver(database), () => clock.now);
  return Object.assign(clock, { database, ledger });
}

const rows = (database: DatabaseSync, table = "ledger") =>
  database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()!.rows as number;

test("a repeated report counts once, also after the log has restarted", () => {
  const { ledger, database } = ledgerAt();
  ledger.take(report());
  ledger.take(report());
  new SqlLedger(sqlOver(database), () => NOON).take(report());
  ledger.take(report({ number: 2 }));
  ledger.take(report()); // one that was late on its way
  expect(ledger.read(HOUR_MS, null).counts).toMatchObject({ requests: 20, answers: { HIT: 14, MISS: 6 } });
});

test.each(["", "{", '{"counts":\0'])("a row that the disk has damaged to %j is lost, and no other", (tally) => {
  const world = ledgerAt();
  const { ledger, database } = world;
  ledger.take(report());
  database.prepare("UPDATE ledger SET tally = ? WHERE span <= ?").run(tally, MINUTE_MS);
  expect(ledger.read(null, null).counts.requests).toBeUndefined();
  expect(ledger.read(3 * DAY_MS, null).counts.requests).toBe(10);
  ledger.take(report({ number: 2 }));
  expect(ledger.read(null, null).counts.requests).toBe(10);
  expect(ledger.read(HOUR_MS, null).counts.requests).toBe(10);
  expect(ledger.read(3 * DAY_MS, null).counts.requests).toBe(20);
});

test("each period has the counts of its spans, and the totals have all of them", () => {
  const world = ledgerAt();
  const { ledger } = world;
  for (let number = 1; number <= 72; number++) {
    ledger.take(report({ number }));
    world.now += HOUR_MS;
  }
  const requests = (lastMs: number | null) => ledger.read(lastMs, null).counts.requests ?? 0;
  expect(requests(30 * MINUTE_MS)).toBe(0);
  expect(requests(2 * HOUR_MS)).toBe(20);
  expect(requests(24 * HOUR_MS)).toBe(240);
  expect(requests(3 * DAY_MS)).toBe(720);
  expect(requests(null)).toBe(720);
  expect(ledger.read(3 * DAY_MS, null).from).toBe(NOON);
  expect(ledger.read(6 * DAY_MS, null).from).toBe(Date.UTC(2025, 11, 29));
});

test("each span is separate, with the sum of its PoPs, and spans without reports are left out", () => {
  const world = ledgerAt();
  const { ledger } = world;
  const statuses = { 200: 9, 404: 1 };
  const counts = {
    requests: 10,
    fromCache: 7,
    answers: { HIT: 7 },
    statuses,
    origin: { asked: 3 },
    bytes: { fromCache: 70 },
  };
  const times = { origin: { sum: 5, buckets: { 7: 1 } } };
  ledger.take(report({ counts: { ...counts, times } }));
  ledger.take(report({ isolate: "two", pop: "syd", counts: { ...counts, times } }));
  world.now += 3 * HOUR_MS;
  ledger.take(report({ number: 2, counts }));
  const both = {
    requests: 20,
    fromCache: 14,
    statuses: { 200: 18, 404: 2 },
    origin: { asked: 6 },
    bytes: { fromCache: 140 },
  };
  const one = { requests: 10, fromCache: 7, statuses, origin: { asked: 3 }, bytes: { fromCache: 70 } };
  const { spanMs, spans } = ledger.read(DAY_MS, null);
  expect(spanMs).toBe(HOUR_MS);
  expect(spans).toEqual([
    { at: NOON, counts: { ...both, times: { origin: { sum: 10, buckets: { 7: 2 } } } } },
    { at: NOON + 3 * HOUR_MS, counts: { ...one, times: {} } },
  ]);
  expect(ledger.read(DAY_MS, "syd").spans).toEqual([{ at: NOON, counts: { ...one, times } }]);
  expect(ledger.read(HOUR_MS, null)).toMatchObject({ spanMs: MINUTE_MS, spans: [{ at: NOON + 3 * HOUR_MS }] });
  expect(ledger.read(30 * DAY_MS, null)).toMatchObject({ spanMs: DAY_MS, spans: [{ counts: { requests: 30 } }] });
  expect(ledger.read(null, null).spans).toEqual([]);
});

test("PoPs are counted separately, and can be requested separately", () => {
  const { ledger } = ledgerAt();
  ledger.take(report());
  ledger.take(report({ isolate: "two", pop: "syd", counts: { requests: 5 } }));
  const { counts, pops, isolates, routes } = ledger.read(HOUR_MS, null);
  expect({ counts: counts.requests, fra: pops.fra!.requests, syd: pops.syd!.requests }).toEqual({
    counts: 15,
    fra: 10,
    syd: 5,
  });
  expect(isolates).toMatchObject({ reported: 2, alive: 2, memoryBytes: 200, memoryMaxBytes: 2000 });
  expect(routes).toEqual({ "/a": { requests: 20 } });
  const one = ledger.read(HOUR_MS, "syd");
  expect(one).toMatchObject({
    counts: { requests: 5 },
    isolates: { reported: 1, memoryBytes: 100 },
    routes: {},
    top: null,
  });
});

test("a reading takes its rows one by one, and only those of the PoP that it is for", () => {
  const { ledger, database } = ledgerAt();
  for (let pop = 1; pop <= 20; pop++) ledger.take(report({ isolate: `isolate-${pop}`, pop: `pop-${pop}` }));
  const sql = sqlOver(database);
  let most = 0;
  let stepped = 0;
  const counting: Sql = {
    ...sql,
    exec: <Row extends object>(...statement: Parameters<Sql["exec"]>) => {
      const rows = sql.exec<Row>(...statement);
      most = Math.max(most, rows.length);
      return rows;
    },
    *iterate<Row extends object>(...statement: Parameters<Sql["iterate"]>) {
      for (const row of sql.iterate<Row>(...statement)) {
        stepped++;
        yield row;
      }
    },
  };
  const reading = new SqlLedger(counting, () => NOON);
  expect(reading.read(HOUR_MS, null).counts.requests).toBe(200);
  expect({ most, stepped }).toEqual({ most: 1, stepped: 21 });
  stepped = 0;
  expect(reading.read(HOUR_MS, "pop-3").counts.requests).toBe(10);
  expect({ most, stepped }).toEqual({ most: 1, stepped: 1 });
  expect(reading.read(HOUR_MS, "")).toMatchObject({ counts: {}, routes: {}, top: null, pops: {} });
});

/** A ledger over the same rows, and the statements that it makes from now on. */
function noting({ database, ...clock }: ReturnType<typeof ledgerAt>) {
  const made: string[] = [];
  const sql = sqlOver(database);
  const world = { ...clock };
  const exec = <Row extends object>(...statement: Parameters<Sql["exec"]>) => {
    made.push(statement[0]);
    return sql.exec<Row>(...statement);
  };
  const ledger = new SqlLedger({ ...sql, exec }, () => world.now);
  made.length = 0;
  return Object.assign(world, { ledger, count: (part: string) => made.filter((each) => each.includes(part)).length });
}

describe("rows are read and written sparingly", () => {
  test("all rows are looked at for old ones once an hour, also by logs that live for a minute", () => {
    const first = noting(ledgerAt());
    for (let number = 1; number <= 60; number++) {
      first.ledger.take(report({ number }));
      first.now += MINUTE_MS;
    }
    expect([first.count("DELETE FROM seen_keys"), first.count("SELECT * FROM reporters")]).toEqual([1, 1]);
    const world = ledgerAt();
    world.ledger.take(report());
    for (let number = 2; number <= 60; number++) {
      world.now += MINUTE_MS;
      const short = noting(world);
      short.ledger.take(report({ number }));
      expect(short.count("DELETE FROM seen_keys")).toBe(0);
    }
  });

  test("reports that are held are written together: each row and each isolate once", () => {
    const { ledger, count } = noting(ledgerAt());
    for (const isolate of ["one", "two", "three"]) {
      ledger.hold(report({ isolate, pop: isolate === "one" ? "fra" : "syd", seen: ["#a"] }));
      ledger.hold(report({ isolate, number: 2 }));
      ledger.hold(report({ isolate, number: 2 })); // sent again
    }
    expect([count("INSERT"), ledger.read(HOUR_MS, null).counts]).toEqual([0, {}]);
    ledger.write();
    ledger.write();
    // Of a minute, an hour, a day and all time: the two PoPs, and the site.
    expect([count("INTO ledger"), count("INTO reporters"), count("INTO seen_keys")]).toEqual([12, 3, 1]);
    ledger.hold(report({ isolate: "one", number: 2 }));
    ledger.write();
    const { counts, pops, routes, isolates } = ledger.read(HOUR_MS, null);
    expect([counts.requests, pops.syd!.requests, routes]).toEqual([60, 20, { "/a": { requests: 60 } }]);
    expect(isolates).toMatchObject({ reported: 3, heardMs: 6 * MINUTE_MS });
  });

  test("a held report counts in the minute in which it came", () => {
    const world = ledgerAt();
    world.ledger.hold(report());
    world.now += MINUTE_MS;
    world.ledger.write();
    expect(world.ledger.read(HOUR_MS, null).spans).toMatchObject([{ at: NOON, counts: { requests: 10 } }]);
  });

  test("a malformed report takes nothing with it, and what could not be written counts once when it comes again", () => {
    const { ledger, database } = ledgerAt();
    ledger.hold(report());
    for (const text of ["{", JSON.stringify({ form: REPORT_FORM })]) expect(() => ledger.hold(text)).toThrow();
    database.exec("PRAGMA query_only=ON");
    expect(() => ledger.write()).toThrow();
    database.exec("PRAGMA query_only=OFF");
    ledger.hold(report());
    ledger.write();
    expect(ledger.read(HOUR_MS, null).counts.requests).toBe(10);
  });
});

describe("the keys that held reports have named", () => {
  const longKeys = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => `path:/${from + at}-`.padEnd(500, "x"));

  test("are written although the platform binds no text of over 2.2 MB", () => {
    const world = ledgerAt();
    const sql = sqlOver(world.database);
    const exec = <Row extends object>(...[statement, ...bindings]: Parameters<Sql["exec"]>) => {
      if (bindings.some((each) => String(each).length > 2_200_000)) throw new Error("string or blob too big");
      return sql.exec<Row>(statement, ...bindings);
    };
    const ledger = new SqlLedger({ ...sql, exec }, () => world.now);
    for (let number = 1; number <= 3; number++) {
      ledger.hold(report({ number, seen: longKeys(number * 10_000, 1800) }));
    }
    ledger.write();
    expect(ledger.read(HOUR_MS, null).counts.requests).toBe(30);
    expect(ledger.unseen([...longKeys(11_799, 1), ...longKeys(11_800, 1), ...longKeys(31_799, 1)])).toMatchObject([
      { at: 1 },
    ]);
  });

  test("are not written if there are more of a kind than the ledger remembers, but those of the other kind are", () => {
    const { ledger, database } = ledgerAt();
    const changes = () => database.prepare("SELECT total_changes() AS changes").get()!.changes as number;
    const before = changes();
    const keys = Array.from({ length: 20_001 }, (_, at) => `path:/${at}`);
    ledger.hold(report({ seen: [...keys.slice(0, 10_001), "#a"] }));
    ledger.hold(report({ number: 2, seen: [...keys.slice(10_000), ...keys] }));
    ledger.write();
    expect(changes() - before).toBeLessThan(100);
    expect(ledger.unseen(["path:/other", "#a", "#b"])).toMatchObject([{ at: 2 }]);
  });

  test("take no counts with them if they cannot be written, and are once they can be", () => {
    const { ledger, database } = ledgerAt();
    database.exec("CREATE TRIGGER refusal BEFORE INSERT ON seen_keys BEGIN SELECT RAISE (ABORT, 'refused'); END");
    ledger.hold(report({ seen: ["#a"] }));
    expect(() => ledger.write()).toThrow("refused");
    expect(ledger.read(HOUR_MS, null).counts.requests).toBe(10);
    ledger.take(report({ seen: ["#a"] })); // sent again, if its isolate was told
    expect(ledger.read(HOUR_MS, null).counts.requests).toBe(10);
    database.exec("DROP TRIGGER refusal");
    ledger.take(report({ number: 2, seen: ["#b"] }));
    expect(ledger.unseen(["#a", "#b", "#c"])).toMatchObject([{ at: 2 }]);
  });
});

describe("the clock of an isolate may be wrong", () => {
  test("a late report is counted in the minute that it covers, by its own measure of how late it is", () => {
    const { ledger } = ledgerAt();
    ledger.take(report({ agoMs: 30 * MINUTE_MS }));
    expect(ledger.read(10 * MINUTE_MS, null).counts).toEqual({});
    expect(ledger.read(31 * MINUTE_MS, null).counts.requests).toBe(10);
  });

  test.each([-1e12, 1e15, Number.MAX_SAFE_INTEGER])("a report that says it is %d ms late is counted", (agoMs) => {
    const { ledger } = ledgerAt();
    ledger.take(report({ agoMs }));
    expect(ledger.read(2 * HOUR_MS, null).counts.requests).toBe(10);
  });

  test("counting continues when the log's clock goes back", () => {
    const world = ledgerAt();
    world.ledger.take(report());
    world.now -= 10 * DAY_MS;
    world.ledger.take(report({ number: 2 }));
    expect(world.ledger.read(HOUR_MS, null).counts.requests).toBe(20);
  });

  test("what was counted while the log's clock was ahead counts as of when it was set, and not for a year", () => {
    const world = ledgerAt(NOON + 365 * DAY_MS);
    world.ledger.take(report());
    world.ledger.take(report({ isolate: "two", pop: "syd" }));
    world.now = NOON;
    world.ledger.take(report({ number: 2 }));
    const { counts, spans, routes, isolates } = world.ledger.read(HOUR_MS, null);
    expect({ requests: counts.requests, at: spans.map(({ at }) => at), routes }).toEqual({
      requests: 30,
      at: [NOON],
      routes: { "/a": { requests: 30 } },
    });
    expect(isolates).toMatchObject({ reported: 2, alive: 2 });
    world.now += 3 * HOUR_MS;
    world.ledger.take(report({ number: 3 }));
    expect(world.ledger.read(HOUR_MS, null)).toMatchObject({
      counts: { requests: 10 },
      isolates: { reported: 1, silent: 0 },
    });
    expect(world.ledger.read(DAY_MS, null)).toMatchObject({ counts: { requests: 40 }, isolates: { reported: 2 } });
    expect(world.ledger.read(null, null).counts.requests).toBe(40);
  });

  test.each([
    ["at a start", 0],
    ["while reports wait", 1e12],
  ])("a clock that is ahead for less than three hours %s deletes nothing", (_, agoMs) => {
    const world = ledgerAt();
    world.ledger.take(report({ seen: ["#a"] }));
    world.ledger.take(report({ isolate: "two" }));
    const ledger = new SqlLedger(sqlOver(world.database), () => world.now);
    world.now += 100 * DAY_MS;
    for (let number = 2; number <= 4; number++) {
      ledger.take(report({ number, agoMs }));
      world.now += 59 * MINUTE_MS;
    }
    world.now = NOON + 3 * HOUR_MS;
    ledger.take(report({ number: 5 }));
    expect(ledger.read(DAY_MS, null)).toMatchObject({
      counts: { requests: 60 },
      spans: [{ at: NOON, counts: { requests: 20 } }, { at: NOON + 3 * HOUR_MS }],
      isolates: { reported: 2 },
    });
    expect(rows(world.database, "seen_keys")).toBe(1);
  });

  test("a clock that is set a minute after the start, because it was behind, leaves everything at its time", () => {
    const world = ledgerAt();
    world.ledger.take(report());
    const ledger = new SqlLedger(sqlOver(world.database), () => world.now);
    world.now = 0;
    ledger.take(report({ isolate: "two" }));
    world.now = NOON + 2 * MINUTE_MS;
    ledger.take(report({ isolate: "two", number: 2 }));
    expect(ledger.read(HOUR_MS, null)).toMatchObject({ spans: [{ at: NOON }, { at: NOON + 2 * MINUTE_MS }] });
  });
});

describe("the share that the ledger has heard of", () => {
  test("a silent isolate is missing at most a minute, and one that announced its end is missing nothing", () => {
    const world = ledgerAt();
    const { ledger } = world;
    ledger.take(report());
    ledger.take(report({ isolate: "two", isLast: true }));
    expect(ledger.read(HOUR_MS, null).isolates).toMatchObject({
      reported: 2,
      silent: 0,
      alive: 1,
      unheardMs: 0,
      heardShare: 1,
    });
    world.now += 20_000;
    expect(ledger.read(HOUR_MS, null).isolates).toMatchObject({ silent: 0, unheardMs: 20_000 });
    world.now += HOUR_MS / 2;
    const { isolates } = ledger.read(HOUR_MS, null);
    expect(isolates).toMatchObject({ reported: 2, silent: 1, alive: 0, heardMs: 2 * MINUTE_MS, unheardMs: MINUTE_MS });
    expect(isolates.heardShare).toBeCloseTo(2 / 3);
  });

  test("isolates that are forgotten stay in the counts of their time", () => {
    const world = ledgerAt();
    world.ledger.take(report());
    world.ledger.take(report({ isolate: "two", isLast: true }));
    world.now += 3 * DAY_MS;
    for (let number = 1; number <= 2; number++) {
      world.now += 4 * HOUR_MS;
      world.ledger.take(report({ isolate: "three", number }));
    }
    expect(rows(world.database, "reporters")).toBe(1);
    expect(world.ledger.read(10 * DAY_MS, null).isolates).toMatchObject({
      reported: 3,
      silent: 1,
      unheardMs: MINUTE_MS,
    });
  });

  test("monitors are told of the last three hours, so that an isolate that fell silent is no alarm for ever", () => {
    const world = ledgerAt();
    const told = () => metricsText(world.ledger.read(null, null), false);
    world.ledger.take(report());
    world.now += HOUR_MS;
    world.ledger.take(report({ isolate: "two", pop: "syd" }));
    expect(told()).toMatch(/^tidemark_silent_isolates 1\n.*^tidemark_heard_ratio 0\.66/ms);
    for (const days of [1, 3]) {
      world.now += days * DAY_MS;
      world.ledger.take(report({ isolate: "two", pop: "syd", number: days + 1 }));
      expect(told()).toMatch(/^tidemark_silent_isolates 0\n.*^tidemark_heard_ratio 1\n/ms);
    }
    expect(world.ledger.read(null, null).counts.requests).toBe(40);
  });
});

describe("at its bounds", () => {
  test("minutes are kept for two hours, and hours for 90 days", () => {
    const world = ledgerAt();
    for (let number = 1; number <= 300; number++) {
      world.ledger.take(report({ number }));
      world.now += 12 * HOUR_MS;
    }
    // Per PoP and for the site: minutes of two hours, 91 days of two hours each, 91 days, and one of all time.
    expect(rows(world.database)).toBeLessThanOrEqual(2 * (2 + 2 * 91 + 92 + 1));
    expect(world.ledger.read(null, null).counts.requests).toBe(3000);
  });

  test("minutes are kept for two hours and that which goes on, also where each report comes as a minute begins", () => {
    const world = ledgerAt();
    for (let number = 1; number <= 360; number++) {
      world.ledger.take(report({ number }));
      world.now += MINUTE_MS;
    }
    const minutes = world.database.prepare("SELECT count(*) AS rows FROM ledger WHERE span = ?").get(MINUTE_MS)!.rows;
    // Per PoP and for the site. The look for old rows at the beginning of the last hour left 121 minutes.
    expect(minutes).toBeLessThanOrEqual(2 * (121 + 60));
  });

  test("a hundred PoPs are counted separately, and all others as one", () => {
    const { ledger } = ledgerAt();
    for (let pop = 1; pop <= 130; pop++) ledger.take(report({ isolate: `isolate-${pop}`, pop: `pop-${pop}` }));
    const { counts, pops } = ledger.read(HOUR_MS, null);
    expect(Object.keys(pops)).toHaveLength(101);
    expect(pops["(others)"]!.requests).toBe(300);
    expect(counts.requests).toBe(1300);
  });

  test("10,000 routes and their URLs leave 51 routes and 64 URLs, and no request is lost", () => {
    const { ledger } = ledgerAt();
    for (let deploy = 0; deploy < 100; deploy++) {
      const names = Array.from({ length: 100 }, (_, each) => `/route-${deploy * 100 + each}`);
      ledger.take(
        report({
          number: deploy + 1,
          routes: Object.fromEntries(names.map((name) => [name, { requests: 1 }])),
          top: {
            ...{ bytes: [], slowest: [], notStored: [] },
            missed: names.slice(0, 64).map((url) => ({ url, weight: 1, error: 0, times: 1 })),
          },
        }),
      );
    }
    const { routes, top } = ledger.read(HOUR_MS, null);
    expect(Object.keys(routes)).toHaveLength(51);
    expect(Object.values(routes).reduce<number>((sum, route) => sum + Number((route as CountTree).requests), 0)).toBe(
      10_000,
    );
    expect(top!.missed).toHaveLength(64);
  });

  test("a report that is too long, or of another version, is left out", () => {
    const { ledger } = ledgerAt();
    ledger.take(report({ isolate: "x".repeat(2 * 1024 * 1024) }));
    ledger.take(report({ form: 2 as 1 }));
    expect(ledger.read(HOUR_MS, null).counts).toEqual({});
  });

  test("a malformed report changes nothing", () => {
    const { ledger } = ledgerAt();
    expect(() => ledger.take("{")).toThrow(SyntaxError);
    expect(() => ledger.take(JSON.stringify({ form: REPORT_FORM }))).toThrow();
    expect(ledger.read(HOUR_MS, null)).toMatchObject({ counts: {}, isolates: { reported: 0 } });
  });

  test("names that objects have are counted like others", () => {
    const { ledger } = ledgerAt();
    const names = '{"__proto__":1,"constructor":2,"toString":3}';
    ledger.take(report({ counts: { answers: JSON.parse(names) as CountTree } }));
    ledger.take(report({ number: 2, counts: { answers: JSON.parse(names) as CountTree } }));
    expect(JSON.stringify(ledger.read(HOUR_MS, null).counts.answers)).toBe(
      '{"__proto__":2,"constructor":4,"toString":6}',
    );
  });
});
