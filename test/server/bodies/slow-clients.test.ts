import { setTimeout as delay } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { nodeBodiesHeldIn } from "../../../server/bodies/node-bodies.ts";
import { nodeBody } from "../../../server/bodies/node-body.ts";
import { PushedBody } from "../../../server/bodies/pushed-body.ts";
import { FillBudget, startFill } from "../../../worker/flow/storing/fill.ts";
import type { Answer } from "../../../worker/ports/answer.ts";
import type { StreamedBody } from "../../../worker/ports/bodies.ts";
import type { Clock } from "../../../worker/ports/clock.ts";
import type { Origin } from "../../../worker/ports/origin.ts";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import { isMarker } from "../../../worker/rules/storing/stored-response.ts";
import type { SharedTier } from "../../../worker/store/tiered-store.ts";
import { PopUnderTest } from "../../flow/pop-under-test.ts";
import { until } from "../../suite/until.ts";
import { temporaryFolder } from "../disk/disk-under-test.ts";
import { streamed } from "../http1/running-listener.ts";

const PIECE = "x".repeat(64 * 1024);
/** Four of them take all of `fillBytes`. */
const FILM = Array.from({ length: 31 }, () => PIECE);
const LIMITS = { storeBytes: "2MiB", fillBytes: "8MiB", memoryBytes: "64MiB" } as const;

async function bytesOf({ body }: Answer): Promise<number> {
  if (body instanceof Uint8Array) return body.byteLength;
  const reader = nodeBody(body!).read();
  let bytes = 0;
  for (let piece = await reader.next(); piece !== null; piece = await reader.next()) bytes += piece.byteLength;
  return bytes;
}

test.each([
  ["has been stored meanwhile", false],
  ["the disk has", true],
])("clients that read nothing of what %s leave room to store pages of others", async (_, isOnDisk) => {
  const seen: string[] = [];
  const origin: Origin = {
    url: "http://origin.example",
    fetch: async ({ pathAndQuery }) => {
      seen.push(pathAndQuery);
      const pieces = pathAndQuery.startsWith("/film") ? FILM : FILM.slice(0, 6);
      const bytes = pieces.length * PIECE.length;
      const fields = Fields.of(["cache-control", "max-age=60", "content-length", `${bytes}`]);
      const body = streamed(pieces, bytes);
      return { kind: "answered", response: { status: 200, statusText: "", fields, body } };
    },
  };
  const folder = temporaryFolder();
  const bodies = nodeBodiesHeldIn({ memoryBytes: 1024 ** 2, fileBytes: 64 * 1024 ** 2, mostFiles: null, folder });
  const pop = new PopUnderTest();
  const get: SharedTier["get"] = async (key) => {
    const found = await pop.tier.get(key);
    if (!found || isMarker(found)) return found;
    return { ...found, body: streamed(FILM, FILM.length * PIECE.length) };
  };
  const start = () => pop.start(origin, { bodies, site: { limits: LIMITS }, sharedTier: { get } });
  let fetch = start();
  const ask = (path: string) => pop.scheduler.settle(Promise.resolve(fetch(path))) as Promise<Answer>;

  const askForFilms = () => Promise.all([1, 2, 3, 4].map((each) => ask(`/film-${each}`)));
  if (isOnDisk) {
    await Promise.all((await askForFilms()).map(bytesOf));
    await pop.finish();
    fetch = start();
  }
  const films = await askForFilms();
  expect(films.map(({ fields }) => fields.get("x-cache"))).toEqual(films.map(() => (isOnDisk ? "HIT" : "MISS")));
  let page = 0;
  await until(async () => {
    const path = `/page-${page++}`;
    for (const answer of [await ask(path), await ask(path)]) expect(await bytesOf(answer)).toBe(6 * PIECE.length);
    return seen.filter((each) => each === path).length === 1;
  });
  for (const film of films) expect(await bytesOf(film)).toBe(FILM.length * PIECE.length);
  await pop.finish();
});

test.each([
  ["the whole", {}, 200],
  ["a part", { range: "bytes=5-94" }, 206],
  ["two parts", { range: "bytes=5-94,200-299" }, 206],
])(
  "nothing is read from the disk for a hit with %s before its client reads, or if it leaves",
  async (_, fields, status) => {
    const bytes = FILM.length * PIECE.length;
    const head = Fields.of(["cache-control", "max-age=60", "content-length", `${bytes}`]);
    const origin: Origin = {
      url: "http://origin.example",
      fetch: async () => ({
        kind: "answered",
        response: { status: 200, statusText: "", fields: head, body: streamed(FILM, bytes) },
      }),
    };
    const folder = temporaryFolder();
    const bodies = nodeBodiesHeldIn({ memoryBytes: 1024 ** 2, fileBytes: 64 * 1024 ** 2, mostFiles: null, folder });
    const pop = new PopUnderTest();
    const seen: string[] = [];
    const get: SharedTier["get"] = async (key) => {
      const found = await pop.tier.get(key);
      if (!found || isMarker(found)) return found;
      const none = () => undefined;
      const begin = () => seen.push("read");
      const body = new PushedBody(bytes, { begin, pause: none, resume: none, cancel: () => seen.push("left") });
      return { ...found, body };
    };
    const start = () => pop.start(origin, { bodies, site: { limits: LIMITS }, sharedTier: { get } });
    expect(await bytesOf((await pop.scheduler.settle(Promise.resolve(start()("/film")))) as Answer)).toBe(bytes);
    await pop.finish();
    const fetch = start();
    const ask = () => pop.scheduler.settle(Promise.resolve(fetch("/film", fields))) as Promise<Answer>;
    const [leaving, reading] = [await ask(), await ask()];
    expect([leaving.status, reading.status]).toEqual([status, status]);
    await pop.scheduler.advance(0);
    expect(seen).toEqual([]);
    await nodeBody(leaving.body as StreamedBody).cancel();
    expect(seen).toEqual(["left"]);
    const reader = nodeBody(reading.body as StreamedBody).read();
    const first = reader.next().catch(() => null);
    await vi.waitUntil(() => seen.includes("read"));
    await reader.cancel();
    await first;
  },
);

test("a client that reads 3 kB a second of what has been stored gets all of it, also while there is no more room ahead of it", async () => {
  const folder = temporaryFolder();
  const bodies = nodeBodiesHeldIn({ memoryBytes: 1024 ** 2, fileBytes: 512 * 1024, mostFiles: null, folder });
  const clock: Pick<Clock, "wait"> = { wait: () => ({ over: new Promise(() => undefined), cancel: () => undefined }) };
  const budget = new FillBudget(8 * 1024 ** 2, 256);
  const bytes = FILM.length * PIECE.length;
  const fill = startFill(streamed(FILM, bytes), bytes, bytes, budget.open(0), { bodies, clock });
  expect((await fill.read).kind).toBe("whole");
  bodies.readAhead!(fill.body!, bytes);
  const reader = bodies.readThrough(fill.body!);
  let readBytes = 0;
  for (let piece = await reader.next(); piece !== null; piece = await reader.next()) {
    readBytes += piece.byteLength;
    await delay(5); // what it has made room for is written
    budget.open(readBytes / 3).close();
  }
  expect(readBytes).toBe(bytes);
  await fill.delivered;
  expect(budget.heldBytes).toBe(0);
});
