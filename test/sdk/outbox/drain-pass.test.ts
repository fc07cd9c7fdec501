import { describe, expect, test } from "vitest";
import {
  afterBegin,
  afterClaim,
  afterRelease,
  afterSending,
  beginPass,
  type DrainPass,
  type DrainStep,
  nextStep,
  type SendResult,
} from "../../../sdk/outbox/drain-pass.ts";
import type { WaitingRow } from "../../../sdk/outbox/queued-purge.ts";

const DEADLINE_MS = 10_000;
const NOW = 1_000_000;
const LEASE = { now: 500, leaseId: "l", leaseEndsAt: NOW + 3 * DEADLINE_MS };

const row = (seq: number, ...tags: string[]): WaitingRow => ({
  seq,
  request: { id: `${seq}`, tags: tags.length > 0 ? tags : [`t${seq}`] },
  failures: 0,
  failureScope: null,
  dueAt: 0,
  leaseUntil: 0,
});
const NINE = Array.from({ length: 9 }, (_, index) => row(index + 1));
const rows = (count: number) => NINE.slice(0, count);
const handled = (sent = 0, ...failed: { dueInMs: number }[]) => ({ sent: Array(sent).fill({}), failed, dead: [] });
const claimed = (given: readonly WaitingRow[], ...counts: Parameters<typeof handled>) =>
  afterClaim(beginPass(handled(...counts)), { rows: given, nextAt: null }, LEASE);
const happened: SendResult = { kind: "happened" };
const failed: SendResult = { kind: "failed" };
const edgeFails: SendResult = { kind: "edge-fails" };
const broken = (error: unknown): SendResult => ({ kind: "broken", error });

/** After these rows were begun together, and have ended in their order. */
function afterAll(pass: DrainPass, rows: readonly WaitingRow[], results: readonly SendResult[]): DrainPass {
  return rows.reduce((each, row, index) => afterSending(each, row, results[index]!), afterBegin(pass, rows));
}

function stepOf(pass: DrainPass, { now = NOW, isClosing = false } = {}): unknown {
  const step: DrainStep = nextStep(pass, { now, deadlineMs: DEADLINE_MS, isClosing });
  return "rows" in step ? [step.kind, ...step.rows.map(({ seq }) => seq)] : step;
}

describe("a call of drain", () => {
  test.each([
    [0, { kind: "claim", limit: 50 }],
    [950, { kind: "claim", limit: 50 }],
    [951, { kind: "claim", limit: 49 }],
    [999, { kind: "claim", limit: 1 }],
    [1000, { kind: "end", nextDueInMs: 0 }],
    [1001, { kind: "end", nextDueInMs: 0 }],
  ])("that has handled %d rows and has none left continues with %o", (count, step) => {
    expect(stepOf(beginPass(handled(count)))).toEqual(step);
  });

  test.each([
    ["no row waits", null, null],
    ["a row waits", 700, 200],
    ["a row has fallen due meanwhile", 400, 0],
  ])("ends if %s and none is due", (_, nextAt, nextDueInMs) => {
    const pass = afterClaim(beginPass(handled(3)), { rows: [], nextAt }, LEASE);
    expect(stepOf(pass)).toEqual({ kind: "end", nextDueInMs });
  });

  test("sends at most eight rows side by side, and none beside an earlier one with an item in common", () => {
    expect(stepOf(claimed(rows(9)))).toEqual(["send", 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(stepOf(claimed([row(1, "a"), row(2, "a", "b"), row(3, "b"), row(4, "c")]))).toEqual(["send", 1, 4]);
  });

  test.each([
    ["covers a whole attempt", 2 * DEADLINE_MS, ["send", 1]],
    ["is a millisecond too short", 2 * DEADLINE_MS + 1, ["release", 1]],
    ["is over", 3 * DEADLINE_MS + 1, ["release", 1]],
  ])("with a lease that %s", (_, passedMs, step) => {
    expect(stepOf(claimed(rows(1)), { now: NOW + passedMs })).toEqual(step);
  });

  test("sends another row as soon as one has ended, and claims again after the last", () => {
    const eight = afterBegin(claimed(NINE), rows(8));
    expect(stepOf(eight)).toEqual({ kind: "wait" });
    const ended = afterSending(eight, NINE[4]!, happened);
    expect(stepOf(ended)).toEqual(["send", 9]);
    const last = afterBegin(ended, NINE.slice(8));
    const done = [...last.underWay.keys()].reduce((pass, row) => afterSending(pass, row, happened), last);
    expect(stepOf(done)).toEqual({ kind: "claim", limit: 50 });
  });

  test("sends no row beside one under way with an item in common, nor past one that waits for it", () => {
    const given = [row(1, "a"), row(2, "a", "b"), row(3, "b"), row(4, "c")];
    const pass = afterBegin(claimed(given), [given[0]!, given[3]!]);
    expect(stepOf(pass)).toEqual({ kind: "wait" });
    expect(stepOf(afterSending(pass, given[3]!, happened))).toEqual({ kind: "wait" });
    expect(stepOf(afterSending(pass, given[0]!, happened))).toEqual(["send", 2]);
  });

  test("gives back the rows behind one that failed, and sends the others", () => {
    const [first, second, third, fourth] = [row(1, "a"), row(2, "a", "b"), row(3, "b"), row(4, "c")];
    const pass = afterAll(claimed([first, second, third, fourth]), [first], [failed]);
    expect(stepOf(pass)).toEqual(["send", 4]);
    const last = afterAll(pass, [fourth], [happened]);
    expect(stepOf(last)).toEqual(["release", 2, 3]);
    expect(stepOf(afterRelease(last, null))).toEqual({ kind: "claim", limit: 50 });
  });

  test("holds nothing back under a new lease, for which the store chose the rows again", () => {
    const first = row(1, "a");
    const pass = afterAll(claimed([first]), [first], [failed]);
    expect(stepOf(afterClaim(pass, { rows: [row(2, "a")], nextAt: null }, LEASE))).toEqual(["send", 2]);
  });

  test.each([
    ["the first retry is due", [{ dueInMs: 900 }, { dueInMs: 700 }], 700],
    ["a second has passed, if all that failed were given up", [], 1_000],
  ])("stops when the edge fails for every purge, until %s", (_, failures, nextDueInMs) => {
    const pass = afterAll(claimed(rows(3), 0, ...failures), rows(2), [edgeFails, failed]);
    expect(stepOf(pass)).toEqual(["release", 3]);
    expect(stepOf(afterRelease(pass, null))).toEqual({ kind: "end", nextDueInMs });
  });

  test.each([[[edgeFails, happened]], [[happened, edgeFails]]])(
    "goes on if the edge has accepted another purge meanwhile: %o",
    (results) => {
      const pass = afterAll(claimed(rows(3)), rows(2), results);
      expect(stepOf(pass)).toEqual(["send", 3]);
    },
  );

  test("stops if the edge has accepted another purge only before the one that fails was begun", () => {
    const pass = afterAll(afterAll(claimed(rows(3)), rows(1), [happened]), [NINE[1]!], [edgeFails]);
    expect(stepOf(pass)).toEqual(["release", 3]);
  });

  test.each([
    ["the edge fails", edgeFails, {}],
    ["it is closed", happened, { isClosing: true }],
  ])("waits for its running sends when %s, and then gives back the rest", (_, result, how) => {
    const pass = afterSending(afterBegin(claimed(rows(3)), rows(2)), NINE[0]!, result);
    expect(stepOf(pass, how)).toEqual({ kind: "wait" });
    expect(stepOf(afterSending(pass, NINE[1]!, result), how)).toEqual(["release", 3]);
  });

  test("that is closed gives back its rows and ends; it claims no more", () => {
    const pass = claimed(rows(2));
    expect(stepOf(pass, { isClosing: true })).toEqual(["release", 1, 2]);
    expect(stepOf(afterRelease(pass, null), { isClosing: true })).toEqual({ kind: "end", nextDueInMs: null });
  });

  test("gives back its rows before it throws the first error", () => {
    const pass = afterAll(claimed(rows(4)), rows(3), [edgeFails, broken("first"), broken("second")]);
    expect(stepOf(pass)).toEqual(["release", 4]);
    expect(stepOf(afterRelease(pass, null))).toEqual({ kind: "throw", error: "first" });
    expect(stepOf(afterRelease(pass, { error: "third" }))).toEqual({ kind: "throw", error: "first" });
  });

  test("throws the error of giving back, even if it is undefined", () => {
    const pass = afterAll(claimed(rows(2)), rows(1), [edgeFails]);
    expect(stepOf(afterRelease(pass, { error: undefined }))).toEqual({ kind: "throw", error: undefined });
  });
});
