import { describe, expect, test } from "vitest";
import { LeaseBook } from "../../../worker/purges/log/lease-book.ts";

const times = { skewMs: 250, longestLeaseMs: 1000 };
/** So long after the start of the log that earlier leases have run out. */
const NOW = 10_000;

const at = (seq: number, logId = "a") => ({ logId, seq });

describe("the book of leases (R25)", () => {
  test("a purge that nobody can miss settles when nobody serves a response of unknown purge state any more", () => {
    const book = new LeaseBook(0);
    expect(book.watch(at(1), times, NOW)).toEqual({ settlesAt: NOW + 300, notBefore: NOW + 300 });
  });

  test("a purge has settled when the last lease that was alive has run out", () => {
    const book = new LeaseBook(0);
    book.grant("one", "a", 1000, NOW - 900);
    book.grant("two", "a", 1000, NOW - 300);
    expect(book.watch(at(1), times, NOW).settlesAt).toBe(NOW + 700 + 250);
  });

  test("a purge has settled earlier once every reader with a lease has confirmed it", () => {
    const book = new LeaseBook(0);
    book.grant("one", "a", 1000, NOW);
    book.grant("two", "a", 1000, NOW);
    book.watch(at(1), times, NOW);
    expect(book.confirm("one", at(1))).toEqual([]);
    expect(book.confirm("one", at(1))).toEqual([]);
    expect(book.settlesAt(1)).toBe(NOW + 1250);
    expect(book.confirm("two", at(2))).toMatchObject([{ seq: 1, notBefore: NOW + 300 }]);
  });

  test("a reader that has died is waited for until its lease has run out, and others need not confirm again", () => {
    const book = new LeaseBook(0);
    book.grant("dead", "a", 1000, NOW - 500);
    book.grant("alive", "a", 1000, NOW);
    book.watch(at(1), times, NOW);
    book.confirm("alive", at(1));
    expect(book.settlesAt(1)).toBe(NOW + 500 + 250);
  });

  test("a lease that is granted after the purge holds nothing up, because its reply has the purge", () => {
    const book = new LeaseBook(0);
    book.grant("one", "a", 1000, NOW);
    book.watch(at(1), times, NOW);
    book.grant("one", "a", 1000, NOW + 800);
    book.grant("new", "a", 1000, NOW + 800);
    expect(book.settlesAt(1)).toBe(NOW + 1250);
  });

  test("a reader that has given up its lease is not waited for, unless it has got one over another connection since", () => {
    const book = new LeaseBook(0);
    const [one, two] = [{}, {}];
    book.grant("reader", "a", 1000, NOW, one);
    book.watch(at(1), times, NOW);
    expect(book.release("reader", two)).toEqual([]);
    expect(book.release("reader", one)).toMatchObject([{ seq: 1 }]);
    book.grant("reader", "a", 1000, NOW, one);
    book.grant("reader", "a", 1000, NOW, two);
    book.watch(at(2), times, NOW);
    expect(book.release("reader", one)).toEqual([]);
    expect(book.settlesAt(2)).toBe(NOW + 1250);
  });

  test("readers whose leases ended long ago are forgotten, even if nobody purges", () => {
    const book = new LeaseBook(0);
    for (let number = 0; number < 5000; number++) book.grant(`reader ${number}`, "a", 1000, NOW + number * 100);
    expect(book.readers).toBeLessThan(2500);
  });

  test("a log that has just started waits for the leases that it may have granted before", () => {
    const book = new LeaseBook(NOW - 400);
    expect(book.watch(at(1), times, NOW).notBefore).toBe(NOW + 600 + 250);
  });

  test("a confirmation of another log's number counts for nothing", () => {
    const book = new LeaseBook(0);
    book.grant("one", "a", 1000, NOW);
    book.watch(at(1), times, NOW);
    expect(book.confirm("one", at(9, "b"))).toEqual([]);
    expect(book.settlesAt(1)).toBe(NOW + 1250);
  });

  test("a reader that has confirmed a higher number of another log confirms those of the new one", () => {
    const book = new LeaseBook(0);
    book.grant("one", "a", 1000, NOW);
    book.watch(at(8), times, NOW);
    expect(book.confirm("one", at(9))).toHaveLength(1);
    book.grant("one", "b", 1000, NOW);
    book.watch(at(1, "b"), times, NOW);
    expect(book.confirm("one", at(1, "b"))).toMatchObject([{ seq: 1 }]);
  });

  test("of many purges at once, those that are not watched settle when the leases have run out", () => {
    const book = new LeaseBook(0);
    book.grant("one", "a", 1000, NOW);
    for (let seq = 1; seq <= 65; seq++) expect(book.watch(at(seq), times, NOW).settlesAt).toBe(NOW + 1250);
    expect(book.settlesAt(64)).toBe(NOW + 1250);
    expect(book.settlesAt(65)).toBeNull();
    expect(book.confirm("one", at(65))).toHaveLength(64);
  });
});
