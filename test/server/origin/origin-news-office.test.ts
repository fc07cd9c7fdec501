import { expect, test } from "vitest";
import {
  ASKS_FOR_ORIGIN_NEWS,
  type OriginMessage,
  OriginNewsOffice,
} from "../../../server/origin/origin-news-office.ts";
import { OriginTalks } from "../../../server/origin/origin-talks.ts";
import { OriginGate } from "../../../worker/flow/origin/origin-gate.ts";
import { chances } from "../../engine/chances.ts";
import { ManualClock } from "../../engine/memory/manual-clock.ts";
import { settle } from "../cache-lock/machine-under-test.ts";

function message(origin: string, at: number): OriginMessage {
  return { kind: "origin-news", origin, news: { failed: [], at, askedAt: at } };
}

test("for a worker that does not ask, the latest news of each other worker and origin are kept, and no more", async () => {
  const office = new OriginNewsOffice();
  const [one, other, slow] = [office.connect(), office.connect(), office.connect()];
  for (let at = 0; at < 100; at++) {
    one.tell(message("shop", at));
    one.tell(message("blog", at));
    other.tell(message("shop", at));
  }
  expect(await slow.ask(ASKS_FOR_ORIGIN_NEWS)).toEqual([message("shop", 99), message("blog", 99), message("shop", 99)]);
  const next = slow.ask(ASKS_FOR_ORIGIN_NEWS);
  other.tell(message("shop", 100));
  expect(await next).toEqual([message("shop", 100)]);
});

test("what a worker tells goes to the others, to none that has ended, and not back to it", async () => {
  const office = new OriginNewsOffice();
  const [one, other, ended] = [office.connect(), office.connect(), office.connect()];
  const heard = { byOne: one.ask(ASKS_FOR_ORIGIN_NEWS), byOther: other.ask(ASKS_FOR_ORIGIN_NEWS) };
  ended.close();
  one.tell(message("shop", 1));
  expect(await heard.byOther).toEqual([message("shop", 1)]);
  other.tell(message("shop", 2));
  expect(await heard.byOne).toEqual([message("shop", 2)]);
});

test("all sessions that the origin has set are passed on, in their order, beside the latest news", async () => {
  const office = new OriginNewsOffice(() => 1);
  const [one, slow] = [office.connect(), office.connect()];
  const set = (mark: number): OriginMessage => {
    return { kind: "session-set", origin: "shop", session: { mark, replaces: null, network: 1, at: 1 } };
  };
  for (const sent of [set(1), message("shop", 1), set(2), message("shop", 2)]) one.tell(sent);
  expect(await slow.ask(ASKS_FOR_ORIGIN_NEWS)).toEqual([set(1), set(2), message("shop", 2)]);
});

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const CAPACITY = { concurrency: 1, ofRoutes: new Map(), streams: null, queue: { maxMs: 5000, maxWaiting: 1 } };
const visitor = (number: number) => ({
  address: `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`,
  cookieField: `sid=${String(number).padStart(16, "0")}`,
  isRefresh: false,
  hasReceipt: false,
});

/** The queue of a worker that has just started. */
async function startGate(office: OriginNewsOffice, clock: ManualClock, seed: number): Promise<OriginGate> {
  const originTalk = new OriginTalks(office.connect(), office.secret).of("shop");
  const gate = new OriginGate(CAPACITY, { clock, random: chances(seed), originTalk });
  await settle();
  return gate;
}

function logIn(gate: OriginGate, number: number): void {
  const { cookieField, ...client } = visitor(number);
  gate.noteSessions([`${cookieField}; Path=/`], { ...client, cookieField: null });
}

test("a visitor stays known to the workers that start after a login, also to those of a successor", async () => {
  const clock = new ManualClock(1e12);
  const office = new OriginNewsOffice(() => clock.now());
  logIn(await startGate(office, clock, 1), 1);
  await clock.advance(10 * MINUTE);
  const next = await startGate(office, clock, 2);
  expect([1, 2].map((each) => next.standingOf(visitor(each)).client)).toEqual(["known", "other"]);
  const successor = new OriginNewsOffice(() => clock.now());
  successor.takeOver(JSON.parse(JSON.stringify(office.sessions)));
  const last = await startGate(successor, clock, 3);
  expect([1, 2].map((each) => last.standingOf(visitor(each)).client)).toEqual(["known", "other"]);
});

test("a cookie that everybody gets makes nobody known to a worker that starts", async () => {
  const clock = new ManualClock(1e12);
  const office = new OriginNewsOffice(() => clock.now());
  const gate = await startGate(office, clock, 1);
  for (const address of ["192.0.2.7", "192.0.2.8", "192.0.2.9"])
    gate.noteSessions([visitor(1).cookieField], { ...visitor(1), cookieField: null, address });
  expect(office.sessions.messages).toHaveLength(2);
  await clock.advance(10 * MINUTE);
  expect((await startGate(office, clock, 2)).standingOf(visitor(1)).client).toBe("other");
});

test("sessions are kept for a day, and no more than 16,384 of an origin, without cookies and addresses", async () => {
  const clock = new ManualClock(1e12);
  const office = new OriginNewsOffice(() => clock.now());
  const gate = await startGate(office, clock, 1);
  logIn(gate, 1);
  await clock.advance(DAY - 1);
  logIn(gate, 2);
  expect(office.sessions.messages).toHaveLength(2);
  expect(JSON.stringify(office.sessions)).not.toMatch(/sid|10\.0\.0/);
  await clock.advance(1);
  for (let each = 3; each < 20_000; each++) logIn(gate, each);
  expect(office.sessions.messages).toHaveLength(16_384);
  await clock.advance(10 * MINUTE);
  const next = await startGate(office, clock, 2);
  expect([3, 19_999].map((each) => next.standingOf(visitor(each)).client)).toEqual(["other", "known"]);
});
