import { describe, expect, test } from "vitest";
import { KnownSessions, sessionsSetBy } from "../../worker/flow/origin/known-sessions.ts";
import { RecentCounts } from "../../worker/flow/origin/recent-counts.ts";

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const value = (of: number | string) => `sid=${String(of).padStart(16, "0")}`;
const sessions = () => new KnownSessions("secret", new RecentCounts("secret"));
const setFor = (of: number | string, clientAddress = "192.0.2.7", at = 0, replaces: string | null = null) => ({
  cookie: value(of),
  replaces,
  clientAddress,
  at,
});

const note = (known: KnownSessions, set: ReturnType<typeof setFor>) => known.note(known.hashed(set));

describe("a known session", () => {
  test("is one that the origin has set, among other cookies", () => {
    const known = sessions();
    note(known, setFor("a"));
    expect(known.find(`theme=dark; ${value("a")}; x=1`, MINUTE)?.setAt).toBe(0);
    expect(known.find(value("b"), MINUTE)).toBeNull();
    expect(known.find(null, MINUTE)).toBeNull();
  });

  test("is known for a day after its last use, and for at most two days", () => {
    const known = sessions();
    note(known, setFor("a", "192.0.2.7", DAY));
    expect(known.find(value("a"), 2 * DAY - 1)).not.toBeNull();
    expect(known.find(value("a"), 3 * DAY - 2)).not.toBeNull();
    note(known, setFor("b", "192.0.2.7", 4 * DAY - 3));
    note(known, setFor("c", "192.0.2.7", 5 * DAY - 2));
    expect(known.find(value("a"), 5 * DAY - 2)).toBeNull();
    expect(known.find(value("b"), 5 * DAY - 2)).not.toBeNull();
  });

  test("does not count if the origin sets the same value for two networks", () => {
    const known = sessions();
    note(known, setFor("a"));
    note(known, setFor("a", "192.0.2.7", 1));
    expect(known.find(value("a"), MINUTE)?.setAt).toBe(0);
    note(known, setFor("a", "192.0.2.8", 2));
    expect(known.find(value("a"), MINUTE)).toBeNull();
  });

  test("continues under a new cookie, with its age and name", () => {
    const known = sessions();
    note(known, setFor("a"));
    note(known, setFor("b", "192.0.2.8", MINUTE, value("a")));
    const [first, second] = [known.find(value("a"), MINUTE), known.find(value("b"), MINUTE)];
    expect(second?.setAt).toBe(0);
    expect(second?.name).toBe(first!.name);
  });

  test("is not made by a cookie that replaces an invented one", () => {
    const known = sessions();
    note(known, setFor("b", "192.0.2.8", MINUTE, value("a")));
    expect(known.find(value("b"), MINUTE)?.setAt).toBe(MINUTE);
  });

  test("is one of at most four new ones for a network", () => {
    const known = sessions();
    const set = (count: number, address: string, at: number) => {
      for (let each = 0; each < count; each++) note(known, setFor(`${at}-${each}`, address, at));
      return Array.from({ length: count }, (_, each) => known.find(value(`${at}-${each}`), at)).filter(Boolean).length;
    };
    expect(set(9, "192.0.2.7", 1)).toBe(4);
    expect(set(9, "192.0.2.8", 2)).toBe(4);
    expect(set(9, "192.0.2.7", DAY)).toBe(4);
  });

  test("that was used after ten minutes is not displaced by 100,000 new ones", () => {
    const known = sessions();
    note(known, setFor("old"));
    known.find(value("old"), 10 * MINUTE);
    note(known, setFor("new", "192.0.2.7", 10 * MINUTE));
    for (let each = 0; each < 100_000; each++) {
      note(known, setFor(each, `10.${each >> 16}.${(each >> 8) & 255}.${each & 255}`, 11 * MINUTE));
    }
    expect(known.find(value("old"), 12 * MINUTE)).not.toBeNull();
    expect(known.find(value("new"), 12 * MINUTE)).toBeNull();
  });

  test("is none of 100,000 invented ones", () => {
    const known = sessions();
    for (let each = 0; each < 30_000; each++) note(known, setFor(each, `10.0.${(each >> 8) & 255}.${each & 255}`));
    let found = 0;
    for (let each = 0; each < 100_000; each++) if (known.find(value(1e9 + each), 1)) found++;
    expect(found).toBe(0);
  });
});

test.each<[string, string[], string | null, { cookie: string; replaces: string | null }[]]>([
  ["a value that nobody guesses", [`${value(1)}; Path=/`], null, [{ cookie: value(1), replaces: null }]],
  ["not a short one", ["lang=en; Path=/", "sid=123456789012345"], null, []],
  ["not one that ends", ["sid=; Max-Age=0"], null, []],
  ["not one that the request had", [value(1)], `a=b; ${value(1)}`, []],
  ["with the one that it replaces", [value(2)], `a=b; ${value(1)}`, [{ cookie: value(2), replaces: value(1) }]],
  ["that has its own name", [value(2)], `other=${"0".repeat(16)}`, [{ cookie: value(2), replaces: null }]],
  [
    "several",
    [value(1), `b=${"x".repeat(16)}`],
    null,
    [
      { cookie: value(1), replaces: null },
      { cookie: `b=${"x".repeat(16)}`, replaces: null },
    ],
  ],
  ["one for each line", [`${value(1)},b=${"x".repeat(16)}`], null, [{ cookie: value(1), replaces: null }]],
  [
    "with the first of several that it replaces",
    [value(3)],
    `${value(1)}; ${value(2)}`,
    [{ cookie: value(3), replaces: value(1) }],
  ],
  ["not what has no name", [`=${"0".repeat(16)}`, "0".repeat(20)], null, []],
])("an answer sets as a session: %s", (_, setCookie, cookieField, expected) => {
  const common = { clientAddress: "192.0.2.7", at: 5 };
  expect(sessionsSetBy(setCookie, { cookieField, ...common })).toEqual(
    expected.map((each) => ({ ...each, ...common })),
  );
});

test("30,000 cookies of a request are not compared with each of 30,000 that its answer sets", () => {
  const cookies = (of: string) => Array.from({ length: 30_000 }, (_, at) => `${at}=${of.repeat(16)}`);
  const [had, given] = [cookies("a"), cookies("b")];
  const set = sessionsSetBy([...had, ...given], { cookieField: had.join("; "), clientAddress: "192.0.2.7", at: 5 });
  expect(set.map(({ cookie }) => cookie)).toEqual(given);
  expect(set.map(({ replaces }) => replaces)).toEqual(had);
});
