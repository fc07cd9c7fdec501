import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { ListenerParts } from "../../../server/connections/listener.ts";
import { readProxyHeader } from "../../../server/connections/proxy-header.ts";
import { SitesByHost } from "../../../server/connections/sites-by-host.ts";
import { readNetwork } from "../../../worker/rules/forwarding/trusted-proxies.ts";
import { turns } from "../../suite/turns.ts";
import { type Answering, answer } from "../http1/running-listener.ts";
import { RawClient, resetUnaccepted } from "../raw-client.ts";
import { startTlsListener, stopAll, stops, type Where } from "./tls-listener.ts";

afterEach(stopAll);

const SIGNATURE = "\r\n\r\n\0\r\nQUIT\n";
/** A header of version 2: its command and family, and what follows. */
function version2(command: number, family: number, rest: string): string {
  const head = Buffer.from([command, family, rest.length >> 8, rest.length & 0xff]);
  return SIGNATURE + head.toString("latin1") + rest;
}
const PORTS = "\x10\x00\x01\xbb";
const FOUR = version2(0x21, 0x11, `\xc0\x00\x02\x01\x0a\x00\x00\x01${PORTS}`);
const SIX = version2(0x21, 0x21, `\x20\x01\x0d\xb8${"\0".repeat(11)}\x07${"\0".repeat(16)}${PORTS}`);
const MAPPED = version2(0x21, 0x21, `${"\0".repeat(10)}\xff\xff\xc0\x00\x02\x01${"\0".repeat(16)}${PORTS}`);
const EXTENDED = version2(0x21, 0x11, `\xc0\x00\x02\x01\x0a\x00\x00\x01${PORTS}\x04\x00\x02ab`);

const headers: readonly { name: string; text: string; source: string | null }[] = [
  { name: "TCP4", text: "PROXY TCP4 192.0.2.1 10.0.0.1 4711 443\r\n", source: "192.0.2.1" },
  { name: "TCP6", text: "PROXY TCP6 2001:DB8:0::7 ::1 4711 443\r\n", source: "2001:db8::7" },
  { name: "TCP6 with an IPv4 address", text: "PROXY TCP6 ::ffff:192.0.2.1 ::1 4711 443\r\n", source: "192.0.2.1" },
  { name: "UNKNOWN", text: "PROXY UNKNOWN\r\n", source: null },
  { name: "UNKNOWN with more", text: "PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n", source: null },
  { name: "version 2, IPv4", text: FOUR, source: "192.0.2.1" },
  { name: "version 2, IPv6", text: SIX, source: "2001:db8::7" },
  { name: "version 2, IPv4 in IPv6", text: MAPPED, source: "192.0.2.1" },
  { name: "version 2, with extensions", text: EXTENDED, source: "192.0.2.1" },
  { name: "version 2, LOCAL", text: version2(0x20, 0, ""), source: null },
  { name: "version 2, a unix socket", text: version2(0x21, 0x31, "x".repeat(216)), source: null },
];

describe("a header of the PROXY protocol", () => {
  const read = (text: string) => readProxyHeader(Buffer.from(text, "latin1"));

  test.each(headers)("$name is read, and not before it is whole", ({ text, source }) => {
    for (let length = 0; length < text.length; length++) {
      expect(read(text.slice(0, length))).toEqual({ kind: "incomplete" });
    }
    expect(read(`${text}GET / HTTP/1.1\r\n`)).toEqual({ kind: "header", bytes: text.length, source });
  });

  test.each([
    ["a request", "GET / HTTP/1.1\r\n"],
    ["a TLS handshake", "\x16\x03\x01"],
    ["an address that is none", "PROXY TCP4 192.0.2.256 10.0.0.1 1 2\r\n"],
    ["an address of the other kind", "PROXY TCP4 ::1 ::1 1 2\r\n"],
    ["an IPv6 address that is none", "PROXY TCP6 1::2::3 ::1 1 2\r\n"],
    ["another protocol", "PROXY UDP4 192.0.2.1 10.0.0.1 1 2\r\n"],
    ["a line that ends otherwise", "PROXY TCP4 192.0.2.1 10.0.0.1 1 2\n"],
    ["a line that is too long", `PROXY UNKNOWN ${"x".repeat(100)}\r\n`],
    ["another version", version2(0x31, 0x11, "")],
    ["another command", version2(0x22, 0x11, "")],
    ["addresses that are cut short", version2(0x21, 0x11, "\xc0\x00\x02")],
    ["more extensions than anybody sends", `${version2(0x21, 0x11, "").slice(0, 14)}\xff\xff`],
  ])("%s is none", (_, text) => {
    expect(read(text)).toEqual({ kind: "none" });
  });
});

describe("a listener that reads the PROXY protocol", () => {
  const trustedProxies = [readNetwork("127.0.0.0/8")!, readNetwork("198.51.100.0/24")!];
  const shown: Answering = ({ url, clientAddress }) => answer(`${url} for ${clientAddress}`);
  const start = (parts: Partial<ListenerParts> = {}) =>
    startTlsListener(shown, { usesProxyProtocol: true, trustedProxies, ...parts });
  const GET = "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n";
  const talk = async (where: Where, ...pieces: readonly string[]) => {
    const client = new RawClient(where);
    stops.push(() => client.destroy());
    for (const piece of pieces) {
      await client.send(piece);
      await new Promise(setImmediate);
    }
    await client.closed;
    return client;
  };

  test.each(headers)("knows the client by $name, in one piece and in several", async ({ text, source }) => {
    const { http, listener } = await start();
    const expected = `http://a.test/ for ${source ?? "127.0.0.1"}`;
    expect((await talk(http, text + GET)).received.endsWith(expected)).toBe(true);
    expect((await talk(http, text.slice(0, 5), text.slice(5), GET)).received.endsWith(expected)).toBe(true);
    expect((await talk(http, text, GET.slice(0, 9), GET.slice(9))).received.endsWith(expected)).toBe(true);
    expect(listener.fastHits).toBe(3);
  });

  test.each([
    ["no request after it is disconnected without an answer", "", /^$/],
    ["half a head behind it is told that it took too long", "GET / HT", /^HTTP\/1\.1 408 /],
  ])("a client that sends %s", async (_, bytes, told) => {
    const { http } = await start({ settings: { headersTimeoutMs: 400 } });
    expect((await talk(http, `PROXY TCP4 192.0.2.1 10.0.0.1 4711 443\r\n${bytes}`)).received).toMatch(told);
  });

  test("reads it before TLS, in HTTP/1.1 and in HTTP/2", async () => {
    const { https } = await start();
    for (const protocol of ["http/1.1", "h2"]) {
      const tcp = connectTcp(https);
      stops.push(() => tcp.destroy());
      await once(tcp, "connect");
      tcp.write("PROXY TCP4 192.0.2.1 10.0.0.1 4711 443\r\n");
      const socket = connectTls({ socket: tcp, ALPNProtocols: [protocol], rejectUnauthorized: false });
      await once(socket, "secureConnect");
      let received = "";
      if (protocol === "h2") {
        const session = connectHttp2("https://a.test", { createConnection: () => socket });
        stops.push(() => session.destroy());
        const stream = session.request({ ":authority": "a.test" });
        for await (const piece of stream.setEncoding("latin1")) received += piece;
      } else {
        socket.end(GET);
        for await (const piece of socket.setEncoding("latin1")) received += piece;
      }
      expect(received).toMatch(/https:\/\/a\.test\/ for 192\.0\.2\.1$/);
    }
  });

  test("trusts forwarding fields only if the client in the header is a trusted proxy", async () => {
    const { http } = await start();
    const forwarded = GET.replace("Host:", "X-Forwarded-For: 203.0.113.5\r\nHost:");
    const through = await talk(http, `PROXY TCP4 198.51.100.7 10.0.0.1 1 2\r\n${forwarded}`);
    expect(through.received).toMatch(/for 203\.0\.113\.5$/);
    const direct = await talk(http, `PROXY TCP4 192.0.2.1 10.0.0.1 1 2\r\n${forwarded}`);
    expect(direct.received).toMatch(/for 192\.0\.2\.1$/);
  });

  test.each(headers.filter(({ source }) => source === null))(
    "believes nothing that comes behind $name, whose sender the proxy does not name",
    async ({ text }) => {
      const told: Answering = ({ url, clientAddress, peerAddress }) => answer(`${url} ${clientAddress} ${peerAddress}`);
      const fields = "X-Forwarded-For: 203.0.113.5\r\nX-Forwarded-Proto: https\r\nHost:";
      const forwarded = GET.replace("Host:", fields);
      const site = { name: "a", hosts: ["a.test"], isolate: { fetch: told }, trustedProxies };
      for (const several of [{}, { sites: new SitesByHost([site]) }]) {
        const parts = { usesProxyProtocol: true, trustedProxies, ...several };
        const { http } = await startTlsListener(told, parts);
        expect((await talk(http, text + forwarded)).received).toMatch(/\r\n\r\nhttp:\/\/a\.test\/ 127\.0\.0\.1 null$/);
      }
      const toHttps = { status: 308, port: 443, hosts: null, publicHost: null } as const;
      const { http } = await start({ toHttps });
      expect((await talk(http, text + forwarded)).received).toMatch(/^HTTP\/1\.1 308 /);
    },
  );

  test("carries several requests, including pipelined ones", async () => {
    const { http } = await start();
    const first = GET.replace("Connection: close\r\n", "");
    const { received } = await talk(http, `${FOUR}${first}${first}${GET}`);
    expect(received.match(/for 192\.0\.2\.1/g)).toHaveLength(3);
  });

  test("loses none of many requests that come with the header", async () => {
    const slow: Answering = async ({ url }) => {
      await new Promise(setImmediate);
      return answer(url);
    };
    const { http } = await startTlsListener(slow, { usesProxyProtocol: true, trustedProxies });
    const requests = Array.from({ length: 100 }, (_, at) => `GET /${at} HTTP/1.1\r\nHost: a.test\r\n\r\n`);
    const { received } = await talk(http, FOUR + requests.join("") + GET);
    expect(received.match(/http:\/\/a\.test\/\d+/g)).toEqual(requests.map((_, at) => `http://a.test/${at}`));
  });

  test("refuses connections that are not from trusted proxies, and says so once", async () => {
    const { http, https, warnings } = await start({ trustedProxies: [readNetwork("192.0.2.0/24")!] });
    for (const where of [http, https, http])
      expect(await talk(where, FOUR + GET)).toMatchObject({ received: "", end: "reset" });
    expect(warnings).toEqual(["A connection was refused: 127.0.0.1 is no trusted proxy: 1 so far."]);
  });

  test("says nothing of a connection that was reset before it was accepted", async () => {
    const { http, warnings } = await start();
    await resetUnaccepted(http, "");
    expect((await talk(http, FOUR + GET)).received).toMatch(/ for 192\.0\.2\.1$/);
    expect(warnings).toEqual([]);
  });

  test("refuses a connection without a header", async () => {
    const { http, warnings } = await start();
    expect(await talk(http, GET)).toMatchObject({ received: "", end: "reset" });
    expect(warnings).toEqual([expect.stringContaining("did not begin with a PROXY header")]);
  });

  test("refuses a connection whose header takes too long, and forgets one that ends before it", {
    tags: ["deep"],
  }, async () => {
    const { http, listener } = await start({ settings: { headersTimeoutMs: 400 } });
    expect(await talk(http, "PROXY TCP4 ")).toMatchObject({ received: "" });
    const client = new RawClient(http);
    while (listener.connections === 0) await new Promise(setImmediate);
    client.socket.end("PROXY");
    await client.closed;
    await new Promise<void>((resolve) => listener.onceEmpty(resolve));
  });

  test("answers a request whose head takes too long with an error", { tags: ["deep"] }, async () => {
    const { http } = await start({ settings: { headersTimeoutMs: 400 } });
    expect((await talk(http, `${FOUR}GET / HT`)).received).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("ends a connection whose header comes long after it has stopped, if no request comes", async () => {
    const { http, listener } = await start();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const client = new RawClient(http);
    stops.push(() => client.destroy());
    while (listener.connections === 0) await new Promise(setImmediate);
    const stopped = listener.close(60_000);
    await vi.advanceTimersByTimeAsync(5_000);
    await client.send(FOUR);
    while (client.end === null) {
      await turns(20);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(await stopped).toEqual({ cutOff: 0 });
  });

  test("ends with its connections", async () => {
    const { http, listener } = await start();
    const client = new RawClient(http);
    while (listener.connections === 0) await new Promise(setImmediate);
    await listener.close(0);
    await client.closed;
    await expect(once(connectTcp(http), "connect")).rejects.toThrow("ECONNREFUSED");
  });
});
