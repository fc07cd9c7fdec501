import { afterEach, describe, expect, test } from "vitest";
import type { Answer, ClientRequest } from "../../../worker/ports/answer.ts";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import { exchange, RawClient, statuses } from "../raw-client.ts";
import { type Answering, answer, startTestListener, streamed } from "./running-listener.ts";

const stops: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

const HINTS = { status: 103, fields: new Fields([["link", "</a.css>; rel=preload"]]) };

/** Informs the client while it waits, then answers. A hint at links is only for clients of HTTP/2. */
const informing: Answering = async ({ request, url }): Promise<Answer> => {
  await Promise.resolve();
  request.inform?.(HINTS);
  request.hint?.("</b.css>; rel=preload");
  request.inform?.({ status: 102, fields: new Fields([["content-length", "3"]]) });
  return answer(new URL(url).pathname);
};

async function start(answering: Answering, usesFastAnswers: boolean) {
  const running = await startTestListener(answering, { usesFastAnswers });
  stops.push(() => running.stop());
  return running;
}

const head = (path: string, version = "1.1", more = "") => `GET ${path} HTTP/${version}\r\nHost: a.test\r\n${more}\r\n`;
const LAST = "Connection: close\r\n";

describe.each([
  ["without Node's objects", true],
  ["with Node's objects", false],
])("interim responses over HTTP/1.1, %s", (_, isFast) => {
  test("they come before the answer, without what would frame a body", async () => {
    const { where } = await start(informing, isFast);
    const { received } = await exchange(where, head("/a", "1.1", LAST));
    const interims = "HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n";
    expect(received.startsWith(`${interims}HTTP/1.1 200 OK\r\n`)).toBe(true);
    expect(received.endsWith("\r\n\r\n/a")).toBe(true);
  });

  test("a client of HTTP/1.0 gets none", async () => {
    const { where } = await start(informing, isFast);
    const { received } = await exchange(where, head("/a", "1.0"));
    expect(statuses(received)).toEqual([200]);
  });

  test("several requests of one connection get their own, and those that wait behind others none", async () => {
    const { where } = await start(informing, isFast);
    const { received } = await exchange(where, head("/a") + head("/b", "1.1", LAST));
    const of = (path: string) => received.indexOf(`\r\n\r\n${path}`);
    expect(statuses(received.slice(0, of("/a") + 6))).toEqual([103, 102, 200]);
    expect(statuses(received).filter((status) => status === 200)).toHaveLength(2);
    expect(of("/b")).toBeGreaterThan(of("/a"));
  });

  test.each([
    ["that is whole", (path: string) => path, "/a"],
    ["in pieces", (path: string) => streamed([path]), "0\r\n\r\n"],
  ])("none comes after an answer %s", async (_, bodyOf, end) => {
    const asked: ClientRequest[] = [];
    const { where } = await start(async ({ request, url }) => {
      asked.push(request);
      return answer(bodyOf(new URL(url).pathname));
    }, isFast);
    const client = new RawClient(where);
    await client.send(head("/a"));
    await client.until((received) => received.endsWith(end));
    asked[0]!.inform?.(HINTS);
    await client.send(head("/b", "1.1", LAST));
    await client.closed;
    expect(statuses(client.received)).toEqual([200, 200]);
  });
});
