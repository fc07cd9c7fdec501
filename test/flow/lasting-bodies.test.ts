import { beforeEach, describe, expect, test } from "vitest";
import { FillBudget } from "../../worker/flow/storing/fill.ts";
import type { Origin } from "../../worker/ports/origin.ts";
import { Fields } from "../../worker/rules/fields/fields.ts";
import { type IsolateParts, PopUnderTest } from "./pop-under-test.ts";

const MINUTE_MS = 60_000;

/** A storable body of which a test sends the pieces. */
class LastingBody {
  readonly ended: Promise<void>;
  isCancelled = false;
  readonly stream: ReadableStream<Uint8Array>;
  #controller!: ReadableStreamDefaultController<Uint8Array>;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.stream = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.isCancelled = true;
        resolve();
      },
    });
  }

  send(text: string): void {
    this.#controller.enqueue(new TextEncoder().encode(text));
  }

  end(): void {
    this.#controller.close();
  }
}

describe("a storable body that lasts", () => {
  let pop: PopUnderTest;
  /** By paths. Other pages come at once. */
  let lasting: Map<string, LastingBody>;

  beforeEach(() => {
    pop = new PopUnderTest();
    lasting = new Map(["/events", "/ticks"].map((path) => [path, new LastingBody()]));
  });

  const origin: Origin = {
    url: "http://origin.example",
    fetch: async ({ pathAndQuery }) => {
      const last = lasting.get(pathAndQuery);
      const body = last?.stream ?? (new Response("page").body as ReadableStream<Uint8Array>);
      const fields = Fields.of([
        "cache-control",
        "max-age=600",
        ...(last ? ["transfer-encoding", "chunked"] : ["content-length", "4"]),
      ]);
      return {
        kind: "answered",
        response: { status: 200, statusText: "", fields, body, ...(last && { ended: () => last.ended }) },
      };
    },
  };

  function start(parts: IsolateParts) {
    const ask = pop.start(origin, parts);
    const xCacheOf = async (path: string) => {
      const answer = await pop.head(ask(path));
      if (answer.status === 200) await pop.text(answer);
      return answer.headers.get("x-cache") ?? answer.status;
    };
    const read = async (path: string) => (await pop.head(ask(path))).body!.getReader();
    return { read, xCacheOf };
  }

  /** The next piece for a client. */
  async function next(client: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
    return new TextDecoder().decode((await pop.scheduler.settle(client.read())).value);
  }

  async function send(body: LastingBody, text: string): Promise<void> {
    body.send(text);
    await pop.scheduler.advance(0);
  }

  /** A body that has begun, and has the only place at the origin. */
  async function holdOnlyPlace() {
    const { read, xCacheOf } = start({ site: { origin: { url: origin.url, concurrency: 1 } } });
    const events = lasting.get("/events")!;
    const client = await read("/events");
    await send(events, "one");
    expect(await next(client)).toBe("one");
    return { events, client, xCacheOf };
  }

  test("is read for a minute after its client has left, and then gives back its place at the origin", async () => {
    const { events, client, xCacheOf } = await holdOnlyPlace();
    await client.cancel();
    for (const text of ["two", "three"]) await send(events, text);
    await pop.scheduler.advance(MINUTE_MS - 1);
    await send(events, "four");
    expect(events.isCancelled).toBe(false);
    await pop.scheduler.advance(1);
    expect(events.isCancelled).toBe(true);
    expect(await xCacheOf("/page")).toBe("MISS");
  });

  test("is given up a minute after its client has left, even if its origin sends nothing more", async () => {
    const { events, client, xCacheOf } = await holdOnlyPlace();
    await pop.scheduler.advance(2 * MINUTE_MS);
    await client.cancel();
    await pop.scheduler.advance(MINUTE_MS - 1);
    expect(events.isCancelled).toBe(false);
    await pop.scheduler.advance(1);
    expect(events.isCancelled).toBe(true);
    expect(await xCacheOf("/page")).toBe("MISS");
  });

  test("reaches its client, even if the clock is set forward by minutes", async () => {
    const startedAt = pop.scheduler.now();
    let aheadMs = 0;
    const timer = { now: () => pop.scheduler.now() - startedAt - aheadMs, runsInMemory: true };
    const { read, xCacheOf } = start({ timer });
    const events = lasting.get("/events")!;
    const client = await read("/events");
    for (const text of ["one", "two"]) await send(events, text);
    await xCacheOf("/before");
    aheadMs = 2 * MINUTE_MS;
    pop.scheduler.stepBack(-aheadMs);
    await xCacheOf("/after");
    expect([await next(client), await next(client)]).toEqual(["one", "two"]);
  });

  test("and ends within a minute after its client has left is stored", async () => {
    const { read, xCacheOf } = start({});
    const events = lasting.get("/events")!;
    const client = await read("/events");
    await client.cancel();
    for (const text of ["one", "two"]) await send(events, text);
    await pop.scheduler.advance(MINUTE_MS - 1);
    await send(events, "three");
    events.end();
    await pop.scheduler.advance(0);
    expect(await xCacheOf("/events")).toBe("HIT");
  });

  test.each<[string, IsolateParts]>([
    ["its site", { site: { limits: { fills: 2 } } }],
    ["all sites", { fills: new FillBudget(1 << 20, 2) }],
  ])("leaves its place among the fills of %s to another page after a minute", async (_, parts) => {
    const { read, xCacheOf } = start(parts);
    const clients = [await read("/events"), await read("/ticks")];
    const bodies = [...lasting.values()];
    const tick = async (text: string) => {
      for (const [index, body] of bodies.entries()) {
        await send(body, text);
        expect(await next(clients[index]!)).toBe(text);
      }
    };
    await tick("one");
    await pop.scheduler.advance(MINUTE_MS);
    await tick("two");
    expect([await xCacheOf("/early"), await xCacheOf("/early")]).toEqual(["MISS", "MISS"]);
    await pop.scheduler.advance(1);
    await tick("three");
    expect([await xCacheOf("/late"), await xCacheOf("/late")]).toEqual(["MISS", "HIT"]);
    await tick("four");
  });
});

test.each([
  ["is read to its end if it is small, so that its connection can be used again", 256 * 1024, false],
  ["is not read to its end if it is large", 256 * 1024 + 1, true],
])("the body of a page that is not stored, and that the client holds, %s", async (_, bytes, isCancelled) => {
  const pop = new PopUnderTest();
  const body = new LastingBody();
  const fields = Fields.of(["cache-control", "private", "etag", '"1"']);
  const ask = pop.start({
    url: "http://origin.example",
    fetch: async () => ({ kind: "answered", response: { status: 200, statusText: "", fields, body: body.stream } }),
  });
  const answer = await pop.head(ask("/a", { "if-none-match": '"1"' }));
  expect(answer.status).toBe(304);
  body.send("x".repeat(bytes));
  await pop.scheduler.advance(0);
  expect(body.isCancelled).toBe(isCancelled);
});
