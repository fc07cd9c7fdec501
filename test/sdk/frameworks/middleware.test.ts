import { afterEach, describe, expect, test, vi } from "vitest";
import { tidemark as forExpress } from "../../../sdk/frameworks/express.ts";
import { tidemark as forFastify } from "../../../sdk/frameworks/fastify.ts";
import { tidemark as forHono } from "../../../sdk/frameworks/hono.ts";
import { purgeLater, purgeNow, type RequestOptions, respond, tag } from "../../../sdk/frameworks/respond.ts";
import { PurgeTimeout, type Receipt } from "../../../sdk/index.ts";
import { createRecordingPurger } from "../../../sdk/testing.ts";
import { frameworks, type Handler, type Routes, type RunningApp } from "./apps.ts";

let purger = createRecordingPurger();
const errors: unknown[] = [];
let app: RunningApp | undefined;

afterEach(async () => {
  await app?.[Symbol.asyncDispose]();
  app = undefined;
  purger = createRecordingPurger();
  errors.length = 0;
});

/** The cookie of the recording purger's newest receipt, which has settled. */
const cookieOf = (seq: number) => `tidemark-after=recorded-${seq}; Path=/; Max-Age=5; HttpOnly; SameSite=Lax`;

const untilLater = () => new Promise((resolve) => setImmediate(resolve));

/** A row's code, far from the request. */
async function findSong(id: string): Promise<string> {
  await untilLater();
  tag(`song:${id}`, ["songs"]);
  await Promise.all([untilLater().then(() => tag(new Set(["late", "songs"])))]);
  return `song ${id}`;
}

describe.each(Object.keys(frameworks))("in a request of %s", (framework) => {
  const start = async (routes: Routes, options: RequestOptions = {}) => {
    app = await frameworks[framework]!(routes, { purger, onPurgeError: (error) => errors.push(error), ...options });
  };
  const send = (path: string, method = "GET") =>
    fetch(`${app!.url}${path}`, {
      method,
      redirect: "manual",
      ...(method === "POST" && { body: '{"title":"new"}', headers: { "content-type": "application/json" } }),
    });
  const post = (path: string) => send(path, "POST");

  test("tags from anywhere in the request are on the response, each once, beside its own", async () => {
    await start({
      "GET /songs/42": async () => ({ fields: { "Cache-Tag": "own,songs" }, body: await findSong("42") }),
      "GET /plain": async () => ({ body: "plain" }),
    });

    const song = await send("/songs/42");
    expect([song.status, await song.text()]).toEqual([200, "song 42"]);
    expect(song.headers.get("cache-tag")).toBe("own,songs,song:42,late");
    expect(song.headers.getSetCookie()).toEqual([]);
    expect((await send("/plain")).headers.get("cache-tag")).toBeNull();
  });

  test("requests at the same time do not get each other's tags and purges", async () => {
    const bothAreThere = Promise.withResolvers<void>();
    let arrived = 0;
    const meet: (name: string) => Handler = (name) => async () => {
      tag(`before-${name}`);
      purgeLater({ tags: [`purge-${name}`] });
      arrived += 1;
      if (arrived === 2) bothAreThere.resolve();
      await bothAreThere.promise;
      tag(`after-${name}`);
      purgeLater({ urls: [`/${name}`] });
      return {};
    };
    await start({ "POST /a": meet("a"), "POST /b": meet("b") });

    const [a, b] = await Promise.all([post("/a"), post("/b")]);

    expect(a.headers.get("cache-tag")).toBe("before-a,after-a");
    expect(b.headers.get("cache-tag")).toBe("before-b,after-b");
    expect(purger.calls).toHaveLength(2);
    expect(purger.calls).toContainEqual({ tags: ["purge-a"], urls: ["/a"] });
    expect(purger.calls).toContainEqual({ tags: ["purge-b"], urls: ["/b"] });
  });

  test("changes are one purge, sent before the answer, which brings its editor's cookie", async () => {
    await start({
      "POST /songs/42": async ({ body }) => {
        await untilLater();
        purgeLater({ tags: ["song:42"], urls: new Set(["/songs"]) });
        purgeLater({ tags: ["song:42", "songs"], hosts: ["www.example.com"], prefixes: ["/shop"] });
        expect(purger.calls).toEqual([]);
        return { status: 303, fields: { Location: `${app!.url}/${(body as { title: string }).title}` } };
      },
    });

    const answer = await post("/songs/42");

    expect([answer.status, answer.headers.get("location")]).toEqual([303, `${app!.url}/new`]);
    expect(answer.headers.getSetCookie()).toEqual([cookieOf(1)]);
    expect(purger.calls).toEqual([
      { urls: ["/songs"], tags: ["song:42", "songs"], prefixes: ["/shop"], hosts: ["www.example.com"] },
    ]);
    await answer.text();
  });

  test.each<[string, Handler]>([
    [
      "a thrown error",
      async () => {
        purgeLater({ tags: ["song:42"] });
        throw new Error("the transaction failed");
      },
    ],
    [
      "an answer of 422",
      async () => {
        purgeLater({ everything: true });
        return { status: 422, body: "no title" };
      },
    ],
  ])("nothing is purged after %s", async (_, handler) => {
    await start({ "POST /songs/42": handler });
    const answer = await post("/songs/42");
    expect(answer.status).toBeGreaterThan(400);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(purger.calls).toEqual([]);
  });

  test("purgeNow sends what was collected, and the purge stands if the request fails later", async () => {
    let receipt: Receipt | null = null;
    await start({
      "POST /songs/42": async () => {
        expect(await purgeNow()).toBeNull();
        purgeLater({ tags: ["song:42"] });
        receipt = await purgeNow({ reason: "saved" });
        purgeLater({ tags: ["songs"] });
        throw new Error("the mail could not be sent");
      },
      "POST /twice": async () => {
        purgeLater({ tags: ["a"] });
        await purgeNow();
        purgeLater({ tags: ["b"] });
        return {};
      },
    });

    expect((await post("/songs/42")).status).toBe(500);
    expect(receipt).toMatchObject({ seq: 1 });
    expect(purger.calls).toEqual([{ tags: ["song:42"], reason: "saved" }]);

    const twice = await post("/twice");
    expect(purger.calls.slice(1)).toEqual([{ tags: ["a"] }, { tags: ["b"] }]);
    expect(twice.headers.getSetCookie()).toEqual([cookieOf(3)]);
  });

  test("items whose purgeNow failed go with the next one, or with the purge at the end, but after no error", async () => {
    const failure = new PurgeTimeout("no answer", { attempts: 5 });
    const collectAndFail = async () => {
      purgeLater({ tags: new Set(["a"]) });
      const purging = purgeNow({ reason: "saved" });
      purgeLater({ urls: ["/b"] });
      await expect(purging).rejects.toBe(failure);
    };
    await start({
      "POST /again": async () => {
        await collectAndFail();
        expect(await purgeNow()).toMatchObject({ seq: 1 });
        expect(await purgeNow()).toBeNull();
        return {};
      },
      "POST /end": async () => {
        await collectAndFail();
        return {};
      },
      "POST /error": async () => {
        await collectAndFail();
        throw failure;
      },
    });
    for (const path of ["/again", "/end", "/error"]) {
      purger.failNext(failure);
      await (await post(path)).text();
    }
    const failed = { tags: ["a"], reason: "saved" };
    const both = { tags: ["a"], urls: ["/b"] };
    expect(purger.calls).toEqual([failed, both, failed, both, failed]);
  });

  test("purgeNow refuses items, which only purgeLater takes, even if nothing was collected", async () => {
    const items = { tags: ["song:42"] } as object;
    const refusal = /^purgeNow, options: tags: unknown key/;
    await start({
      "POST /songs/42": async () => {
        await expect(purgeNow(items)).rejects.toThrow(refusal);
        purgeLater({ urls: ["/songs/42"] });
        await expect(purgeNow(items)).rejects.toThrow(refusal);
        return { body: "saved" };
      },
    });

    expect(await (await post("/songs/42")).text()).toBe("saved");
    expect(purger.calls).toEqual([{ urls: ["/songs/42"] }]);
  });

  test("if the purge fails, the response is unchanged, and the error is reported", async () => {
    const failure = new PurgeTimeout("no answer", { attempts: 5 });
    await start({
      "POST /songs/42": async () => {
        purgeLater({ tags: ["song:42"] });
        return { status: 201, fields: { "X-Own": "1", "Cache-Tag": "own" }, body: "saved" };
      },
    });
    purger.failNext(failure);

    const answer = await post("/songs/42");

    expect([answer.status, answer.headers.get("x-own"), await answer.text()]).toEqual([201, "1", "saved"]);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(errors).toEqual([failure]);
  });

  test.each([
    [
      "throws",
      (reason: Error) => {
        throw reason;
      },
    ],
    [
      "rejects",
      async (reason: Error) => {
        throw reason;
      },
    ],
  ])("if onPurgeError %s, the answer is sent anyway, and both errors are printed", async (_, fail) => {
    const [failure, broken] = [new PurgeTimeout("no answer", { attempts: 5 }), new Error("no log")];
    const print = vi.spyOn(console, "error").mockImplementation(() => {});
    try {
      const save: Handler = async () => {
        purgeLater({ tags: ["song:42"] });
        return { status: 201 };
      };
      await start({ "POST /songs/42": save }, { onPurgeError: () => fail(broken) });
      purger.failNext(failure);
      expect((await post("/songs/42")).status).toBe(201);
      expect(print).toHaveBeenCalledExactlyOnceWith("onPurgeError failed:", broken, "It was told of:", failure);
    } finally {
      print.mockRestore();
    }
  });

  test("tags that the edge would not store are refused, and none is written", async () => {
    const tried: Record<string, () => void> = {
      space: () => tag("fine", "two words"),
      long: () => tag("x".repeat(257)),
      "too-many": () => tag(Array.from({ length: 999 }, (_, index) => `t${index}`)),
      "too-large": () => tag(Array.from({ length: 300 }, (_, index) => `${index}${"x".repeat(250)}`)),
      misspelt: () => purgeLater({ tag: ["a"] } as object),
      "invalid-purge": () => purgeLater({ urls: ["about"] }),
    };
    const outcome = (attempt: () => void) => {
      try {
        attempt();
        return "accepted";
      } catch (error) {
        return String(error);
      }
    };
    const handler =
      (name: string): Handler =>
      async () => {
        tag("a", "b");
        return { body: outcome(tried[name]!) };
      };
    await start(Object.fromEntries(Object.keys(tried).map((name) => [`GET /${name}`, handler(name)])));
    const answers: Record<string, string> = {};
    for (const name of Object.keys(tried)) {
      const answer = await send(`/${name}`);
      expect(answer.headers.get("cache-tag")).toBe("a,b");
      answers[name] = await answer.text();
    }
    expect(answers).toEqual({
      space: expect.stringMatching(/^TypeError: tag: "two words" is not a valid tag: a tag must be printable ASCII/),
      long: expect.stringMatching(/^TypeError: tag: "x+…? is not a valid tag: a tag can have at most 256 bytes/),
      "too-many": expect.stringMatching(/^TypeError: tag: this response would have 1001 tags .* more than 1000 tags/),
      "too-large": expect.stringMatching(/^TypeError: tag: .* 302 tags of 7\d{4} bytes/),
      misspelt: expect.stringMatching(/^TypeError: purgeLater: .*tag/),
      "invalid-purge": expect.stringMatching(/^TypeError: purgeLater: urls\[0\]: must be a path that starts with \//),
    });
  });

  test("a response may have as many tags as the site allows", async () => {
    const tags = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);
    await start({
      "GET /at": async () => {
        tag(tags(1000));
        return {};
      },
    });
    expect((await send("/at")).headers.get("cache-tag")?.split(",")).toHaveLength(1000);
  });

  test("a tag after the head was sent is refused, because it would not be on the response", async () => {
    await start({});
    const answer = await send("/streamed");
    expect(answer.headers.get("cache-tag")).toBe("own,early");
    expect(answer.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(await answer.text()).toBe(
      'head. tag: the response head was sent already, so it cannot carry "late". Call it before the first byte: in Astro ' +
        "in the page's frontmatter, elsewhere not in a streamed promise.",
    );
  });

  describe.skipIf(framework === "express")("that asks its own app", () => {
    const ask = (path: string) => app!.askItself!(path);
    const many = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}`);
    const pages: Routes = {
      "GET /songs/42": async () => {
        tag("page");
        return { body: (await ask("/api/songs/42")).body };
      },
      // Not to be stored itself, and its data is on the page all the same.
      "GET /api/songs/42": async () => ({
        fields: { "Cache-Control": "private, no-store" },
        body: `${await findSong("42")} ${(await ask("/api/artists/7")).body}`,
      }),
      "GET /api/artists/7": async () => {
        tag("artist:7");
        return { status: 404, body: "nobody" };
      },
    };

    test("the page has the tags of all that answered it", async () => {
      await start(pages);
      const page = await send("/songs/42");
      expect(await page.text()).toBe("song 42 nobody");
      expect(page.headers.get("cache-tag")).toBe("page,song:42,songs,late,artist:7");
      expect((await send("/api/songs/42")).headers.get("cache-tag")).toBe("song:42,songs,late,artist:7");
      expect((await send("/api/artists/7")).headers.get("cache-tag")).toBe("artist:7");
    });

    test("a page does not get the tags of another one's", async () => {
      const bothAsk = Promise.withResolvers<void>();
      let asking = 0;
      const inner: (name: string) => Handler = (name) => async () => {
        asking += 1;
        if (asking === 2) bothAsk.resolve();
        await bothAsk.promise;
        tag(name);
        return {};
      };
      const outer: (path: string) => Handler = (path) => async () => ({ body: (await ask(path)).body });
      await start({
        "GET /a": outer("/in-a"),
        "GET /in-a": inner("a"),
        "GET /b": outer("/in-b"),
        "GET /in-b": inner("b"),
      });
      const answers = await Promise.all([send("/a"), send("/b")]);
      expect(answers.map(({ headers }) => headers.get("cache-tag"))).toEqual(["a", "b"]);
    });

    test("more tags than the page may have are refused, and neither has one of them", async () => {
      await start({
        "GET /": async () => {
          tag(many("page", 999));
          return { body: (await ask("/inner")).body };
        },
        "GET /inner": async () => {
          const attempt = async () => tag("a", "b");
          const refused = await attempt().then(String, String);
          tag("a");
          return { body: refused };
        },
      });
      const page = await send("/");
      expect(await page.text()).toMatch(/^TypeError: tag: this response would have 1001 tags/);
      expect(page.headers.get("cache-tag")).toBe([...many("page", 999), "a"].join(","));
      expect((await send("/inner")).headers.get("cache-tag")).toBe("a,b");
    });

    test.each<[string, Handler]>([
      ["after its answer", async () => ({})],
      [
        "after its failure",
        async () => {
          throw new Error("no song");
        },
      ],
    ])("what it asks %s is answered, with any number of tags", async (_, handler) => {
      const answered = Promise.withResolvers<void>();
      const after = Promise.withResolvers<unknown>();
      await start({
        "GET /": async (request) => {
          tag(many("page", 1000));
          void answered.promise.then(() => ask("/inner")).then(after.resolve, after.resolve);
          return handler(request);
        },
        "GET /inner": async () => {
          tag(many("inner", 1000));
          return { body: "inner" };
        },
      });
      await (await send("/")).text();
      answered.resolve();
      expect(await after.promise).toEqual({ status: 200, body: "inner" });
    });
  });

  test("a purge after the answer is refused, because nobody would send it", async () => {
    const answered = Promise.withResolvers<void>();
    const after = Promise.withResolvers<string>();
    await start({
      "GET /": async () => {
        void answered.promise.then(() => {
          try {
            purgeLater({ tags: ["a"] });
            after.resolve("collected");
          } catch (error) {
            after.resolve((error as Error).message);
          }
        });
        return {};
      },
    });
    await (await send("/")).text();
    answered.resolve();
    expect(await after.promise).toMatch(/^purgeLater: the request was answered/);
  });

  test("purgeLater without a purger is refused", async () => {
    await start(
      {
        "GET /": async () => {
          const attempt = async () => purgeLater({ tags: ["a"] });
          return { body: await attempt().then(String, (error: Error) => error.message) };
        },
      },
      { purger: undefined },
    );
    expect(await (await send("/")).text()).toBe("purgeLater: the middleware has no purger. Give it one: { purger }.");
  });
});

test.each([
  { options: { purgers: purger }, message: /^(tidemark|respond), options: .*purgers.*did you mean purger\b/ },
  { options: { purger: {} }, message: /options: purger: must be a purger/ },
  { options: { maxTags: 0 }, message: /options: maxTags: / },
  { options: { onPurgeError: "log" }, message: /options: onPurgeError: must be a function/ },
])("invalid options are refused: $options", async ({ options, message }) => {
  expect(() => forExpress(options as RequestOptions)).toThrow(message);
  expect(() => forHono(options as RequestOptions)).toThrow(message);
  await expect(forFastify({ addHook: () => {} }, options as RequestOptions)).rejects.toThrow(message);
  await expect(respond(() => new Response(), options as RequestOptions)).rejects.toThrow(message);
});

test("a page has the tags of what another copy of the middleware answers for it", async () => {
  const another = "../../../sdk/frameworks/request-scope.ts?another";
  const copy = (await import(another)) as typeof import("../../../sdk/frameworks/request-scope.ts");
  expect(copy.tag).not.toBe(tag);
  const page = await respond(() => {
    copy.inScope(new copy.RequestScope({}), () => copy.tag("a"));
    return new Response();
  });
  expect(page.headers.get("cache-tag")).toBe("a");
});

test.each([
  ["tag", () => tag("a")],
  ["purgeLater", () => purgeLater({ tags: ["a"] })],
  ["purgeNow", () => purgeNow()],
])("%s outside a request says so", (name, call) => {
  expect(call).toThrow(`${name}: this code runs outside a request`);
});
