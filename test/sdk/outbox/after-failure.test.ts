import { describe, expect, test } from "vitest";
import {
  PurgeConflict,
  PurgeError,
  PurgeForbidden,
  PurgeRateLimited,
  PurgeRejected,
  PurgeTimeout,
  PurgeUnauthorized,
  PurgeUnreachable,
} from "../../../sdk/index.ts";
import { afterFailure, backOffMs, failureScope } from "../../../sdk/outbox/after-failure.ts";

const NOW = 1_000_000;
const at = (failures: number, random = 0) => ({ failures, maxAttempts: 3, now: NOW, random });

const rejected = (code: "invalid" | "too-large" | "unsupported-media-type") =>
  new PurgeRejected("m", { code, status: 400, attempts: 1, errors: [] });
const unreachable = new PurgeUnreachable("m", { code: "unreachable", retryable: true, attempts: 5 });
const blocked = (status: number) =>
  new PurgeUnreachable("m", { code: "unexpected-answer", status, retryable: false, attempts: 1 });
const incomplete = (...errors: PurgeError[]) =>
  Object.assign(new PurgeError("m", errors[0]!), { receipts: [], failures: errors.map((error) => ({ error })) });
const accepted = (...errors: PurgeError[]) => Object.assign(incomplete(...errors), { receipts: [{ seq: 1 }] });

const PURGE = { tags: ["a"] };
const REFRESH = { urls: ["/"], refresh: true };

describe("after a failure", () => {
  test.each([
    ["invalid", rejected("invalid")],
    ["too-large", rejected("too-large")],
    ["unsupported-media-type", rejected("unsupported-media-type")],
    ["conflict", new PurgeConflict("m", { attempts: 1 })],
    ["a refusal by every edge", incomplete(rejected("invalid"), new PurgeConflict("m", { attempts: 1 }))],
    ["a refusal, told by the class of another copy of the package", { code: "invalid", retryable: false }],
  ])("%s is given up at once", (_, error) => {
    expect(afterFailure(error, at(1))).toEqual({ kind: "dead", because: "refused" });
    expect(failureScope(error, PURGE)).toBe("purge");
  });

  test.each([
    ["a failed connection", unreachable],
    ["a deadline", new PurgeTimeout("m", { attempts: 1 })],
    ["a 429", new PurgeRateLimited("m", { attempts: 1 })],
    ["a wrong token", new PurgeUnauthorized("m", { attempts: 1 })],
    ["a missing scope", new PurgeForbidden("m", { attempts: 1 })],
    ["no settings", new PurgeError("m", { code: "not-configured", retryable: false, attempts: 0 })],
    ["a failed connection to one edge, and a refusal by the others", incomplete(rejected("invalid"), unreachable)],
  ])("%s is tried again, and concerns every purge", (_, error) => {
    expect(afterFailure(error, at(1))).toEqual({ kind: "retry", dueAt: NOW + 500 });
    expect(failureScope(error, PURGE)).toBe("edge");
  });

  test.each([
    new Error("m"),
    new TypeError("fetch failed"),
    Object.assign(new Error("m"), { code: "invalid" }),
    "m",
    null,
  ])("%s is tried again, and concerns only one purge", (error) => {
    expect(afterFailure(error, at(1))).toEqual({ kind: "retry", dueAt: NOW + 500 });
    expect(failureScope(error, PURGE)).toBe("purge");
  });

  test.each([
    ["a purge that another edge has accepted is that of some edges", accepted(unreachable), PURGE, "some-edges"],
    ["the same with refresh", accepted(new PurgeTimeout("m", { attempts: 1 })), REFRESH, "some-edges"],
    ["a deadline with refresh is that of the pages", new PurgeTimeout("m", { attempts: 1 }), REFRESH, "refresh"],
    ["a purge with refresh that was never sent is its own", new PurgeTimeout("m", { attempts: 0 }), REFRESH, "purge"],
    ["another failure with refresh is the edge's", unreachable, REFRESH, "edge"],
    ["a purge that a firewall blocks is its own", blocked(403), PURGE, "blocked"],
    ["a wrong address is the edge's", blocked(404), PURGE, "edge"],
  ])("the failure of %s", (_, error, request, scope) => {
    expect(afterFailure(error, at(1))).toEqual({ kind: "retry", dueAt: NOW + 500 });
    expect(failureScope(error, request)).toBe(scope);
  });

  test("the last attempt is the last", () => {
    expect(afterFailure(unreachable, at(2)).kind).toBe("retry");
    expect(afterFailure(unreachable, at(3))).toEqual({ kind: "dead", because: "attempts" });
    expect(afterFailure(unreachable, at(4))).toEqual({ kind: "dead", because: "attempts" });
  });

  test("a Retry-After longer than the pause is kept", () => {
    const limited = (retryAfterMs: number) => new PurgeRateLimited("m", { attempts: 1, retryAfterMs });
    expect(afterFailure(limited(60_000), at(1))).toEqual({ kind: "retry", dueAt: NOW + 60_000 });
    expect(afterFailure(limited(10), at(1))).toEqual({ kind: "retry", dueAt: NOW + 500 });
  });

  test("a Retry-After longer than a minute is a minute", () => {
    const unavailable = (retryAfterMs: number) =>
      new PurgeUnreachable("m", { code: "unavailable", retryable: true, attempts: 1, retryAfterMs });
    expect(afterFailure(unavailable(60_000), at(1))).toEqual({ kind: "retry", dueAt: NOW + 60_000 });
    expect(afterFailure(unavailable(1_800_000), at(1))).toEqual({ kind: "retry", dueAt: NOW + 60_000 });
  });
});

test("Pauses double from a second to a minute, and half of each is random", () => {
  expect([1, 2, 3, 6, 7, 20, 2_000].map((failures) => backOffMs(failures, 0))).toEqual([
    500, 1_000, 2_000, 16_000, 30_000, 30_000, 30_000,
  ]);
  expect([1, 2, 7].map((failures) => backOffMs(failures, 0.999_999_9))).toEqual([1_000, 2_000, 60_000]);
  const all = Array.from({ length: 499 }, (_, index) => index + 1);
  const hours = (random: number) => all.reduce((sum, failures) => sum + backOffMs(failures, random), 0) / 3_600_000;
  expect([Math.floor(hours(0)), Math.floor(hours(1))]).toEqual([4, 8]);
});
