import { seededRandom } from "../../demo/data/seeded-random.ts";
import { memoryBodies } from "../../test/engine/memory/memory-bodies.ts";
import { startIsolate } from "../../worker/isolate.ts";
import { Counters } from "../../worker/metrics/counters.ts";
import { Fields } from "../../worker/rules/fields/fields.ts";
import type { Stored } from "../../worker/rules/storing/stored-response.ts";
import { compileSite } from "../../worker/site/site.ts";
import { DiscreteEventClock } from "./discrete-event-clock.ts";
import { PushingLog } from "./pushing-log.ts";

const ISOLATES = 4;
const PAGES = 100;
const REQUESTS_PER_SECOND = 1000;
const ORIGIN_MS = 84;
const LOG_MS = 84;
const CACHE_API_MS = 3;
const BEGINS_AT_MS = 10_000;

/** How many requests a PoP sends to the origin while its log cannot be reached for so long. Its pages are all stored. */
export async function fetchesInLogOutage(outageMs: number, push: boolean): Promise<number> {
  const clock = new DiscreteEventClock();
  const random = seededRandom(1).next;
  const log = new PushingLog(clock, random);
  const isSilent = () => clock.now() >= BEGINS_AT_MS && clock.now() < BEGINS_AT_MS + outageMs;
  let fetches = 0;
  const stored = new Map<string, Stored>();
  const notes = new Map<string, Uint8Array>();
  const slowly = async <T>(work: () => T): Promise<T> => {
    await clock.wait(CACHE_API_MS).over;
    return work();
  };
  const site = compileSite({ origin: "http://origin.internal", hosts: ["shop.test"], purge: { push } }, {});
  const isolates = Array.from({ length: ISOLATES }, () => {
    const reached = log.at(LOG_MS);
    const unlessSilent = <Given extends unknown[], T>(call: (...given: Given) => Promise<T>) => {
      return async (...given: Given) => {
        if (isSilent()) throw new Error("silent");
        return call(...given);
      };
    };
    const { read, append, connect } = reached;
    const connected = unlessSilent(connect!);
    return startIsolate(site, {
      clock,
      random,
      sharedTier: {
        get: (key) => slowly(() => stored.get(key)),
        put: (one) => slowly(() => void stored.set(one.head.key, one)),
        delete: (key) => slowly(() => void stored.delete(key)),
        getBody: async () => undefined,
        putBody: async () => undefined,
      },
      notes: {
        read: (name) => slowly(() => notes.get(name) ?? null),
        write: (name, bytes) => slowly(() => void notes.set(name, bytes)),
      },
      origin: {
        url: "http://origin.internal",
        fetch: async () => {
          if (isSilent()) fetches++;
          await clock.wait(ORIGIN_MS).over;
          const fields = new Fields([
            ["cache-control", "max-age=3600"],
            ["content-length", "0"],
          ]);
          return { kind: "answered", response: { status: 200, statusText: "", fields, body: null } };
        },
      },
      log: {
        read: unlessSilent(read),
        append: unlessSilent(append),
        connect: async (reader) => {
          const connection = (await connected(reader))!;
          return { ...connection, renew: unlessSilent(connection.renew), release: unlessSilent(connection.release) };
        },
      },
      audit: { list: async () => ({ purges: [], next: null }), find: async () => null },
      bodies: memoryBodies,
      webRequest: ({ request }) => request as Request,
      fingerprint: async (text) => text,
      tokens: { check: async () => ({ kind: "refused", because: "no-tokens" }) },
      reporter: new Counters("http://origin.internal", () => undefined),
    });
  });
  const arrive = () => {
    // Zipf's law, as far as a single draw gives it: few pages have most of the requests.
    const page = Math.floor(PAGES ** random());
    const url = `http://shop.test/${page}`;
    const request = { method: "GET", headers: new Fields([]), body: null, bodyUsed: false };
    const background = { run: (work: Promise<unknown>) => void work.catch(() => undefined) };
    const isolate = isolates[Math.floor(random() * ISOLATES)]!;
    void Promise.resolve(isolate.fetch({ request, url, background, clientAddress: null }));
    clock.at(clock.now() + (-Math.log(1 - random()) * 1000) / REQUESTS_PER_SECOND, arrive);
  };
  arrive();
  await clock.runUntil(BEGINS_AT_MS + outageMs);
  return fetches;
}
