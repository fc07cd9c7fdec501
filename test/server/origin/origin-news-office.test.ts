import { expect, test } from "vitest";
import {
  ASKS_FOR_ORIGIN_NEWS,
  type OriginMessage,
  OriginNewsOffice,
} from "../../../server/origin/origin-news-office.ts";

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
  const office = new OriginNewsOffice();
  const [one, slow] = [office.connect(), office.connect()];
  const set = (cookie: string): OriginMessage => {
    return { kind: "session-set", origin: "shop", session: { cookie, replaces: null, clientAddress: "::1", at: 1 } };
  };
  for (const sent of [set("a=1"), message("shop", 1), set("b=2"), message("shop", 2)]) one.tell(sent);
  expect(await slow.ask(ASKS_FOR_ORIGIN_NEWS)).toEqual([set("a=1"), set("b=2"), message("shop", 2)]);
});
