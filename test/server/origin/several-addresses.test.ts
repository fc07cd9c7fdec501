import { createRequire } from "node:module";
import net, { createServer as createTcpServer, type Socket } from "node:net";
import { createServer as createTlsServer, TLSSocket } from "node:tls";
import { afterEach, describe, expect, test, vi } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { PushedBody } from "../../../server/bodies/pushed-body.ts";
import { connectToSeveral, SeveralAddresses } from "../../../server/origin/several-addresses.ts";
import { UndiciOrigin, type UndiciOriginOptions } from "../../../server/origin/undici-origin.ts";
import type { StreamedBody } from "../../../worker/ports/bodies.ts";
import type { OriginAnswer, OriginRequest } from "../../../worker/ports/origin.ts";
import { SocketOrigin } from "../../runtime/socket-origin.ts";
import { freePort } from "../../suite/free-ports.ts";
import { listenLocally } from "../../suite/local-url.ts";
import { makeCertificate } from "../connections/make-certificate.ts";

const ends: (() => unknown)[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const end of ends.splice(0).reverse()) await end();
});

/** An origin that answers by its name, or hangs up, so many milliseconds of fake time after it has read a request. */
async function originCalled(name: string | null, afterMs = 0) {
  const seen: string[] = [];
  const server = new SocketOrigin((request, socket) => {
    seen.push(request);
    if (afterMs > 0) vi.advanceTimersByTime(afterMs);
    if (name === null) socket.destroy();
    else socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${name.length}\r\n\r\n${name}`);
  });
  ends.push(() => server.stop());
  return { url: await server.start(), seen };
}

async function nobody(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}

let now = 0;

/** The timers of undici, which move only by themselves or by this. */
const undiciTimers: { tick(ms?: number): void } = createRequire(import.meta.url)("undici/lib/util/timers.js");

function originAt(urls: readonly string[], options: Partial<UndiciOriginOptions> = {}): SeveralAddresses {
  const [first, ...others] = urls.map((url) => ({ url, socketPath: null }));
  const origin = connectToSeveral(
    [first!, ...others],
    { timeoutMs: 10_000, bodies: nodeBodies, ...options },
    () => now,
    () => undefined,
  );
  ends.push(() => origin.close());
  return origin;
}

const get: OriginRequest = { method: "GET", pathAndQuery: "/a", fields: [], body: null };

function post(text: string): OriginRequest {
  const ignore = () => undefined;
  const body = new PushedBody(text.length, { pause: ignore, resume: ignore, cancel: ignore });
  body.push(Buffer.from(text));
  body.end();
  return { method: "POST", pathAndQuery: "/a", fields: [], body };
}

async function said(answer: OriginAnswer): Promise<string> {
  if (answer.kind !== "answered") return answer.kind;
  const reader = nodeBodies.readThrough(answer.response.body as StreamedBody);
  let text = "";
  for (let piece = await reader.next(); piece !== null; piece = await reader.next()) text += Buffer.from(piece);
  return text;
}

describe("an origin with two addresses", () => {
  test("answers at the second one if nobody listens at the first", async () => {
    const second = await originCalled("second");
    const origin = originAt([await nobody(), second.url]);
    expect(await said(await origin.fetch(get))).toBe("second");
    expect(await said(await origin.fetch(post("a body that was not sent")))).toBe("second");
    await expect.poll(() => second.seen.join("")).toContain("a body that was not sent");
  });

  test.each([
    ["hangs up", null],
    ["has a certificate that is not trusted", makeCertificate(["localhost"])],
  ])(
    "gets a POST at the second one if the first %s in the handshake of TLS, and further ones only there",
    async (_, pair) => {
      let connections = 0;
      const first = pair
        ? createTlsServer({ cert: pair.chain, key: pair.key })
        : createTcpServer((socket) => socket.once("data", () => socket.destroy()));
      first.on("connection", () => connections++);
      const url = (await listenLocally(first)).replace("http:", "https:");
      ends.push(() => void first.close());
      const second = await originCalled("second");
      const origin = originAt([url, second.url]);
      expect(await said(await origin.fetch(post("a body that was not sent")))).toBe("second");
      expect(await said(await origin.fetch(post("another one")))).toBe("second");
      await expect.poll(() => second.seen.join("")).toMatch(/a body that was not sent.*another one/s);
      expect(connections).toBe(1);
    },
  );

  test("gets a GET at the second one if the first hangs up before its answer", async () => {
    const [first, second] = [await originCalled(null), await originCalled("second")];
    expect(await said(await originAt([first.url, second.url]).fetch(get))).toBe("second");
    expect(first.seen).toHaveLength(1);
  });

  test.each<[string, () => OriginRequest]>([
    ["POST", () => post("a body that was sent")],
    ["DELETE", () => ({ ...get, method: "DELETE" })],
    ["POST without a body", () => ({ ...get, method: "POST" })],
  ])("gets no %s again that the first one has been sent", async (_, request) => {
    const [first, second] = [await originCalled(null), await originCalled("second")];
    expect(await said(await originAt([first.url, second.url]).fetch(request()))).toBe("failed");
    expect([first.seen.length, second.seen.length]).toEqual([1, 0]);
  });

  test("is asked at the first one while that answers, whatever it says", async () => {
    const [first, second] = [await originCalled("first"), await originCalled("second")];
    const origin = originAt([first.url, second.url]);
    expect([await said(await origin.fetch(get)), await said(await origin.fetch(post("x")))]).toEqual([
      "first",
      "first",
    ]);
    expect(second.seen).toEqual([]);
  });

  test("has the time of one for both", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const first = await originCalled(null, 9_999);
    const second = await originCalled("second", 1);
    const answer = await originAt([first.url, second.url], { timeoutMs: 10_000 }).fetch(get);
    expect(answer).toMatchObject({ kind: "failed", because: "timed-out" });
    expect([first.seen.length, second.seen.length]).toEqual([1, 1]);
  });

  test("is asked at the first one alone if that takes all the time", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const second = await originCalled("second");
    const asked = Promise.withResolvers<void>();
    const silent = new SocketOrigin(() => asked.resolve());
    ends.push(() => silent.stop());
    const answer = originAt([await silent.start(), second.url], { timeoutMs: 10_000 }).fetch(get);
    await asked.promise;
    vi.advanceTimersByTime(10_000);
    expect(await answer).toMatchObject({ kind: "failed", because: "timed-out" });
    expect(second.seen).toEqual([]);
  });

  test("fails if no address can be connected to", async () => {
    const answer = await originAt([await nobody(), await nobody()]).fetch(get);
    expect(answer).toMatchObject({ kind: "failed", because: "unreachable" });
  });

  test("is asked at the second one if the first takes no connection for three seconds", async () => {
    const second = await originCalled("second");
    const hello = Promise.withResolvers<void>();
    const silent = new SocketOrigin(() => hello.resolve());
    ends.push(() => silent.stop());
    const first = (await silent.start()).replace("http:", "https:");
    const answer = originAt([first, second.url], { timeoutMs: 30_000 }).fetch(post("x"));
    await hello.promise;
    undiciTimers.tick(); // it starts the time of the connection
    undiciTimers.tick(2_000);
    await new Promise(setImmediate);
    expect(second.seen).toEqual([]);
    undiciTimers.tick(1_000);
    await expect.poll(() => second.seen.length, { timeout: 5_000 }).toBe(1);
    expect(await said(await answer)).toBe("second");
  });

  test("gets at the second one what waits at a first one that is gone", async () => {
    const { chain, key } = makeCertificate(["127.0.0.1"]);
    const [taken, silence] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let connections = 0;
    const first = createTcpServer((socket) => {
      if (++connections > 1) return silence.resolve();
      new TLSSocket(socket, { isServer: true, cert: chain, key }).once("data", () => taken.resolve());
    });
    const url = (await listenLocally(first)).replace("http:", "https:");
    ends.push(() => void first.close());
    const second = await originCalled("second");
    const origin = originAt([url, second.url], { timeoutMs: 30_000, tls: { ca: chain } });
    const waiting = origin.fetch(get);
    await taken.promise;
    const sent = origin.fetch(post("x"));
    await silence.promise;
    undiciTimers.tick(); // it starts the time of the connection
    undiciTimers.tick(3_000);
    expect(await Promise.all([sent, waiting].map(async (answer) => said(await answer)))).toEqual(["second", "second"]);
    expect(second.seen.map((request) => request.split(" ", 1)[0]).toSorted()).toEqual(["GET", "POST"]);
  });

  test("is waited for at a first one that takes no more connections, but goes on with those that it has", async () => {
    const taken = Promise.withResolvers<Socket>();
    const first = createTcpServer((socket) => void socket.once("data", () => taken.resolve(socket)));
    const url = await listenLocally(first);
    const second = await originCalled("second");
    const origin = originAt([url, second.url]);
    const waiting = origin.fetch(get);
    const socket = await taken.promise;
    first.close();
    expect(await said(await origin.fetch(post("x")))).toBe("second");
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst");
    expect(await said(await waiting)).toBe("first");
    expect(second.seen).toHaveLength(1);
  });

  test("keeps an answer whose head has come from a first one that takes no connection any more", async () => {
    const { chain, key } = makeCertificate(["127.0.0.1"]);
    const [taken, silence] = [Promise.withResolvers<TLSSocket>(), Promise.withResolvers<void>()];
    let connections = 0;
    const first = createTcpServer((socket) => {
      if (++connections > 1) return silence.resolve();
      const encrypted = new TLSSocket(socket, { isServer: true, cert: chain, key });
      encrypted.once("data", () => {
        encrypted.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfi");
        taken.resolve(encrypted);
      });
    });
    const url = (await listenLocally(first)).replace("http:", "https:");
    ends.push(() => void first.close());
    const second = await originCalled("second");
    const origin = originAt([url, second.url], { timeoutMs: 30_000, tls: { ca: chain } });
    const begun = await origin.fetch(get);
    const sent = origin.fetch(post("x"));
    await silence.promise;
    undiciTimers.tick(); // it starts the time of the connection
    undiciTimers.tick(3_000);
    expect(await said(await sent)).toBe("second");
    (await taken.promise).end("rst");
    expect(await said(begun)).toBe("first");
  });

  /** Two addresses, `a` and `b`, which tell of each request and answer as a function says. */
  function twoThatTell(answer: (url: string) => OriginAnswer | Promise<OriginAnswer>) {
    const asked: string[] = [];
    const said: string[] = [];
    const at = (url: string) => ({
      url,
      timeoutMs: 10_000,
      fetchBefore: async () => {
        asked.push(url);
        return answer(url);
      },
      close: async () => undefined,
    });
    const origin = new SeveralAddresses(
      [at("a"), at("b")],
      () => now,
      (line) => said.push(line),
    );
    return { asked, said, origin };
  }

  test("is not asked first for ten seconds where nobody listened, or until the clock is set back", async () => {
    const { asked, origin } = twoThatTell((url) => ({
      kind: "failed",
      because: "unreachable",
      cause: url === "a" ? "refused" : "hung up",
      wasNeverSent: url === "a",
    }));
    const put = { ...get, method: "PUT" };
    for (const wait of [0, 9_999, 1, -3_600_000]) {
      now += wait;
      await origin.fetch(put);
    }
    expect(asked.join(" ")).toBe("a b b a b a b");
  });

  test("tells its owner once where no connection comes about and why, and once when that address answers again", async () => {
    let first: OriginAnswer = { kind: "switched", connection: null };
    const { said, origin } = twoThatTell((url) => (url === "a" ? first : { kind: "switched", connection: null }));
    const expired = Object.assign(new Error("certificate has expired"), { code: "CERT_HAS_EXPIRED" });
    for (const outcome of [
      first,
      { kind: "failed", because: "unreachable", cause: new Error("hung up"), wasNeverSent: false } as const,
      { kind: "failed", because: "unreachable", cause: expired, wasNeverSent: true } as const,
      { kind: "failed", because: "unreachable", cause: expired, wasNeverSent: true } as const,
      first,
      first,
    ]) {
      first = outcome;
      await Promise.all([origin.fetch(get), origin.fetch(get)]);
      now += 10_000;
    }
    expect(said).toEqual([
      "the origin's address a takes no connection (CERT_HAS_EXPIRED), so others are asked first",
      "the origin's address a answers again",
    ]);
  });

  test("has one request in ten seconds try an address that takes no connection, until it answers", async () => {
    const answer: OriginAnswer = { kind: "switched", connection: null };
    const noConnection = { kind: "failed", because: "timed-out", cause: "no connection", wasNeverSent: true } as const;
    let first = Promise.withResolvers<OriginAnswer>();
    const { asked, origin } = twoThatTell((url) => (url === "a" ? first.promise : answer));
    const fetch = (times: number) => Array.from({ length: times }, () => origin.fetch(get));
    for (const [requests, outcome] of [
      [1, noConnection],
      [3, noConnection],
      [3, answer],
    ] as const) {
      first = Promise.withResolvers();
      const answers = fetch(requests);
      now += 3_000;
      first.resolve(outcome);
      await Promise.all(answers);
      asked.push("|");
      now += 10_000;
    }
    await Promise.all(fetch(2));
    expect(asked.join(" ")).toBe("a b | a b b b | a b b | a a");
  });
});

test("of all addresses of a name the next one is tried", async () => {
  const origin = await originCalled("the second address");
  const { port } = new URL(origin.url);
  const addresses = ["127.0.0.2", "127.0.0.1"].map((address) => ({ address, family: 4 }));
  const named = originAt([`http://app.example.test:${port}`], {
    lookup: (_name, _options, callback) => callback(null, addresses),
  });
  expect(await said(await named.fetch(post("x")))).toBe("the second address");
});

test("an address of a name that is far away is given a second, which Node's clock measures", async () => {
  const connect = vi.spyOn(net, "connect");
  ends.push(() => connect.mockRestore());
  const { url } = await originCalled("far away");
  const named = originAt([`http://app.example.test:${new URL(url).port}`], {
    lookup: (_name, _options, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }]),
  });
  expect(await said(await named.fetch(get))).toBe("far away");
  expect(connect).toHaveBeenCalledWith(expect.objectContaining({ autoSelectFamilyAttemptTimeout: 1_000 }));
});

test("an address of a name that no connection reaches is tried by one of them in ten seconds, and told of once", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const [unreachable, reached] = ["255.255.255.255", "127.0.0.1"];
  const server = new SocketOrigin((_, socket) => socket.end("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"));
  ends.push(() => server.stop());
  const { port } = new URL(await server.start());
  const tried: string[] = [];
  const { connect } = net;
  const spied = vi.spyOn(net, "connect").mockImplementation((...options: readonly unknown[]) => {
    const socket = (connect as (...given: readonly unknown[]) => net.Socket)(...options);
    return socket.on("connectionAttempt", (address) => tried.push(address));
  });
  ends.push(() => spied.mockRestore());
  const told: string[] = [];
  const origin = new UndiciOrigin({
    address: { url: `http://app.example.test:${port}`, socketPath: null },
    timeoutMs: 10_000,
    bodies: nodeBodies,
    lookup: (_name, _options, callback) =>
      setImmediate(
        callback,
        null,
        [unreachable, reached].map((address) => ({ address, family: 4 })),
      ),
    say: (line) => told.push(line),
  });
  ends.push(() => origin.close());
  for (const [wait, connections] of [
    [0, 1],
    [0, 1],
    [9_999, 1],
    [1, 2],
  ] as const) {
    vi.advanceTimersByTime(wait);
    await Promise.all(Array.from({ length: connections }, async () => said(await origin.fetch(get))));
    tried.push("|");
  }
  expect(tried.join(" ").replaceAll(unreachable, "no").replaceAll(reached, "yes")).toBe(
    "no yes | yes | yes | no yes yes |",
  );
  expect(told).toEqual([
    expect.stringMatching(
      /^the origin's address 255\.255\.255\.255 of app\.example\.test takes no connection \(E\w+\), so others are asked first$/,
    ),
  ]);
});
