import { describe, expect, test } from "vitest";
import { LeaseBook } from "../../../worker/purges/settlement/lease-book.ts";

const LONGEST_MS = 1000;
const SKEW_MS = 250;
const REMEMBERED_MS = 3000;
/** Leases from before the start of the log have run out by this time. */
const NOW = 10_000;

const at = (seq: number, logId = "a") => ({ logId, seq });

describe("the book of leases (R25)", () => {
  test("a purge that nobody can miss settles when nobody serves a response of unknown purge state any more", () => {
    const book = new LeaseBook(0, REMEMBERED_MS);
    expect(book.watch(at(1), LONGEST_MS, SKEW_MS, NOW)).toMatchObject({ settlesAt: NOW + 300, notBefore: NOW + 300 });
  });

  test("a purge waits for a reader that is heard of no more, as long as that may serve what it has fetched", () => {
    const book = new LeaseBook(0, REMEMBERED_MS);
    book.grant("one", "a", 1000, NOW - REMEMBERED_MS - SKEW_MS + 1);
    const waits = { settlesAt: NOW + 1250, notBefore: NOW + 300 };
    expect(book.watch(at(1), LONGEST_MS, SKEW_MS, NOW)).toMatchObject(waits);
    expect(book.watch(at(2), LONGEST_MS, SKEW_MS, NOW + 1)).toMatchObject({ settlesAt: NOW + 301 });
  });

  test("a lease that outlasts that time counts until it has run out", () => {
    const book = new LeaseBook(0, REMEMBERED_MS);
    book.grant("one", "a", 8000, NOW - 8000 - SKEW_MS + 1);
    expect(book.watch(at(1), 8000, SKEW_MS, NOW).settlesAt).toBe(NOW + 8250);
    expect(book.watch(at(2), 8000, SKEW_MS, NOW + 1).settlesAt).toBe(NOW + 301);
  });

  test("a purge has settled earlier once every reader with a lease has confirmed it", () => {
    const book = new LeaseBook(0, REMEMBERED_MS);
    book.grant("one", "a", 1000, NOW);
    book.grant("two", "a", 1000, NOW);
    book.watch(at(1), LONGEST_MS, SKEW_MS, NOW);
    expect(book.confirm("one", at(1))).toEqual([]);
    expect(book.confirm("two", at(2))).toMatchObject([{ seq: 1, notBefore: NOW + 300 }]);
  });

  test("a reader that comes back confirms what it has missed", () => {
    const book = new LeaseBook(0, REMEMBERED_MS);
    book.grant("lapsed", "a", 1000, NOW - 2000);
    book.watch(at(1), LONGEST_MS, SKEW_MS, NOW);
    expect(book.confirm("lapsed", at(1))).toMatchObject([{ seq: 1 }]);
  });

  test("a lease that is granted after the purge holds nothing up, because its reply has the purge", () => {
    const book = new LeaseBook(0, REMEMBERED_MS);
    book.grant("one", "a", 1000, NOW);
    book.watch(at(1), LONGEST_MS, SKEW_MS, NOW);
    book.grant("one", "a", 1000, NOW + 800);
    book.grant("new", "a", 1000, NOW + 800);
    expect(book.confirm("new", at(1))).toEqual([]);
    expect(book.confirm("one", at(1))).toMatchObject([{ seq: 1 }]);
  });

  test("a reader that has given up its lease is not waited for, unless it has got one over another connection since", () => {
    const book = new LeaseBook(0, REMEMBERED_MS);
    const [one, two] = [{}, {}];
    book.grant("reader", "a", 1000, NOW, one);
    book.watch(at(1), LONGEST_MS, SKEW_MS, NOW);
    expect(book.release("reader", two)).toEqual([]);
    expect(book.release("reader", one)).toMatchObject([{ seq: 1 }]);
    book.grant("reader", "a", 1000, NOW, one);
    book.grant("reader", "a", 1000, NOW, two);
    book.watch(at(2), LONGEST_MS, SKEW_MS, NOW);
    expect(book.release("reader", one)).toEqual([]);
    expect(book.release("reader", two)).toMatchObject([{ seq: 2 }]);
  });

  test("readers whose leases ended long ago are forgotten, even if nobody purges", () => {
    const book = new LeaseBook(0, REMEMBERED_MS);
    for (let number = 0; number < 5000; number++) book.grant(`reader ${number}`, "a", 1000, NOW + number * 100);
    expect(book.readers).toBeLessThan(2500);
  });

  test("a log that has just started waits for the leases that it may have granted before", () => {
    const book = new LeaseBook(NOW - 400, REMEMBERED_MS);
    expect(book.watch(at(1), 2 * REMEMBERED_MS, SKEW_MS, NOW).notBefore).toBe(NOW - 400 + 2 * REMEMBERED_MS + 250);
    expect(book.watch(at(2), LONGEST_MS, SKEW_MS, NOW).notBefore).toBe(NOW - 400 + REMEMBERED_MS + 250);
  });

  test("a confirmation of another log's number counts for nothing", () => {
    const book = new LeaseBook(0, REMEMBERED_MS);
    book.grant("one", "a", 1000, NOW);
    book.watch(at(1), LONGEST_MS, SKEW_MS, NOW);
    expect(book.confirm("one", at(9, "b"))).toEqual([]);
    expect(book.confirm("one", at(1))).toMatchObject([{ seq: 1 }]);
  });

  test("a reader that has confirmed a higher number of another log confirms those of the new one", () => {
    const book = new LeaseBook(0, REMEMBERED_MS);
    book.grant("one", "a", 1000, NOW);
    book.watch(at(8), LONGEST_MS, SKEW_MS, NOW);
    expect(book.confirm("one", at(9))).toHaveLength(1);
    book.grant("one", "b", 1000, NOW);
    book.watch(at(1, "b"), LONGEST_MS, SKEW_MS, NOW);
    expect(book.confirm("one", at(1, "b"))).toMatchObject([{ seq: 1 }]);
  });

  test("of many purges at once, those that are not watched settle when the leases have run out", () => {
    const book = new LeaseBook(0, REMEMBERED_MS);
    book.grant("one", "a", 1000, NOW);
    for (let seq = 1; seq <= 65; seq++)
      expect(book.watch(at(seq), LONGEST_MS, SKEW_MS, NOW).settlesAt).toBe(NOW + 1250);
    expect(book.confirm("one", at(65))).toHaveLength(64);
  });
});
