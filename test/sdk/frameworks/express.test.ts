import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import express, { type Express, type Response } from "express";
import { afterEach, expect, test, vi } from "vitest";
import { purgeLater, tag, tidemark } from "../../../sdk/frameworks/express.ts";
import { createRecordingPurger, type RecordingPurger } from "../../../sdk/testing.ts";
import { localUrl } from "../../suite/local-url.ts";

let server: Server | undefined;
let purger: RecordingPurger;

afterEach(async () => {
  vi.useRealTimers();
  server?.closeAllConnections();
  server?.close();
  if (server) await once(server, "close");
});

/** Milliseconds without another change, after which those of a handler whose client has left are purged. */
const PAUSE_MS = 1_000;

const holdTimers = () => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });

async function start(routes: (app: Express) => void): Promise<string> {
  purger = createRecordingPurger();
  const app = express();
  app.use(tidemark({ purger }));
  routes(app);
  server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  return localUrl(server);
}

test("an error after the answer, while the purge is under way, changes nothing of the answer", async () => {
  const url = await start((app) => {
    app.post("/", async (_request, response) => {
      purgeLater({ tags: ["a"] });
      response.statusMessage = "Own words";
      response.status(201).set("X-Own", "1").send("saved");
      throw new Error("too late");
    });
  });
  const answer = await fetch(url, { method: "POST" });
  expect([answer.status, answer.statusText, await answer.text()]).toEqual([201, "Own words", "saved"]);
  expect(answer.headers.get("x-own")).toBe("1");
  expect(answer.headers.get("content-security-policy")).toBeNull();
  expect(answer.headers.getSetCookie()).toHaveLength(1);
  expect(purger.calls).toEqual([{ tags: ["a"] }]);
});

test("another answer that is written while the purge is under way, as at a timeout, is left out", async () => {
  const url = await start((app) => {
    app.post("/", (_request, response) => {
      purgeLater({ tags: ["a"] });
      response.status(201).set("X-Own", "1").send("saved");
      response.flushHeaders();
      response.write("timed ");
      response.writeHead(503, { "X-Other": "1" }).end("out");
    });
  });
  const answer = await fetch(url, { method: "POST" });
  expect([answer.status, await answer.text()]).toEqual([201, "saved"]);
  expect([answer.headers.get("x-own"), answer.headers.get("x-other")]).toEqual(["1", null]);
  expect(answer.headers.getSetCookie()).toHaveLength(1);
});

test("an end with something that cannot be sent, after a purge, ends the answer and is told", async () => {
  const warned = once(process, "warning");
  const url = await start((app) => {
    app.post("/", (_request, response) => {
      purgeLater({ tags: ["a"] });
      response.end(42 as never);
    });
    app.get("/", (_request, response) => void response.send("alive"));
  });
  await expect(fetch(url, { method: "POST" })).rejects.toThrow();
  expect((await warned)[0]).toMatchObject({ code: "ERR_INVALID_ARG_TYPE" });
  expect(await (await fetch(url)).text()).toBe("alive");
});

test("listeners of the request's own events are in its scope, also on a connection that carries another request", async () => {
  const url = await start((app) => {
    app.post("/:name", ({ params }, response) => {
      let body = "";
      response.req
        .on("data", (piece) => {
          body += piece;
          tag(`first-${params.name}`);
        })
        .on("end", () => {
          tag(params.name);
          purgeLater({ tags: [params.name] });
          response.send(body);
        });
    });
  });
  for (const name of ["a", "b"]) {
    const answer = await fetch(`${url}/${name}`, { method: "POST", body: "sent" });
    expect([answer.status, await answer.text()]).toEqual([200, "sent"]);
    expect(answer.headers.get("cache-tag")).toBe(`first-${name},${name}`);
    expect(answer.headers.getSetCookie()).toHaveLength(1);
  }
  expect(purger.calls).toEqual([{ tags: ["a"] }, { tags: ["b"] }]);
});

test("a streamed answer is sent whole, and its purge before its end", async () => {
  const url = await start((app) => {
    app.post("/", (_request, response) => {
      tag("a");
      response.write("one, ");
      purgeLater({ tags: ["a"] });
      response.end("two", () => response.socket?.unref());
    });
  });
  const answer = await fetch(url, { method: "POST" });
  expect(answer.headers.get("cache-tag")).toBe("a");
  // The head had left by the time of the purge.
  expect(answer.headers.getSetCookie()).toEqual([]);
  expect(await answer.text()).toBe("one, two");
  expect(purger.calls).toEqual([{ tags: ["a"] }]);
});

test("a streamed answer whose body later middleware writes a little later, as compression does, is sent whole", async () => {
  const order: string[] = [];
  const url = await start((app) => {
    app.use((_request, response, next) => {
      const { write, end } = response;
      response.write = (piece: string) => {
        if (!response.headersSent) response.writeHead(response.statusCode);
        process.nextTick(() => write.call(response, piece, "utf8"));
        return true;
      };
      response.end = (...args: readonly unknown[]) => {
        order.push(`ended after ${purger.calls.length} purge`);
        return end.apply(response, args as Parameters<typeof end>);
      };
      next();
    });
    app.post("/", (_request, response) => {
      purgeLater({ tags: ["a"] });
      response.write("one, ");
      response.write("two");
      response.end();
    });
  });
  expect(await (await fetch(url, { method: "POST" })).text()).toBe("one, two");
  expect([order, purger.calls]).toEqual([["ended after 1 purge"], [{ tags: ["a"] }]]);
});

test("the purge comes before an end of later middleware, which writes the head itself, as sessions and compression do", async () => {
  const order: string[] = [];
  const url = await start((app) => {
    for (const name of ["outer", "inner"]) {
      app.use((_request, response, next) => {
        const { write, end } = response;
        response.end = (...[body]: readonly unknown[]) => {
          order.push(`${name} after ${purger.calls.length} purge`);
          if (!response.headersSent) response.writeHead(response.statusCode);
          if (body) write.call(response, `${name} `, "utf8");
          return end.call(response, body, "utf8");
        };
        next();
      });
    }
    app.post("/", (_request, response) => {
      purgeLater({ tags: ["a"] });
      response.redirect(303, "/");
    });
    app.post("/unchanged", (_request, response) => void response.end("same"));
  });
  const answer = await fetch(url, { method: "POST", redirect: "manual" });
  expect([answer.status, answer.headers.get("location")]).toEqual([303, "/"]);
  expect(answer.headers.getSetCookie()).toHaveLength(1);
  expect(order).toEqual(["inner after 1 purge", "outer after 1 purge"]);
  expect(await (await fetch(`${url}/unchanged`, { method: "POST" })).text()).toBe("inner outer same");
  expect(purger.calls).toEqual([{ tags: ["a"] }]);
});

test.each([
  [200, [{ tags: ["a"] }]],
  [500, []],
])("if the client of a piped answer leaves, a handler that answered %i purges accordingly", async (status, purges) => {
  holdTimers();
  const closed = Promise.withResolvers<void>();
  const url = await start((app) => {
    app.post("/", (_request, response) => {
      purgeLater({ tags: ["a"] });
      response.once("close", closed.resolve);
      response.status(status);
      Readable.from(endless()).pipe(response);
    });
  });
  const leaving = new AbortController();
  await fetch(url, { method: "POST", signal: leaving.signal });
  leaving.abort();
  await closed.promise;
  await vi.advanceTimersByTimeAsync(PAUSE_MS);
  expect(purger.calls).toEqual(purges);
});

async function* endless(): AsyncGenerator<string> {
  for (;;) yield "more";
}

test.each<[string, number, (response: Response, left: Promise<unknown>) => unknown]>([
  ["the first byte of a piped answer", 200, (response) => new Readable({ read() {} }).pipe(response)],
  ["an answer is piped", 200, async (response, left) => left.then(() => Readable.from(["more"]).pipe(response))],
  ["a file is sent", 200, async (response, left) => left.then(() => response.sendFile(import.meta.filename))],
  ["an answer is piped", 500, async (response, left) => left.then(() => Readable.from(["more"]).pipe(response))],
])("if the client leaves before %s, a handler that answers %i purges accordingly", async (_, status, answer) => {
  holdTimers();
  const arrived = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const url = await start((app) => {
    app.post("/", async (_request, response) => {
      const left = once(response.status(status), "close");
      Promise.all([left, once(response, "pipe")]).then(() => over.resolve());
      arrived.resolve();
      purgeLater({ tags: ["a"] });
      await answer(response, left);
    });
  });
  const leaving = new AbortController();
  const asking = fetch(url, { method: "POST", signal: leaving.signal });
  await arrived.promise;
  leaving.abort();
  await expect(asking).rejects.toThrow();
  await over.promise;
  await vi.advanceTimersByTimeAsync(PAUSE_MS);
  expect(purger.calls).toEqual(status === 200 ? [{ tags: ["a"] }] : []);
});

test.each<[string, number, (response: Response, saveSecond: () => Promise<void>) => unknown]>([
  [
    "writes",
    200,
    async (response, saveSecond) => {
      response.write("first");
      await saveSecond();
    },
  ],
  [
    "writes",
    500,
    async (response, saveSecond) => {
      response.write("first");
      await saveSecond();
    },
  ],
  [
    "pipes",
    200,
    async (response, saveSecond) => {
      async function* saving() {
        yield "first";
        await saveSecond();
      }
      await pipeline(Readable.from(saving()), response);
    },
  ],
])(
  "changes after the client has left, by a handler that %s %i and does not end the answer, are purged after a pause",
  async (_, status, answer) => {
    holdTimers();
    const over = Promise.withResolvers<void>();
    const url = await start((app) => {
      app.post("/", async (_request, response) => {
        const left = once(response.status(status), "close");
        purgeLater({ tags: ["first"] });
        const saveSecond = async () => {
          await left;
          purgeLater({ tags: ["second"] });
          await vi.advanceTimersByTimeAsync(PAUSE_MS - 1);
          purgeLater({ tags: ["third"] });
          over.resolve();
        };
        await answer(response, saveSecond);
      });
    });
    await leave(url);
    await over.promise;
    await vi.advanceTimersByTimeAsync(PAUSE_MS - 1);
    expect(purger.calls).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(purger.calls).toEqual(status === 200 ? [{ tags: ["first", "second", "third"] }] : []);
  },
);

/** Asks, and closes the connection at the head of the answer. */
async function leave(url: string): Promise<void> {
  const leaving = new AbortController();
  await fetch(url, { method: "POST", signal: leaving.signal });
  leaving.abort();
}

test.each([
  [PAUSE_MS - 1, "one purge at the end", [], [{ tags: ["first", "second", "third"] }]],
  [
    PAUSE_MS,
    "a purge each time",
    [{ tags: ["first", "second"] }],
    [{ tags: ["first", "second"] }, { tags: ["third"] }],
  ],
])(
  "if the answer is ended %i ms after a change that follows the client's leaving, there is %s",
  async (pauseMs, _, purgesBefore, purges) => {
    holdTimers();
    const over = Promise.withResolvers<void>();
    const seen: unknown[] = [];
    const url = await start((app) => {
      app.post("/", async (_request, response) => {
        purgeLater({ tags: ["first"] });
        response.write("first");
        await once(response, "close");
        purgeLater({ tags: ["second"] });
        await vi.advanceTimersByTimeAsync(pauseMs);
        purgeLater({ tags: ["third"] });
        seen.push(...purger.calls);
        response.end();
        over.resolve();
      });
    });
    await leave(url);
    await over.promise;
    expect(seen).toEqual(purgesBefore);
    expect(purger.calls).toEqual(purges);
    await vi.advanceTimersByTimeAsync(PAUSE_MS);
    expect(purger.calls).toEqual(purges);
  },
);

test("a purge before an answer over HTTP/2 causes no warning of Node", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on("warning", note);
  purger = createRecordingPurger();
  const middleware = tidemark({ purger });
  const http2 = createHttp2Server((request, response) => {
    middleware(request, response as unknown as ServerResponse, () => {
      purgeLater({ tags: ["a"] });
      response.end("saved");
    });
  }).listen(0, "127.0.0.1");
  await once(http2, "listening");
  const client = connect(localUrl(http2));
  try {
    const stream = client.request({ ":method": "POST" });
    expect(await text(stream)).toBe("saved");
    expect([purger.calls, warnings]).toEqual([[{ tags: ["a"] }], []]);
  } finally {
    process.off("warning", note);
    client.close();
    http2.close();
  }
});

test.each<[string, (response: ServerResponse) => unknown]>([
  ["an object", (response) => response.writeHead(203, { "cache-tag": "own", "X-List": ["1", "2"] })],
  ["an object, after words", (response) => response.writeHead(203, "Words", { "cache-tag": "own", "X-List": "1, 2" })],
  [
    "an object, after words that are left out",
    (response) => response.writeHead(203, undefined as unknown as string, { "cache-tag": "own", "X-List": ["1", "2"] }),
  ],
  [
    "names and values in turn",
    (response) => response.writeHead(203, ["Cache-Tag", "own", "X-List", "1", "X-List", "2"]),
  ],
  [
    "nothing",
    (response) => response.setHeader("Cache-Tag", "own") && response.setHeader("X-List", "1, 2").writeHead(203),
  ],
])("tags stay on a head whose fields are written as %s", async (_, writeHead) => {
  const url = await start((app) => {
    app.get("/", (_request, response) => {
      tag("a");
      response.setHeader("X-List", "replaced");
      writeHead(response);
      response.end("body");
    });
  });
  const answer = await fetch(url);
  expect([answer.status, await answer.text()]).toEqual([203, "body"]);
  expect(answer.headers.get("cache-tag")).toBe("own,a");
  expect(answer.headers.get("x-list")).toBe("1, 2");
});
