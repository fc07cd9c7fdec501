import { type AddressInfo, connect } from "node:net";
import type { RunningIsolate } from "../../worker/isolate.ts";
import { Fields } from "../../worker/rules/fields/fields.ts";
import { PushedBody } from "../bodies/pushed-body.ts";
import type { Listener } from "../connections/listener.ts";

/** An isolate that has all pages but three in memory. */
const isolate: RunningIsolate = {
  fetch: ({ request, url }) => {
    const size = url.endsWith("/large") ? 40_000 : 100;
    const bytes = new Uint8Array(size).fill(65);
    const answer = { status: 200, statusText: "OK", fields: FIELDS, body: bytes };
    switch (new URL(url).pathname) {
      case "/miss":
        return Promise.resolve(answer);
      case "/stream":
        return Promise.resolve({ ...answer, body: streamOf(bytes) });
      case "/slow":
        return turns(10).then(() => answer);
      default:
        return { ...answer, body: request.method === "HEAD" ? null : bytes };
    }
  },
};

function streamOf(bytes: Uint8Array): PushedBody {
  const none = () => undefined;
  const begin = () => {
    body.push(bytes);
    body.end();
  };
  const body: PushedBody = new PushedBody(bytes.byteLength, { begin, pause: none, resume: none, cancel: none });
  return body;
}

/** Turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

const FIELDS = new Fields([
  ["date", "Tue, 01 Jan 2030 00:00:00 GMT"],
  ["content-type", "text/plain"],
]);

/** The requests of the trial on one connection: hits and others in turn. */
const REQUESTS = [
  "GET /a HTTP/1.1\r\nHost: localhost\r\nUser-Agent: trial\r\n\r\n",
  "HEAD /a HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
  "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "GET /miss HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "GET /a HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n",
  "GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
];

/** More requests than may be outstanding, sent at once, so that the parser has to stop in the middle. */
const PIPELINE = [
  "GET /miss HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(50) +
    "GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
];

/** Its client ends its half before the answer comes. */
const HALF_CLOSED = ["GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n"];

/** The rest of its second head never comes. */
const HALF_A_HEAD = [`${REQUESTS[0]}GET /a HTTP/1.1\r\nHost: local`];

const HITS = 5;
const LATE = 1;
const DEADLINE_MS = 5_000;

/**
 * Checks on a loopback connection whether plain requests get the same answers without Node's objects as with them.
 * `null` if they do; otherwise the reason, in words. Never rejects.
 */
export async function tryFastAnswers(
  makeListener: (isolate: RunningIsolate, usesFastAnswers: boolean) => Listener,
): Promise<string | null> {
  const listeners = [makeListener(isolate, false), makeListener(isolate, true)] as const;
  try {
    const [plain, fast] = await Promise.all(listeners.map(exchangeAll));
    if (plain !== fast) return "its answers differ from those of Node's own server";
    const { fastHits, lateAnswers } = listeners[1];
    if (fastHits !== HITS) return `${fastHits} of ${HITS} hits were answered in the faster way`;
    if (lateAnswers !== LATE) return `${lateAnswers} of ${LATE} misses were answered in the faster way`;
    return (await seesSlowHead(listeners[1])) ? null : "the faster way did not notice a head that takes too long";
  } catch (error) {
    return String(error);
  } finally {
    await Promise.all(listeners.map((listener) => listener.close(0)));
  }
}

async function exchangeAll(listener: Listener): Promise<string> {
  const address = await listen(listener);
  const inTurn = async () => (await exchange(address, REQUESTS)) + (await exchange(address, PIPELINE));
  // Waits for both at once, because an unhandled rejection ends the process.
  return (await Promise.all([inTurn(), exchange(address, HALF_CLOSED, { endsHalf: true })])).join("");
}

/** Whether a listener refuses half a head that is an hour old. */
async function seesSlowHead(listener: Listener): Promise<boolean> {
  const address = await listen(listener);
  const onAnswered = () => {
    const now = performance.now();
    listener.sweep(now);
    listener.sweep(now + 3_600_000);
  };
  return (await exchange(address, HALF_A_HEAD, { onAnswered })).includes("HTTP/1.1 408 ");
}

async function listen(listener: Listener): Promise<AddressInfo> {
  const address = await listener.listen({ host: "127.0.0.1", port: 0 });
  if (address === null || typeof address === "string") throw new Error("no loopback address");
  return address;
}

interface Ending {
  /** The client ends its half of the connection after its last request. */
  readonly endsHalf?: boolean;
  /** Called when the last answer has arrived. */
  readonly onAnswered?: () => void;
}

/** Sends each request after the answer to the one before, so that no earlier answer is due. */
function exchange(address: AddressInfo, requests: readonly string[], ending: Ending = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    let answered = "";
    let sent = 0;
    const socket = connect(address.port, address.address);
    const deadline = setTimeout(() => socket.destroy(new Error("no answer in time")), DEADLINE_MS);
    const sendNext = () => {
      if (sent < requests.length) socket.write(requests[sent++]!);
      if (sent === requests.length && ending.endsHalf) socket.end();
    };
    socket.on("connect", sendNext);
    socket.on("data", (chunk) => {
      answered += chunk.toString("latin1");
      if (!isWhole(answered, requests[sent - 1]!.startsWith("HEAD"))) return;
      if (sent < requests.length) sendNext();
      else ending.onAnswered?.();
    });
    socket.on("error", reject);
    socket.on("close", () => {
      clearTimeout(deadline);
      resolve(answered);
    });
  });
}

/** Whether the last answer is complete. */
function isWhole(answered: string, isHead: boolean): boolean {
  const start = answered.lastIndexOf("HTTP/1.1 ");
  const end = answered.indexOf("\r\n\r\n", start);
  if (end === -1 || isHead) return end !== -1;
  const length = Number(/content-length: (\d+)/.exec(answered.slice(start, end))?.[1] ?? 0);
  return answered.length - end - 4 >= length;
}
