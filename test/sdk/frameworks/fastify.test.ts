import { Readable } from "node:stream";
import Fastify, { type FastifyInstance, type FastifyReply } from "fastify";
import { afterEach, expect, test, vi } from "vitest";
import { purgeLater, purgeNow, tag, tidemark } from "../../../sdk/frameworks/fastify.ts";
import { createRecordingPurger } from "../../../sdk/testing.ts";

/** Milliseconds without another change, after which those of a handler whose client has left are purged. */
const PAUSE_MS = 1_000;

const holdTimers = () => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });

afterEach(() => vi.useRealTimers());

test("the routes of other plugins are covered, and those registered before", async () => {
  const app = Fastify();
  app.register(async (child) => {
    child.get("/child", async () => {
      tag("a");
      return "child";
    });
  });
  app.register(tidemark);
  const { headers } = await app.inject("/child");
  expect(headers["cache-tag"]).toBe("a");
  await app.close();
});

test.each<[string, (reply: FastifyReply) => unknown, number, string, readonly string[]]>([
  ["sends a body", (reply) => reply.send("saved"), 200, "saved", []],
  ["sends a stream", (reply) => reply.send(Readable.from(["sav", "ed"])), 200, "saved", []],
  ["sends an empty answer", (reply) => reply.code(204).send(), 204, "", []],
  ["redirects", (reply) => reply.redirect("/songs/42", 303), 303, "", []],
  [
    "sends a body and throws",
    (reply) => {
      reply.type("text/html").send("saved");
      throw new Error("the mail could not be sent");
    },
    500,
    '{"statusCode":500,"error":"Internal Server Error","message":"the mail could not be sent"}',
    ["the mail could not be sent"],
  ],
])(
  "a handler that %s, and returns nothing, answers after its purge, and causes no other error",
  async (_, send, status, body, messages) => {
    const purger = createRecordingPurger();
    const receipt = Promise.withResolvers<void>();
    const committed = Promise.withResolvers<void>();
    const slowPurger = {
      batch() {
        const batch = purger.batch();
        const commit = async () => {
          committed.resolve();
          await receipt.promise;
          return batch.commit();
        };
        return { ...batch, commit };
      },
    };
    const errors: string[] = [];
    const statuses: number[] = [];
    const app = Fastify();
    app.register(tidemark, { purger: slowPurger });
    app.addHook("onError", async (_request, _reply, { message }) => void errors.push(message));
    app.addHook("onResponse", async (_request, reply) => void statuses.push(reply.statusCode));
    app.post("/", async (_request, reply) => {
      purgeLater({ tags: ["a"] });
      send(reply);
    });
    const answer = app.inject({ method: "POST", url: "/" });
    await committed.promise;
    await new Promise(setImmediate);
    expect(statuses).toEqual([]);
    receipt.resolve();
    const { statusCode, headers, body: answered } = await answer;
    await new Promise(setImmediate);
    expect([statusCode, answered, statuses, errors]).toEqual([status, body, [status], messages]);
    expect(headers["set-cookie"]).toMatch(/^tidemark-after=recorded-1;/);
    expect(purger.calls).toEqual([{ tags: ["a"] }]);
    await app.close();
  },
);

test("a response that bypasses Fastify's reply purges when it has been sent", async () => {
  const purger = createRecordingPurger();
  const app = Fastify();
  app.register(tidemark, { purger });
  const ended = Promise.withResolvers<void>();
  app.addHook("onResponse", async () => ended.resolve());
  app.post("/raw", async (_request, reply) => {
    purgeLater({ tags: ["a"] });
    reply.hijack();
    reply.raw.end("raw");
  });
  expect((await app.inject({ method: "POST", url: "/raw" })).body).toBe("raw");
  await ended.promise;
  expect(purger.calls).toEqual([{ tags: ["a"] }]);
  await app.close();
});

test("the head of such a response has the tags, and the cookie of a purge that came before it", async () => {
  const app = Fastify();
  app.register(tidemark, { purger: createRecordingPurger() });
  app.post("/raw", async (_request, reply) => {
    tag("a");
    purgeLater({ tags: ["a"] });
    await purgeNow();
    reply.hijack();
    reply.raw.writeHead(200, { "Cache-Tag": "own", "Set-Cookie": "own=1" });
    const late = async () => tag("late");
    reply.raw.end(await late().then(String, (error: Error) => error.message));
  });
  const { headers, body } = await app.inject({ method: "POST", url: "/raw" });
  expect(headers["cache-tag"]).toBe("own,a");
  expect(headers["set-cookie"]).toEqual(["own=1", expect.stringMatching(/^tidemark-after=/)]);
  expect(body).toMatch(/^tag: the response head was sent already/);
  await app.close();
});

test("what such a handler asks its own app after its head is answered, with any number of tags", async () => {
  const app = Fastify();
  app.register(tidemark);
  app.get("/inner", async () => {
    tag("inner");
    return "inner";
  });
  app.get("/", async (_request, reply) => {
    tag(Array.from({ length: 1000 }, (_, index) => `t${index}`));
    reply.hijack();
    reply.raw.writeHead(200);
    reply.raw.end((await app.inject("/inner")).body);
  });
  expect((await app.inject("/")).body).toBe("inner");
  await app.close();
});

test("an error page in place of a head that Node refuses has no fields of the page, which would store it", async () => {
  const app = Fastify();
  app.register(tidemark, { purger: createRecordingPurger() });
  app.get("/", async (_request, reply) => {
    reply.raw.setHeader("Set-Cookie", "own=1");
    return reply
      .headers({ "Cache-Control": "public, max-age=600", "Set-Cookie": "page=1", "X-Title": "音楽" })
      .send("page");
  });
  const { statusCode, headers, body } = await app.inject("/");
  expect([statusCode, headers["cache-control"], headers["set-cookie"]]).toEqual([500, undefined, "own=1"]);
  expect(body).toContain("Invalid character in header content");
  await app.close();
});

test.each([
  [200, [{ tags: ["a"] }]],
  [500, []],
])("if the client of such a response leaves, a handler that answered %i purges accordingly", async (status, purges) => {
  holdTimers();
  const purger = createRecordingPurger();
  const app = Fastify();
  app.register(tidemark, { purger });
  const closed = Promise.withResolvers<void>();
  app.post("/raw", async (_request, reply) => {
    purgeLater({ tags: ["a"] });
    reply.hijack();
    reply.raw.once("close", closed.resolve);
    reply.raw.writeHead(status).write("event");
  });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const leaving = new AbortController();
  await fetch(`${url}/raw`, { method: "POST", signal: leaving.signal });
  leaving.abort();
  await closed.promise;
  await vi.advanceTimersByTimeAsync(PAUSE_MS);
  expect(purger.calls).toEqual(purges);
  await app.close();
});

test.each([
  ["ends it", 200, [{ tags: ["first", "second"] }], [{ tags: ["first", "second"] }]],
  ["ends it", 500, [], []],
  ["does not end it", 200, [], [{ tags: ["first", "second"] }]],
  ["does not end it", 500, [], []],
])(
  "changes before and after the client of such a response has left, by a handler that %s, with a status of %i, are purged accordingly",
  async (ends, status, purges, purgesAfterPause) => {
    holdTimers();
    const purger = createRecordingPurger();
    const app = Fastify();
    app.register(tidemark, { purger });
    const over = Promise.withResolvers<unknown>();
    app.post("/raw", async (_request, reply) => {
      reply.hijack();
      const left = new Promise<void>((resolve) => reply.raw.once("close", resolve));
      purgeLater({ tags: ["first"] });
      reply.raw.writeHead(status).write("event");
      await left;
      const save = async () => purgeLater({ tags: ["second"] });
      await save();
      const before = [...purger.calls];
      if (ends === "ends it") reply.raw.end();
      over.resolve(before);
    });
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    const leaving = new AbortController();
    await fetch(`${url}/raw`, { method: "POST", signal: leaving.signal });
    leaving.abort();
    expect(await over.promise).toEqual([]);
    expect(purger.calls).toEqual(purges);
    await vi.advanceTimersByTimeAsync(PAUSE_MS);
    expect(purger.calls).toEqual(purgesAfterPause);
    await app.close();
  },
);

test.each([
  [200, [{ tags: ["a"] }]],
  [500, []],
])(
  "if the client leaves before the head of such a response, a handler that ends it with %i purges accordingly",
  async (status, purges) => {
    const purger = createRecordingPurger();
    const app = Fastify();
    app.register(tidemark, { purger });
    const arrived = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    app.post("/raw", async (_request, reply) => {
      reply.hijack();
      const left = new Promise<void>((resolve) => reply.raw.once("close", resolve));
      arrived.resolve();
      await left;
      purgeLater({ tags: ["a"] });
      reply.raw.writeHead(status);
      reply.raw.end();
      over.resolve();
    });
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    const leaving = new AbortController();
    const asking = fetch(`${url}/raw`, { method: "POST", signal: leaving.signal });
    await arrived.promise;
    leaving.abort();
    await expect(asking).rejects.toThrow();
    await over.promise;
    expect(purger.calls).toEqual(purges);
    await app.close();
  },
);

test.each<[string, (reply: FastifyReply, committed: Promise<void>) => unknown, readonly object[]]>([
  ["returns nothing", (_, committed) => committed, [{ tags: ["a"] }]],
  ["only sets a status of 204", (reply, committed) => committed.then(() => void reply.code(204)), [{ tags: ["a"] }]],
  ["answers", (_, committed) => committed.then(() => "saved"), [{ tags: ["a"] }]],
  [
    "returns the reply and answers with it",
    (reply, committed) => {
      void committed.then(() => reply.send("saved"));
      return reply;
    },
    [{ tags: ["a"] }],
  ],
  [
    "throws",
    async (_, committed) => {
      await committed;
      throw new Error("the transaction failed");
    },
    [],
  ],
  [
    "returns the reply and answers with an error",
    (reply, committed) => {
      void committed.then(() => reply.send(new Error("the transaction failed")));
      return reply;
    },
    [],
  ],
])(
  "if the client leaves before any answer, a handler that %s purges accordingly, and nothing before it has ended",
  async (_, end, purges) => {
    holdTimers();
    const purger = createRecordingPurger();
    const app = Fastify();
    app.register(tidemark, { purger });
    const arrived = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const commit = Promise.withResolvers<void>();
    app.post("/", async (_request, reply) => {
      purgeLater({ tags: ["a"] });
      reply.raw.once("close", left.resolve);
      arrived.resolve();
      await left.promise;
      return end(reply, commit.promise);
    });
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    const leaving = new AbortController();
    const asking = fetch(url, { method: "POST", signal: leaving.signal });
    await arrived.promise;
    leaving.abort();
    await expect(asking).rejects.toThrow();
    await left.promise;
    await vi.advanceTimersByTimeAsync(2 * PAUSE_MS);
    expect(purger.calls).toEqual([]);
    commit.resolve();
    await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(PAUSE_MS);
    expect(purger.calls).toEqual(purges);
    await app.close();
  },
);

/** A handler at `/`, whose client has left before any answer. It waits for `goOn`, and then does the rest. */
async function leftHandler(app: FastifyInstance, begin: (reply: FastifyReply) => void, rest: () => void) {
  const arrived = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const goingOn = Promise.withResolvers<void>();
  app.post("/", async (_request, reply) => {
    begin(reply);
    reply.raw.once("close", left.resolve);
    arrived.resolve();
    await goingOn.promise;
    rest();
  });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const leaving = new AbortController();
  const asking = fetch(url, { method: "POST", signal: leaving.signal });
  await arrived.promise;
  leaving.abort();
  await expect(asking).rejects.toThrow();
  await left.promise;
  return async function goOn() {
    goingOn.resolve();
    await new Promise(setImmediate);
  };
}

test("a handler whose client has left still purges if the app was closed meanwhile", async () => {
  holdTimers();
  const purger = createRecordingPurger();
  const app = Fastify();
  app.register(tidemark, { purger });
  const goOn = await leftHandler(
    app,
    () => undefined,
    () => purgeLater({ tags: ["a"] }),
  );
  await app.close();
  await goOn();
  await vi.advanceTimersByTimeAsync(PAUSE_MS);
  expect(purger.calls).toEqual([{ tags: ["a"] }]);
});

test("a handler that has taken over its response, and whose client leaves before the head, purges even if it never ends it", async () => {
  holdTimers();
  const purger = createRecordingPurger();
  const app = Fastify();
  app.register(tidemark, { purger });
  const goOn = await leftHandler(
    app,
    (reply) => reply.hijack(),
    () => purgeLater({ tags: ["a"] }),
  );
  await goOn();
  await vi.advanceTimersByTimeAsync(PAUSE_MS);
  expect(purger.calls).toEqual([{ tags: ["a"] }]);
  await app.close();
});

test("a plugin that registers it again has its own options", async () => {
  const purger = createRecordingPurger();
  const app = Fastify();
  app.register(tidemark);
  app.register(async (child) => {
    child.register(tidemark, { purger });
    child.post("/child", async () => {
      purgeLater({ tags: ["a"] });
      return "saved";
    });
  });
  await app.inject({ method: "POST", url: "/child" });
  expect(purger.calls).toEqual([{ tags: ["a"] }]);
  await app.close();
});
