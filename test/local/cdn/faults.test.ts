import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, get, type IncomingMessage } from "node:http";
import { connect, Socket } from "node:net";
import { type Cdn, startCdn } from "tidemark/local";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import "tidemark/local/matchers";
import { exchange } from "../../../local/cdn/exchange.ts";
import { page } from "./pages.ts";

/** Two regions with two isolates each, shared by all tests. Each test has pages of its own. */
let cdn: Cdn<"fra" | "syd">;

beforeAll(async () => {
  cdn = await startCdn({ site: {}, regions: ["fra", "syd"], isolates: 2 });
});

afterAll(() => cdn.close());

async function purgeOf(path: string, id: string, from: "fra" | "syd" = "fra") {
  const answer = await cdn.request("/_tidemark/purge", {
    from,
    method: "POST",
    token: cdn.token,
    fields: { "content-type": "application/json" },
    body: JSON.stringify({ urls: [path], id }),
  });
  return {
    status: answer.status,
    receipt: JSON.parse(answer.body) as { seq: number; logId: string; replayed: boolean },
  };
}

test("while the origin refuses connections, stored pages are served and all others are a 502", async () => {
  cdn.origin.reply("/kept", page("v1"));
  cdn.origin.reply("/new", page("v1"));
  await cdn.get("/kept");
  await cdn.origin.goDown();
  await expect(cdn.get("/kept")).toHit();
  expect(await cdn.get("/new")).toMatchObject({ status: 502, xCache: null });
  await cdn.origin.comeUp();
  expect(await cdn.get("/new")).toMatchObject({ status: 200, body: "v1" });
  expect(cdn.origin).toHaveSeen("/new", 1);
});

test("an origin counts a request only while somebody waits for one", async ({ onTestFinished }) => {
  const count = vi.spyOn(cdn.origin, "countOf");
  onTestFinished(() => count.mockRestore());
  const seen = cdn.origin.waitUntilSeen("/waited-for", 1);
  await cdn.get("/waited-for");
  await seen;
  count.mockClear();
  await cdn.get("/not-waited-for");
  expect(count).not.toHaveBeenCalled();
});

test("an origin that is up already comes up again without an error", async () => {
  const { url } = cdn.origin;
  await cdn.origin.comeUp();
  expect(cdn.origin.url).toBe(url);
});

test.runIf(process.platform === "linux")(
  "an origin and a PoP have ports that the system gives to no other connection while they are away",
  () => {
    const [first] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").trim().split(/\s+/);
    for (const url of [cdn.origin.url, cdn.url()]) expect(Number(new URL(url).port)).toBeLessThan(Number(first));
  },
);

test("an origin gives a request for another protocol the script's reply, and goes down although its client stays", async ({
  onTestFinished,
}) => {
  cdn.origin.reply("/socket", page("v1"));
  const socket = connect({ port: Number(new URL(cdn.origin.url).port), host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.write("GET /socket HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
  expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 200 /);
  await cdn.origin.goDown();
  await cdn.origin.comeUp();
  expect(cdn.origin).toHaveSeen("/socket", 1);
});

test("several lines of a field are joined by commas, in requests and answers, also of one that Node has once", async () => {
  cdn.origin.reply("/lines", { fields: { location: ["/a", "/b"] } });
  const agent = new Agent();
  const { fields } = await exchange(new URL(cdn.origin.url), agent, { path: "/lines", host: "a" });
  expect(fields.location).toBe("/a, /b");
  const request = get(`${cdn.origin.url}/lines`, { headers: ["host", "a", "user-agent", "c", "user-agent", "d"] });
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  answer.resume();
  expect(cdn.origin.seen.at(-1)?.fields["user-agent"]).toBe("c, d");
});

test("an origin that closes the connection instead of answering causes a 502", async () => {
  cdn.origin.reply("/reset", { failure: "reset" }, page("v1"));
  expect(await cdn.get("/reset")).toMatchObject({ status: 502, cacheStatus: "tidemark; detail=origin-unreachable" });
  expect(await cdn.get("/reset")).toMatchObject({ status: 200, body: "v1" });
  expect(cdn.origin).toHaveSeen("/reset", 2);
});

test("a 503 of the origin is passed on and not stored", { tags: ["deep"] }, async () => {
  cdn.origin.reply("/failing", { status: 503, body: "down" }, page("v1"));
  expect(await cdn.get("/failing")).toMatchObject({ status: 503, body: "down" });
  await expect(cdn.get("/failing")).toMiss();
  await expect(cdn.get("/failing")).toBeStored();
});

test("a body that is cut off reaches the visitor cut off, and is not stored", async () => {
  cdn.origin.reply("/cut", { ...page("a whole page"), cutAfterBytes: 5 }, page("a whole page"));
  expect(await cdn.get("/cut")).toMatchObject({ cutOff: true, body: "a who" });
  expect(await cdn.get("/cut")).toMatchObject({ xCache: "MISS", cutOff: false, body: "a whole page" });
});

test("all requests that wait for a held answer share it", async () => {
  cdn.origin.reply("/held", { ...page("v1"), hold: "gate" });
  const first = cdn.get("/held");
  await cdn.origin.waitUntilSeen("/held", 1);
  const second = cdn.get("/held");
  cdn.origin.release("gate");
  expect([(await first).body, (await second).body]).toEqual(["v1", "v1"]);
  expect(cdn.origin).toHaveSeen("/held", 1);
});

test("while a large page is half sent, the PoP answers other requests and can have faults", async () => {
  const site = { limits: { storeBytes: 1000 } };
  await using cdn = await startCdn({ site, isolates: 2 });
  const body = "x".repeat(100_000);
  cdn.origin.reply("/large", { ...page(body), hold: "rest", bytesBeforeHold: 50_000 });
  cdn.origin.reply("/small", page("v1"));
  const response = await fetch(`${cdn.url()}/large`);
  const reader = response.body!.getReader();
  let readBytes = 0;
  while (readBytes < 50_000) readBytes += (await reader.read()).value!.byteLength;

  expect(await cdn.get("/small", { isolate: 1 })).toMatchObject({ status: 200, body: "v1" });
  await cdn.pop().emptyCache();
  await cdn.pop().killIsolate(1);
  cdn.origin.release("rest");
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) readBytes += piece.value.byteLength;
  expect(readBytes).toBe(body.length);
  await expect(cdn.get("/large", { isolate: 1 })).toHit();
});

test("a slow origin delays only the requests that reach it", { tags: ["deep"] }, async () => {
  cdn.origin.reply("/slow", { ...page("v1"), delayMs: 20 });
  await expect(cdn.get("/slow")).toMiss();
  await expect(cdn.get("/slow")).toHit();
});

test("an answer of the origin that the network loses becomes a 502", async () => {
  cdn.origin.reply("/lost", page("v1"), page("v2"));
  await cdn.pop("fra").loseAnswers({ origin: 1 });
  expect(await cdn.get("/lost")).toMatchObject({ status: 502 });
  expect(await cdn.get("/lost")).toMatchObject({ status: 200, body: "v2" });
  expect(cdn.origin).toHaveSeen("/lost", 2);
  await cdn.pop("fra").loseAnswers({});
});

test("a purge whose acknowledgement was lost happens once, even if it is sent again with its id", async () => {
  await cdn.pop("fra").loseAnswers({ log: 1 });
  expect(await purgeOf("/x", "lost-ack")).toMatchObject({ status: 503 });
  const { receipt } = await purgeOf("/x", "lost-ack");
  expect(receipt).toMatchObject({ replayed: true });
  expect(await purgeOf("/x", "lost-ack")).toMatchObject({ receipt: { replayed: true, seq: receipt.seq } });
  await cdn.pop("fra").loseAnswers({});
});

test("a partitioned PoP refuses connections, keeps its cache, and learns of a purge when it is back", {
  tags: ["deep"],
}, async () => {
  cdn.origin.reply("/apart", page("v1", "apart"), page("v1", "apart"), page("v2", "apart"));
  await cdn.get("/apart", { from: "fra" });
  await cdn.get("/apart", { from: "syd" });
  await cdn.pop("syd").partition();
  await expect(cdn.get("/apart", { from: "syd" })).rejects.toMatchObject({ code: "ECONNREFUSED" });
  await expect(fetch(cdn.url("syd"))).rejects.toThrow();
  await expect(cdn.get("/apart", { from: "fra" })).toHit();
  await cdn.pop("syd").heal();
  await expect(cdn.get("/apart", { from: "syd" })).toHit();

  await cdn.pop("syd").partition();
  const receipt = await cdn.purger.purgeTags("apart");
  await cdn.settle(receipt);
  await cdn.pop("syd").heal();
  await expect(cdn.get("/apart", { from: "syd" })).toNeverShow("v1");
  expect(cdn.origin).toHaveSeen("/apart", 3);
});

test("a page that one isolate of the PoP still shows is shown, whichever was asked, and the message names the isolate", async () => {
  cdn.origin.reply("/either", page("v1", "either"), page("v1", "either"), page("v2", "either"));
  for (const from of cdn.regions) await cdn.get("/either", { from });
  await expect(cdn.get("/either", { isolate: 1 })).toHit();
  await cdn.purger.purgeTags("either"); // through isolate 0
  const asked = cdn.get("/either", { isolate: 0 });
  expect(await asked).toMatchObject({ body: "v2" });
  const message =
    /^expected never to see "v1", but it was shown\s+request +GET \/either from fra, isolate 1\n.* now stored in fra, syd\n/s;
  await expect(expect(asked).toNeverShow("v1")).rejects.toThrow(message);
});

test("a PoP that cannot reach the log asks the origin once per lease, and serves nothing purged", async () => {
  cdn.origin.reply("/silent", page("v1", "silent"), page("v2", "silent"));
  await cdn.get("/silent", { from: "syd" });
  await cdn.pop("syd").cutFromLog();
  await expect(cdn.get("/silent", { from: "syd" })).toHit();
  await cdn.settle(await cdn.purger.purgeTags("silent"));
  await expect(cdn.get("/silent", { from: "syd" })).toNeverShow("v1");
  expect(cdn.origin).toHaveSeen("/silent", 2);
  await cdn.advance("1s");
  expect(await cdn.get("/silent", { from: "syd" })).toMatchObject({ xCache: "MISS", body: "v2" });
  expect(cdn.origin).toHaveSeen("/silent", 3);
  await cdn.pop("syd").reconnectToLog();
  await cdn.advance("2s");
  await cdn.get("/silent", { from: "syd" });
  await expect(cdn.get("/silent", { from: "syd" })).toHit();
});

test("while the log is down every PoP asks the origin and purges are refused; afterwards there are hits again", async () => {
  cdn.origin.reply("/nolog", page("v1"));
  await cdn.get("/nolog");
  await cdn.log.stop();
  await cdn.advance("2s");
  expect(await cdn.get("/nolog")).toMatchObject({ status: 200, xCache: "MISS" });
  expect(await purgeOf("/nolog", "no-log")).toMatchObject({ status: 503 });
  await cdn.log.start();
  await cdn.advance("2s");
  await expect(cdn.get("/nolog")).toBeStored();
});

test("a killed isolate loses its memory; the PoP's cache and the other isolate stay as they are", {
  tags: ["deep"],
}, async () => {
  cdn.origin.reply("/memory", page("v1"));
  await cdn.get("/memory", { isolate: 0 });
  await expect(cdn.get("/memory", { isolate: 1 })).toHit();
  expect((await cdn.stats("fra", 0)).memory.entries).toBeGreaterThan(0);
  await cdn.pop("fra").killIsolate(0);
  expect(await cdn.stats("fra", 0)).toMatchObject({ memory: { entries: 0 }, view: { position: null } });
  expect((await cdn.stats("fra", 1)).memory.entries).toBeGreaterThan(0);
  await expect(cdn.get("/memory", { isolate: 0 })).toHit();
  expect(cdn.origin).toHaveSeen("/memory", 1);
});

test("emptying the cache leaves the memory of the isolates; without both, the origin is asked", {
  tags: ["deep"],
}, async () => {
  cdn.origin.reply("/empty", page("v1"));
  await cdn.get("/empty");
  await cdn.pop("fra").emptyCache();
  await expect(cdn.get("/empty", { isolate: 1 })).toMiss();
  await cdn.pop("fra").emptyCache();
  await expect(cdn.get("/empty")).toHit();
  await cdn.pop("fra").killIsolate(0);
  await expect(cdn.get("/empty")).toMiss();
  expect(cdn.origin).toHaveSeen("/empty", 3);
});

test("a restarted PoP loses its memory and keeps its cache, its time and its address", { tags: ["deep"] }, async () => {
  cdn.origin.reply("/restart", page("v1"));
  await cdn.get("/restart");
  await cdn.advance("10m");
  const url = cdn.url("fra");
  await cdn.pop("fra").restart();
  expect(cdn.url("fra")).toBe(url);
  expect((await cdn.stats("fra")).memory.entries).toBe(0);
  await expect(cdn.get("/restart")).toHaveAgeAbout(600);
  expect(cdn.origin).toHaveSeen("/restart", 1);
});

test("a restarted log knows every purge that it acknowledged", async () => {
  cdn.origin.reply("/known", page("v1"), page("v2"));
  await cdn.get("/known");
  const before = await purgeOf("/known", "before-restart", "syd");
  await cdn.log.restart();
  expect(await purgeOf("/known", "before-restart")).toMatchObject({
    receipt: { replayed: true, seq: before.receipt.seq, logId: before.receipt.logId },
  });
  await cdn.advance("2s");
  await expect(cdn.get("/known")).toNeverShow("v1");
});

test("every PoP reaches a log that started again, even if one hears late that the log was gone", async ({
  onTestFinished,
}) => {
  const { write } = Socket.prototype;
  let late: Socket | undefined;
  let pings = 0;
  const hear = () => late?.uncork();
  const spy = vi.spyOn(Socket.prototype, "write").mockImplementation(function (this: Socket, ...args: unknown[]) {
    const text = String(args[0]);
    if (!late && text.startsWith("POST / HTTP/1.1")) {
      late = this; // Miniflare tells a runtime which others there are
      late.cork();
    }
    if (text.includes("ping-log") && late && ++pings === 100) hear();
    return Reflect.apply(write, this, args);
  });
  onTestFinished(() => spy.mockRestore());
  await cdn.log.stop();
  await expect.poll(() => late).toBeDefined();
  await cdn.log.start();
  spy.mockRestore();
  hear();
  for (let turn = 0; turn < 10; turn++) {
    for (const from of cdn.regions)
      expect(await purgeOf("/late", `late-${from}-${turn}`, from)).toMatchObject({ status: 200 });
  }
});

test("a recreated log has another id, and pages stored under the old one are fetched again", {
  tags: ["deep"],
}, async () => {
  cdn.origin.reply("/another", page("v1"));
  await cdn.get("/another");
  const before = await purgeOf("/x", "before-recreation");
  await cdn.log.recreate();
  const after = await purgeOf("/x", "before-recreation");
  expect(after.receipt.replayed).toBe(false);
  expect(after.receipt.logId).not.toBe(before.receipt.logId);
  await cdn.advance("2s");
  await expect(cdn.get("/another")).toMiss();
  expect(cdn.origin).toHaveSeen("/another", 2);
});

test("two isolates share the PoP's cache, not their views: the other learns of a purge within its lease", {
  tags: ["deep"],
}, async () => {
  cdn.origin.reply("/shared", page("v1", "shared"), page("v2", "shared"));
  await cdn.get("/shared", { isolate: 0 });
  await expect(cdn.get("/shared", { isolate: 1 })).toHit();
  const receipt = await cdn.purger.purgeTags("shared"); // through isolate 0
  expect(await cdn.get("/shared", { isolate: 1, after: receipt })).toMatchObject({ xCache: "MISS", body: "v2" });
  await cdn.settle(receipt);
  await expect(cdn.get("/shared", { isolate: 0 })).toNeverShow("v1");
  expect(cdn.origin).toHaveSeen("/shared", 2);
});
