import { describe, expect, test } from "vitest";
import { chooseClaims, NO_CLAIMS, nextToSend, obtainedClaims } from "../../../sdk/outbox/claims.ts";
import type { WaitingRow } from "../../../sdk/outbox/queued-purge.ts";

const NOW = 1_000_000;
/** The latest instant that a row could wait for. */
const LATEST = NOW + 1_000;

function row(seq: number, tags: string, more: Partial<WaitingRow> = {}): WaitingRow {
  const request = { id: `p${seq}`, tags: tags.split(" ") };
  return { seq, request, failures: 0, failureScope: null, dueAt: 0, leaseUntil: 0, ...more };
}

/** Rows that some edges have accepted. */
function half(from: number, to: number): WaitingRow[] {
  return Array.from({ length: to - from + 1 }, (_, at) => row(from + at, "x", { failureScope: "some-edges" }));
}

const seqs = (rows: readonly WaitingRow[]) => rows.map(({ seq }) => seq);

describe("the rows to claim", () => {
  const CASES: {
    name: string;
    rows: WaitingRow[];
    limit?: number;
    latestAt?: number;
    chosen: number[];
    nextAt: number | null;
  }[] = [
    { name: "no rows", rows: [], chosen: [], nextAt: null },
    { name: "due rows, even with the same tag", rows: [row(1, "a"), row(2, "a")], chosen: [1, 2], nextAt: null },
    { name: "a row that is due now", rows: [row(1, "a", { dueAt: NOW })], chosen: [1], nextAt: null },
    { name: "no row that is due later", rows: [row(1, "a", { dueAt: NOW + 1 })], chosen: [], nextAt: NOW + 1 },
    { name: "a row whose lease ends now", rows: [row(1, "a", { leaseUntil: NOW })], chosen: [1], nextAt: null },
    { name: "no leased row", rows: [row(1, "a", { leaseUntil: NOW + 1 })], chosen: [], nextAt: NOW + 1 },
    {
      name: "a row that another process leases: it may end, or give it back, long before the end of the lease",
      rows: [row(1, "a", { leaseUntil: NOW + 30_000 }), row(2, "b", { dueAt: NOW + 5_000 }), row(3, "a")],
      latestAt: NOW + 60_000,
      chosen: [],
      nextAt: NOW + 1_000,
    },
    {
      name: "rows that wait for an instant that no right clock would have written",
      rows: [row(1, "a", { dueAt: LATEST + 1 }), row(2, "b", { leaseUntil: LATEST + 1 }), row(3, "a b")],
      chosen: [1, 2, 3],
      nextAt: null,
    },
    {
      name: "no rows that wait for the latest instant, and none that is leased rightly although it was due wrongly",
      rows: [
        row(1, "a", { dueAt: LATEST, leaseUntil: LATEST }),
        row(2, "b", { dueAt: LATEST + 1, leaseUntil: NOW + 9 }),
        row(3, "c", { dueAt: NOW + 10, leaseUntil: LATEST + 1 }),
      ],
      chosen: [],
      nextAt: NOW + 9,
    },
    {
      name: "a leased row that is due later still",
      rows: [row(1, "a", { leaseUntil: NOW + 1, dueAt: NOW + 9 })],
      chosen: [],
      nextAt: NOW + 9,
    },
    {
      name: "rows of other tags, but none behind a waiting row",
      rows: [row(1, "a", { dueAt: NOW + 5 }), row(2, "a"), row(3, "b")],
      chosen: [3],
      nextAt: NOW + 5,
    },
    {
      name: "no row behind a row behind a row that waits",
      rows: [row(1, "a", { dueAt: NOW + 5 }), row(2, "a b"), row(3, "b c"), row(4, "c"), row(5, "d")],
      chosen: [5],
      nextAt: NOW + 5,
    },
    {
      name: "a row before one that waits",
      rows: [row(1, "a"), row(2, "a", { dueAt: NOW + 5 }), row(3, "a")],
      chosen: [1],
      nextAt: NOW + 5,
    },
    {
      name: "the earliest due time, but not that of a row behind another",
      rows: [row(1, "a", { dueAt: NOW + 9 }), row(2, "a", { dueAt: NOW + 1 }), row(3, "b", { dueAt: NOW + 7 })],
      chosen: [],
      nextAt: NOW + 7,
    },
    {
      name: "rows behind one that some edges have accepted, and such a row behind others",
      rows: [
        row(1, "a", { dueAt: NOW + 5, failureScope: "some-edges" }),
        row(2, "a"),
        row(3, "b", { dueAt: NOW + 9 }),
        row(4, "b", { failureScope: "some-edges" }),
      ],
      chosen: [2, 4],
      nextAt: NOW + 5,
    },
    {
      name: "rows that some edges have accepted last, and only as many as are sent side by side",
      rows: [...half(1, 10), row(11, "a"), row(12, "b")],
      chosen: [11, 12, 1, 2, 3, 4, 5, 6, 7, 8],
      nextAt: null,
    },
    {
      name: "others instead of these, up to the limit",
      rows: [...half(1, 3), row(4, "a"), ...half(5, 6), row(7, "b"), row(8, "c")],
      limit: 4,
      chosen: [4, 7, 8, 1],
      nextAt: null,
    },
    {
      name: "as many as the limit",
      rows: [row(1, "a"), row(2, "b"), row(3, "c")],
      limit: 2,
      chosen: [1, 2],
      nextAt: null,
    },
  ];

  test.each(CASES)("$name", ({ rows, limit = 50, latestAt = LATEST, chosen, nextAt }) => {
    const terms = { now: NOW, latestAt, limit };
    const claims = chooseClaims(rows, terms);
    expect([seqs(claims.rows), claims.nextAt]).toEqual([chosen, nextAt]);
    const pageByPage = rows.reduce((before, each) => chooseClaims([each], terms, before), NO_CLAIMS);
    expect([seqs(pageByPage.rows), pageByPage.nextAt]).toEqual([chosen, nextAt]);
  });

  test("A URL, a prefix and a host keep their order like a tag, and are not confused with one", () => {
    const requests = [
      { urls: ["x"] },
      { prefixes: ["x"] },
      { hosts: ["x"] },
      { tags: ["x"] },
      { everything: true },
    ] as const;
    const terms = { now: NOW, latestAt: LATEST, limit: 50 };
    for (const items of requests) {
      const waiting = { ...row(1, "a", { dueAt: NOW + 1 }), request: { id: "1", ...items } };
      const behind = requests.map((others, index) => ({ ...row(2 + index, "a"), request: { id: "2", ...others } }));
      const chosen = chooseClaims([waiting, ...behind], terms).rows.map(({ seq }) => requests[seq - 2]);
      expect(chosen).toEqual(requests.filter((others) => others !== items));
    }
  });
});

test("Rows that another process leased first are left out, with those behind them, and looked at again soon", () => {
  const rows = [row(1, "a"), row(2, "a b"), row(3, "b"), row(4, "c")];
  const terms = { now: NOW, latestAt: NOW + 60_000, limit: 4 };
  const obtained = (nextAt: number | null, ...got: number[]) => {
    const claims = obtainedClaims({ ...NO_CLAIMS, rows, nextAt }, new Set(got), terms);
    return [seqs(claims.rows), claims.nextAt];
  };
  expect(obtained(null, 1, 2, 3, 4)).toEqual([[1, 2, 3, 4], null]);
  expect(obtained(NOW + 5_000, 1, 2, 3, 4)).toEqual([[1, 2, 3, 4], NOW + 5_000]);
  expect(obtained(null, 2, 3, 4)).toEqual([[4], NOW + 1_000]);
  expect(obtained(NOW + 5_000, 1, 3, 4)).toEqual([[1, 4], NOW + 1_000]);
  expect(obtained(NOW + 5)).toEqual([[], NOW + 5]);
});

describe("the rows to send side by side", () => {
  test.each([
    { rows: [row(1, "a"), row(2, "b"), row(3, "c")], held: [], limit: 2, wave: [1, 2] },
    { rows: [row(1, "a"), row(2, "a"), row(3, "b")], held: [], limit: 8, wave: [1, 3] },
    { rows: [row(1, "a"), row(2, "a b"), row(3, "b")], held: [], limit: 8, wave: [1] },
    { rows: [row(1, "a"), row(2, "b")], held: ["tag a"], limit: 8, wave: [2] },
    { rows: [row(1, "a b"), row(2, "b")], held: ["tag a"], limit: 8, wave: [] },
  ])("are $wave", ({ rows, held, limit, wave }) => {
    expect(seqs(nextToSend(rows, new Set(held), limit))).toEqual(wave);
  });
});
