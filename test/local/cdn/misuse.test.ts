import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { assertHit, assertSeen, type Cdn, ConfigFileError, startCdn } from "tidemark/local";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import "tidemark/local/matchers";
import { runScript } from "../../packed/run-script.ts";
import { page } from "./pages.ts";

// The calls that TypeScript refuses and JavaScript can still make.
type Loose = (...args: unknown[]) => Promise<Cdn>;

const HOW_TO_NAME_A_SITE =
  'Write startCdn({ site: {} }) for a site without rules, or startCdn({ config: "tidemark.config.ts" }) for one in a file.';

const reply = "must be an object, like";

const misuses: { name: string; args: readonly unknown[]; message: string }[] = [
  { name: "no arguments", args: [], message: `startCdn: there is no site. ${HOW_TO_NAME_A_SITE}` },
  { name: "no options", args: [null], message: `startCdn: there is no site. ${HOW_TO_NAME_A_SITE}` },
  {
    name: "neither site nor config",
    args: [{ regions: ["nyc"] }],
    message: `startCdn: there is no site. ${HOW_TO_NAME_A_SITE}`,
  },
  {
    name: "site together with config",
    args: [{ site: {}, config: "tidemark.config.ts" }],
    message: "startCdn: the options site and config both name the site; leave one of them out.",
  },
  {
    name: "a file as the site",
    args: [{ site: "tidemark.config.ts" }],
    message:
      'startCdn: site: must be the site\'s rules as an object, like {}; a file with rules is named by config (got "tidemark.config.ts")',
  },
  {
    name: "rules as the config",
    args: [{ config: {} }],
    message: 'startCdn: config: must be the name of a file, like "tidemark.config.ts"; rules as an object go into site',
  },
  {
    name: "a site with a misspelt key",
    args: [{ site: { rotes: [] } }],
    message:
      "startCdn: the site's rules are not valid:\n  rotes: unknown key; did you mean routes? Known here: origin, ",
  },
  {
    name: "a site with a wrong route",
    args: [{ site: { routes: [{ match: "no slash" }] } }],
    message: "startCdn: the site's rules are not valid:\n  routes[0].match: ",
  },
  {
    name: "regions in one text",
    args: [{ site: {}, regions: "nyc, fra" }],
    message: 'startCdn: regions: must be a list of names: write regions: ["nyc", "fra"] (got "nyc, fra")',
  },
  { name: "no region", args: [{ site: {}, regions: [] }], message: "startCdn: regions: must have at least one name" },
  {
    name: "a region twice",
    args: [{ site: {}, regions: ["nyc", "nyc"] }],
    message: "startCdn: regions: must have each name once",
  },
  {
    name: "a region with a slash",
    args: [{ site: {}, regions: ["eu/fra"] }],
    message: "startCdn: regions[0]: must be a name without slashes",
  },
  {
    name: "a region in letters that are not Latin",
    args: [{ site: {}, regions: ["münchen", "東京"] }],
    message: 'startCdn: regions[1]: must be a name in Latin letters, like "tyo" (got "東京")',
  },
  {
    name: "region instead of regions",
    args: [{ site: {}, region: "nyc" }],
    message: "startCdn: region: unknown key; did you mean regions? Known here: site, config, origin, regions, ",
  },
  {
    name: "headers",
    args: [{ site: {}, headers: {} }],
    message: "startCdn: headers: unknown key. Known here: site, config, origin, regions, ",
  },
  {
    name: "half an isolate",
    args: [{ site: {}, isolates: 0.5 }],
    message: "startCdn: isolates: must be a whole number, 1 or more (got 0.5)",
  },
  {
    name: "no isolate",
    args: [{ site: {}, isolates: 0 }],
    message: "startCdn: isolates: must be a whole number, 1 or more (got 0)",
  },
  {
    name: "an empty token",
    args: [{ site: {}, token: "" }],
    message: "startCdn: token: must not be empty",
  },
  {
    name: "a public address without a scheme",
    args: [{ site: {}, publicUrl: "www.example.com" }],
    message:
      'startCdn: publicUrl: must be scheme and host, like https://www.example.com, without a path (got "www.example.com")',
  },
  {
    name: "an origin with a path",
    args: [{ site: {}, origin: "http://localhost:8000/app" }],
    message:
      'startCdn: origin: must be a running site like "http://localhost:8000", without a path, or replies by path ',
  },
  {
    name: "an origin with a user and password",
    args: [{ site: {}, origin: "http://user:secret@localhost:8000" }],
    message:
      'startCdn: origin: cannot have a user and password; give the site originFields: { authorization: "Basic …" }',
  },
  {
    name: "an origin with a password alone, as a URL",
    args: [{ site: {}, origin: new URL("http://:secret@localhost:8000") }],
    message: "startCdn: origin: cannot have a user and password;",
  },
  {
    name: "latency in one word",
    args: [{ site: {}, latency: "high" }],
    message: "startCdn: latency: must be true, false, or round trips by region like { nyc: { clientMs: 12, ",
  },
  {
    name: "a string as a reply",
    args: [{ site: {}, origin: { "/about": "v1" } }],
    message: 'startCdn, origin: the reply for /about is a string. A reply is an object; write { body: "v1" }.',
  },
  {
    name: "a number as a reply",
    args: [{ site: {}, origin: { "/about": 404 } }],
    message: `startCdn, origin: the reply for /about: a reply ${reply} { body: "v1" } (got 404)`,
  },
  {
    name: "the headers of a reply",
    args: [{ site: {}, origin: { "/about": [{ body: "v1" }, { headers: {} }] } }],
    message:
      "startCdn, origin: reply 2 for /about: headers: unknown key; did you mean fields? Known here: status, fields, ",
  },
  {
    name: "the path of a reply without its slash",
    args: [{ site: {}, origin: { about: { body: "v1" } } }],
    message: 'startCdn, origin: "about" is not a path. A path begins with a slash: write "/about".',
  },
  {
    name: "the path of a reply in letters that a URL escapes",
    args: [{ site: {}, origin: { "/café b?é": { body: "v1" } } }],
    message:
      'startCdn, origin: the origin never sees "/café b?é", because the edge spells it "/caf%C3%A9%20b?%C3%A9". Write that.',
  },
  {
    name: "the path of a reply with escapes that need not be",
    args: [{ site: {}, origin: { "/%7Eu/%2fé": { body: "v1" } } }],
    message: 'startCdn, origin: the origin never sees "/%7Eu/%2fé", because the edge spells it "/~u/%2F%C3%A9".',
  },
  {
    name: "the path of a reply with a fragment",
    args: [{ site: {}, origin: { "/x#y": { body: "v1" } } }],
    message: 'startCdn, origin: the origin never sees "/x#y", because the edge spells it "/x". Write that.',
  },
  {
    name: "a list of no replies",
    args: [{ site: {}, origin: { "/about": [] } }],
    message: 'startCdn, origin: the reply is missing. Write one like { body: "v1" }.',
  },
];

describe("starting a CDN", () => {
  test.for(misuses)("with $name is refused with what to write", async ({ args, message }) => {
    const error = await (startCdn as unknown as Loose)(...args).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as TypeError).message.slice(0, message.length)).toBe(message);
  });

  test("where a Uint8Array is another one than Node's, as in jsdom, is refused with what to write", async () => {
    vi.stubGlobal("Uint8Array", runInNewContext("Uint8Array"));
    try {
      await expect(startCdn({ site: {} })).rejects.toThrow(
        "startCdn: esbuild does not run in jsdom. Write // @vitest-environment node",
      );
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test("in Bun is refused with what to do", async () => {
    vi.stubGlobal("process", { ...process, versions: { ...process.versions, bun: "1.4.5" } });
    try {
      await expect(startCdn({ site: {} })).rejects.toThrow(
        "startCdn: this is Bun 1.4.5, and a CDN needs Node: run these tests in Node.",
      );
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test("with a config that has a mistake names it, and shows none of the bundled code", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tidemark-mistake-"));
    const config = join(folder, "tidemark.config.ts");
    const site = '{ origin: "http://127.0.0.1:1", rotes: [] }';
    await writeFile(config, `import { defineSite } from "tidemark/worker";\nexport default defineSite(${site});\n`);
    const error = (await startCdn({ config }).catch((error: unknown) => error)) as Error;
    await rm(folder, { recursive: true });

    expect(error).toBeInstanceOf(ConfigFileError);
    expect(error.message).toContain(
      `${config}: the site's rules are not valid:\n  rotes: unknown key; did you mean routes?`,
    );
    const shown = `${error.stack}${(error.cause as Error).stack}`;
    expect(shown).not.toContain("data:");
    expect(shown.length).toBeLessThan(5_000);
  });
});

describe("asking a CDN", () => {
  let cdn: Cdn;

  beforeAll(async () => {
    cdn = await startCdn({ site: {}, origin: { "/about": page("v1") } });
  });

  afterAll(() => cdn.close());

  test.each([
    ["about", {}, 'cdn.get("about"): this is not a path. A path begins with a slash: write "/about".'],
    [undefined, {}, 'cdn.get(undefined): this is not a path. A path is a string, like "/about".'],
    ["", {}, 'cdn.get(""): this is not a path. A path begins with a slash: write "/".'],
    [
      "http://www.example.test/about?a=1",
      {},
      'cdn.get("http://www.example.test/about?a=1"): this is not a path. Write the path "/about?a=1" without scheme and host.',
    ],
    [
      "/über uns?q=日",
      {},
      'cdn.get("/über uns?q=日"): this has a character that no path can have. Write "/%C3%BCber%20uns?q=%E6%97%A5".',
    ],
    ["/about", { headers: {} }, 'cdn.get("/about"): headers: unknown key; did you mean fields? Known here: from, '],
    ["/about", { region: "nyc" }, 'cdn.get("/about"): region: unknown key; did you mean from? Known here: from, '],
    ["/about", { fields: { a: 1 } }, 'cdn.get("/about"): fields.a: '],
    ["/about", { country: "Germany" }, 'cdn.get("/about"): country: must be a country of ISO 3166-1, like "DE"'],
    ["/about", { address: "localhost" }, 'cdn.get("/about"): address: must be an IP address, like "192.0.2.7"'],
  ])("for %j with %j is refused with what to write", async (path, request, message) => {
    const error = await cdn.get(path as string, request as object).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as TypeError).message.slice(0, message.length)).toBe(message);
    expect(cdn.origin.seen).toEqual([]);
  });

  test("for a reply that is a string, later, is refused with what to write", () => {
    expect(() => cdn.origin.reply("/late", "v1" as never)).toThrow(
      'origin.reply: the reply for /late is a string. A reply is an object; write { body: "v1" }.',
    );
  });

  test.each([
    [{ fields: { "cache-tag": "日本" } }, 'fields.cache-tag: has a character that no field can have (got "日本")'],
    [{ fields: { "set-cookie": ["a=1", "b=\n"] } }, "fields.set-cookie[1]: has a character that no field can have"],
    [{ fields: { "x y": "1" } }, 'fields.x y: is not the name of a field (got "x y")'],
    [{ fields: { a: 1 } }, "fields.a: must be a string, or a list of them for several lines (got 1)"],
    [{ interims: [{ status: 103, fields: { link: "日本" } }] }, "interims[0].fields.link: has a character that no"],
    [{ status: 0 }, "status: must be 200 to 999 (got 0)"],
    [{ status: 103 }, "status: must be 200 to 999 (got 103)"],
    [{ status: 1000 }, "status: must be 200 to 999 (got 1000)"],
  ])("for a reply that HTTP does not allow, %j, is refused with the place", (reply, message) => {
    expect(() => cdn.origin.reply("/late", reply as never)).toThrow(`origin.reply: the reply for /late: ${message}`);
  });

  test("for a reply that Node refuses only when it is sent closes the connection", async () => {
    cdn.origin.reply("/trailer", { fields: { trailer: "x" } });
    expect(await cdn.get("/trailer")).toMatchObject({
      status: 502,
      cacheStatus: "tidemark; detail=origin-unreachable",
    });
  });

  test("to have seen what is no path is refused with what to write, also for never", () => {
    expect(() => expect(cdn.origin).toHaveSeen("about", 0)).toThrow(
      new TypeError('toHaveSeen: "about" is not a path. A path begins with a slash: write "/about".'),
    );
    expect(() => expect(cdn.origin).not.toHaveSeen("/café")).toThrow(
      new TypeError('toHaveSeen: the origin never sees "/café", because the edge spells it "/caf%C3%A9". Write that.'),
    );
    expect(() => assertSeen(cdn.origin, "https://www.example.test/about?a=1", 0)).toThrow(
      'is not a path. Write the path "/about?a=1" without scheme and host.',
    );
  });

  test("to release what no request waits for names the hold, and what is held back", async () => {
    cdn.origin.reply("/slow", { ...page("v1"), hold: "slow" });
    const answer = cdn.get("/slow");
    await cdn.origin.waitUntilSeen("/slow", 1);
    expect(() => cdn.origin.release("slwo")).toThrow(
      'origin.release: no request waits for the hold "slwo"; held back are "slow". Wait for the request before: ' +
        "await origin.waitUntilSeen(target, 1).",
    );
    cdn.origin.release("slow");
    expect((await answer).body).toBe("v1");
    expect(() => cdn.origin.release("slow")).toThrow(
      'origin.release: no request waits for the hold "slow"; none is held back.',
    );
  });

  test("to settle without a receipt, or with the promise of one, is refused, and its time stays as it is", async () => {
    const before = cdn.now;
    const settle = (receipt: unknown) => cdn.settle(receipt as never);
    const how = 'It takes the receipt of a purge; write await cdn.settle(await cdn.purger.purgeUrls("/about")).';
    await expect(settle(undefined)).rejects.toThrow(`cdn.settle: this is no receipt. ${how}`);
    await expect(settle({ settlesInMs: -1000 })).rejects.toThrow(`cdn.settle: this is no receipt. ${how}`);
    await expect(settle({ settlesInMs: Number.NaN })).rejects.toThrow(`cdn.settle: this is no receipt. ${how}`);
    await expect(settle(cdn.purger.purgeUrls("/late"))).rejects.toThrow(`cdn.settle: this is a promise. ${how}`);
    expect(cdn.now).toBe(before);
  });

  test("with fetch, the matchers take the response, or the promise of one", async () => {
    const url = `${cdn.url()}/about`;
    await expect(fetch(url)).toMiss();
    const response = await fetch(url);
    await expect(response).toHit();
    expect(await response.text()).toBe("v1");
    await expect(fetch(url)).toHaveAgeAbout(0);
    await expect(fetch(url)).not.toBypass();
    await assertHit(fetch(url));
    await expect(async () => expect(fetch(url)).toMiss()).rejects.toThrow(
      `expected a miss, got HIT\n\n  response           200 from ${url}\n  X-Cache            HIT\n  Cache-Status       tidemark; hit; ttl=`,
    );
  });

  test("with fetch at its own address, a site that names its hosts answers as its public host", async () => {
    const site = { hosts: ["shop.example.test", "www.example.test"] };
    await using named = await startCdn({ site, origin: { "/about": page("v1") } });
    const url = `${named.url()}/about`;
    await expect(fetch(url)).toMiss();
    await expect(fetch(url)).toHit();
    await expect(named.get("/about")).toHit();
    await named.settle(await named.purger.purgeUrls("http://shop.example.test/about"));
    await expect(fetch(url)).toMiss();
    expect(await (await fetch(url, { method: "POST", body: "sent" })).text()).toBe("v1");
    expect(named.origin.seen.at(-1)).toMatchObject({
      body: "sent",
      fields: { "x-forwarded-host": "shop.example.test" },
    });
    expect(await named.get("/about", { host: "other.example.test" })).toMatchObject({ status: 421 });
  });

  test("a response without X-Cache fails a matcher in words, and a wrong subject is refused", async () => {
    const fromElsewhere = expect(new Response("x")).toHit();
    await expect(fromElsewhere).rejects.toThrow(
      "expected a hit, got a response without X-Cache: it did not come through a Tidemark edge",
    );
    await expect(expect(fetch(`${cdn.url()}/about`)).toBeStored()).rejects.toThrow(
      "This matcher sends the same request again, but a Response does not carry its request: fetch twice and use toHit.",
    );
    await expect(expect("v1").toHit()).rejects.toThrow("this takes an answer of a simulated CDN, as cdn.get and ");
    expect(() => expect(cdn).toHaveSeen("/about")).toThrow(
      "toHaveSeen: this takes the scripted origin of a simulated CDN, cdn.origin",
    );
    await expect(expect(cdn.origin).toNeverStore("/about")).rejects.toThrow(
      "toNeverStore: this takes a simulated CDN, as startCdn returns it",
    );
  });
});

test("a request that is not HTTP keeps no process alive after the CDN was closed", { tags: ["deep"] }, async () => {
  const script = `
    import { once } from "node:events";
    import { connect } from "node:net";
    import { startCdn } from "tidemark/local";
    const cdn = await startCdn({ site: {} });
    const socket = connect(Number(new URL(cdn.url()).port), "127.0.0.1");
    socket.on("error", () => undefined); // the closing resets a connection whose end has not come yet
    socket.write("GET about HTTP/1.1\\r\\nhost: a.test\\r\\nconnection: close\\r\\n\\r\\n");
    console.log(String((await once(socket, "data"))[0]).split("\\r\\n")[0]);
    await cdn.close();
    console.log("closed");`;
  const ended = await runScript(script);
  const stdout = expect.stringMatching(/^HTTP\/1\.1 \d+ .*\nclosed\n$/);
  expect(ended).toEqual({ exit: 0, stdout, stderr: "" });
});
