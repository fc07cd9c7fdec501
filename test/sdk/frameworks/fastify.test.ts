import Fastify from "fastify";
import { expect, test } from "vitest";
import { purgeLater, tag, tidemark } from "../../../sdk/frameworks/fastify.ts";
import { createRecordingPurger } from "../../../sdk/testing.ts";

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

test.each([
  [200, [{ tags: ["a"] }]],
  [500, []],
])("if the client of such a response leaves, a handler that answered %i purges accordingly", async (status, purges) => {
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
  expect(purger.calls).toEqual(purges);
  await app.close();
});

test.each([
  [200, [{ tags: ["first"] }, { tags: ["second"] }]],
  [500, []],
])(
  "a change that is saved just after its client has left, with a status of %i, is purged accordingly",
  async (status, purges) => {
    const purger = createRecordingPurger();
    const app = Fastify();
    app.register(tidemark, { purger });
    const over = Promise.withResolvers<void>();
    app.post("/raw", async (_request, reply) => {
      reply.hijack();
      const left = new Promise<void>((resolve) => reply.raw.once("close", resolve));
      purgeLater({ tags: ["first"] });
      reply.raw.writeHead(status).write("event");
      await left;
      const save = async () => purgeLater({ tags: ["second"] });
      save().then(over.resolve, over.reject);
    });
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    const leaving = new AbortController();
    await fetch(`${url}/raw`, { method: "POST", signal: leaving.signal });
    leaving.abort();
    await over.promise;
    expect(purger.calls).toEqual(purges);
    await app.close();
  },
);
