import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Cdn, ROUND_TRIPS, startCdn } from "tidemark/local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import "tidemark/local/matchers";
import { page } from "./pages.ts";

/** A server whose pages have a date of their own, and that speaks another protocol if it is asked to. */
const backend = createServer(({ url }, response) => {
  const now = Date.now(); // Node's own Date may be a second older, and the lifetime longer by as much
  const date = new Date(now).toUTCString();
  const expires = new Date(now + 60_000).toUTCString();
  response.writeHead(200, url === "/short" ? { date, "cache-control": "max-age=1" } : { date, expires }).end("v1");
}).on("upgrade", ({ headers }, socket) => {
  const key = `${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`; // RFC 6455, section 1.3
  const accept = createHash("sha1").update(key).digest("base64");
  const fields = ["upgrade: websocket", "connection: upgrade", `sec-websocket-accept: ${accept}`];
  socket.end(["HTTP/1.1 101 Switching Protocols", ...fields, "", ""].join("\r\n"));
});

/** A CDN whose origin is that server. */
let byUrl: Cdn;

beforeAll(async () => {
  await new Promise<void>((resolve) => backend.listen(0, "127.0.0.1", resolve));
  const { port } = backend.address() as AddressInfo;
  byUrl = await startCdn({ site: {}, origin: `http://127.0.0.1:${port}` });
});

afterAll(async () => {
  await byUrl.close();
  await new Promise((resolve) => backend.close(resolve));
});

/** The time that an answer took in the PoP, in real milliseconds. */
function popMs(serverTiming: string | undefined): number {
  return Number(/pop;dur=(\d+)/.exec(serverTiming ?? "")?.[1]);
}

describe("round trips", () => {
  test("delay a miss, which calls the origin and the log, and not a hit", async () => {
    const latency = { syd: { clientMs: 2, originMs: 40, logMs: 20 } };
    await using cdn = await startCdn({ site: {}, origin: { "/about": page("v1") }, regions: ["nyc", "syd"], latency });
    const miss = await cdn.get("/about", { from: "syd" });
    // 20 to the log, which is read before, and 40 to the origin. A timer may fire a millisecond early.
    expect(popMs(miss.fields["server-timing"])).toBeGreaterThanOrEqual(58);
    expect(miss.fields["server-timing"]).toMatch(
      /^client;dur=2;desc="round trip", origin;dur=\d+;desc="round trip", log;dur=\d+;desc="round trip", pop;dur=\d+;desc="took"$/,
    );
    const hits = [];
    for (let index = 0; index < 10; index++) hits.push(await cdn.get("/about", { from: "syd" }));
    expect(hits.map(({ xCache }) => xCache)).toEqual(hits.map(() => "HIT"));
    // The quickest of ten, because a busy machine may delay one of them by as much as a round trip.
    expect(Math.min(...hits.map(({ fields }) => popMs(fields["server-timing"])))).toBeLessThan(40);
    expect((await cdn.get("/about", { from: "nyc" })).fields).not.toHaveProperty("server-timing");
  });

  test("are off by default, and their table has these regions", async () => {
    expect(Object.keys(ROUND_TRIPS)).toEqual(["sfo", "nyc", "lon", "fra", "bom", "gru", "syd"]);
    await expect(startCdn({ site: {}, regions: ["mars"], latency: true })).rejects.toThrow("the round trips of mars");
  });
});

describe("an origin on real time", () => {
  test("has its dates shifted to the CDN's time, so that its page is new even an hour later", {
    tags: ["deep"],
  }, async () => {
    await using behind = await startCdn({ site: {}, origin: { "/a": { body: "v1" } } });
    behind.origin.reply("/a", {
      fields: { "cache-control": "max-age=60", date: new Date().toUTCString() },
      body: "v1",
    });
    await using cdn = await startCdn({ site: {}, origin: behind.origin.url });
    await cdn.advance("1h");
    await expect(cdn.get("/a")).toMiss();
    await expect(cdn.get("/a")).toHit();
    await cdn.advance("61s");
    await expect(cdn.get("/a")).toMiss();
    expect(() => cdn.origin).toThrow("The origin of this CDN is a URL");
    expect(behind.origin).toHaveSeen("/a", 2);
  });

  test("has a page of this second stored for its whole lifetime", async () => {
    await byUrl.advance(`${1100 - (byUrl.now % 1000)}ms`); // early in a second, the real clock is further in its own
    await expect(byUrl.get("/short")).toMiss();
    await expect(byUrl.get("/short")).toHit();
    await byUrl.get("/long");
    await byUrl.advance("59s");
    await expect(byUrl.get("/long")).toHit();
    await byUrl.advance("1s");
    await expect(byUrl.get("/long")).toMiss();
  });

  test("has what is no date passed on as it is", { tags: ["deep"] }, async () => {
    await using behind = await startCdn({ site: {}, origin: { "/a": { fields: { expires: "-1" }, body: "v1" } } });
    await using cdn = await startCdn({ site: {}, origin: behind.origin.url });
    expect(await cdn.get("/a")).toMatchObject({ fields: { expires: "-1" } });
  });
});

test("a site's limits for its origin hold for the one in its place", async () => {
  const origin = { url: "https://origin.example.com", concurrency: 1, queue: { maxMs: 0 } };
  await using cdn = await startCdn({ site: { origin }, origin: { "/a": { ...page("v1"), hold: "a" } } });
  const held = cdn.get("/a");
  await cdn.origin.waitUntilSeen("/a", 1);
  expect(await cdn.get("/b")).toMatchObject({ status: 503 });
  cdn.origin.release("a");
  expect(await held).toMatchObject({ body: "v1" });
});

const OTHER_ORIGINS = [{ service: "APP" }, { url: ["http://a.test", "http://b.test"] }, ""] as const;

test.each(OTHER_ORIGINS.slice(0, 1))("a script stands in for a site's origin %j", standsIn);
test.each(OTHER_ORIGINS.slice(1))("a script stands in for a site's origin %j", { tags: ["deep"] }, standsIn);

async function standsIn(given: (typeof OTHER_ORIGINS)[number]): Promise<void> {
  await using cdn = await startCdn({ site: { origin: given as string }, origin: { "/a": page("v2") } });
  expect(await cdn.get("/a")).toMatchObject({ body: "v2" });
}

test("the public address is in cache keys and forwarded, whatever the PoP's own address is", {
  tags: ["deep"],
}, async () => {
  const publicUrl = "https://www.example.com";
  await using cdn = await startCdn({ site: {}, origin: { "/about": page("v1") }, publicUrl });
  await expect(cdn.get("/about")).toMiss();
  expect((await fetch(`${cdn.url()}/about`)).headers.get("x-cache")).toBe("HIT");
  expect(cdn.origin.seen[0]?.fields).toMatchObject({
    "x-forwarded-proto": "https",
    "x-forwarded-host": "www.example.com",
    "x-forwarded-for": "192.0.2.7",
  });
});

test("a visitor has a country and an address, and a proxy in between has its own", { tags: ["deep"] }, async () => {
  const site = {
    trustedProxies: ["198.51.100.0/24"],
    countryField: "X-Geo",
    routes: [{ match: "/*", key: { country: true } }],
  };
  await using cdn = await startCdn({ site, origin: { "/about": page("v1") } });
  await expect(cdn.get("/about", { country: "DE" })).toBeStored();
  expect(cdn.origin.seen[0]?.fields).toMatchObject({ "x-country": "DE", "x-forwarded-for": "192.0.2.7" });
  const behindProxy = { address: "198.51.100.9", country: "US", fields: { "X-Geo": "DE" } };
  await expect(cdn.get("/about", behindProxy)).toHit();
  await expect(cdn.get("/about", { ...behindProxy, address: "203.0.113.9" })).toMiss();
  expect(cdn.origin.seen[1]?.fields).toMatchObject({ "x-country": "US", "x-forwarded-for": "203.0.113.9" });
  await expect(cdn.get("/about")).toMiss();
  expect(cdn.origin.seen[2]?.fields).toMatchObject({ "x-country": "XX" });
});

test("a request that becomes a connection of another protocol has the head of the answer and no body", async () => {
  const handshake = {
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-version": "13",
  };
  const answer = await byUrl.get("/chat", { fields: handshake });
  expect(answer).toMatchObject({ status: 101, fields: { upgrade: "websocket" }, body: "", cutOff: false });
  const connect = await byUrl.request("/chat", { method: "CONNECT" });
  expect(connect).toMatchObject({ status: expect.any(Number), body: "" });
});

test("unknown regions and isolates are refused", { tags: ["deep"] }, async () => {
  await using cdn = await startCdn({ site: {}, regions: ["fra"] });
  await expect(cdn.get("/", { from: "syd" as "fra" })).rejects.toThrow("no region syd: it has fra");
  await expect(cdn.get("/", { isolate: 1 })).rejects.toThrow("fra has no isolate 1");
  await expect(startCdn({ site: {}, regions: ["fra", "fra"] })).rejects.toThrow(
    "startCdn: regions: must have each name once",
  );
});
