import { afterEach, expect, test, vi } from "vitest";
import { MadeAnswers } from "../../../server/http1/made-answers.ts";
import { answerForChild } from "../../../server/tiers/answer-for-child.ts";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import { answer } from "./running-listener.ts";

afterEach(() => vi.useRealTimers());

const plain = { isHead: false, knowsChunks: true, keepsAlive: true };

test("hits with the same fields are made once, and others each time", () => {
  const made = new MadeAnswers();
  const hit = answer("page");
  const first = made.make(hit, plain);
  expect(made.make({ ...hit }, plain)).toBe(first);
  for (const other of [
    made.make({ ...hit, isOnce: true }, plain),
    made.make(answer("page"), plain),
    made.make({ ...hit, body: Buffer.from("other") }, plain),
    made.make({ ...hit, status: 404 }, plain),
    made.make(hit, { ...plain, keepsAlive: false }),
    made.make(hit, { ...plain, isHead: true }),
  ]) {
    expect(other).not.toBe(first);
  }
  expect(made.make(hit, { ...plain, keepsAlive: false }).whole).toContain("connection: close");
  expect(made.make(hit, { ...plain, isHead: true }).whole).not.toContain("page");
});

test("an answer without a Date gets that of the time when it is sent", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const made = new MadeAnswers();
  const busy = { ...answer("busy", {}, 503), fields: new Fields() };
  for (const date of ["Tue, 01 Jan 2030 00:00:00 GMT", "Tue, 01 Jan 2030 00:00:01 GMT"]) {
    vi.setSystemTime(date);
    expect(made.make(busy, plain).whole).toContain(`date: ${date}`);
  }
});

test("what is remembered is bounded, however many pages are hit", () => {
  const made = new MadeAnswers();
  const first = answer("x".repeat(8_000));
  const made1 = made.make(first, plain);
  for (let at = 0; at < 5_000; at++) made.make(answer("x".repeat(8_000)), plain);
  expect(made.make(first, plain)).not.toBe(made1);
});

test("the body of a large page is not copied", () => {
  const page = answer("x".repeat(100_000));
  const [, body] = new MadeAnswers().make(page, plain).pieces;
  expect(body.buffer).toBe((page.body as Uint8Array).buffer);
});

test("a cache gets the origin's Strict-Transport-Security, which it passes on, and visitors get the server's", () => {
  const made = new MadeAnswers("max-age=600");
  const child = { after: "none", arrivedAt: 0, now: () => 0, hasSameRules: true, position: null };
  const limits = { hiddenFields: [], maxFieldBytes: 10_000 };
  const origins = "strict-transport-security: max-age=1";
  for (const [fields, line] of [
    [{}, null],
    [{ "strict-transport-security": "max-age=1" }, origins],
  ] as const) {
    const page = answer("page", fields);
    expect(made.make(page, plain).whole).toContain("strict-transport-security: max-age=600");
    const { whole } = made.make(answerForChild(page, { ...child, ...limits }), plain);
    expect(/^strict-transport-security: .*(?=\r)/im.exec(whole)?.[0] ?? null).toBe(line);
  }
});
