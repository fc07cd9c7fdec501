import { connect as connectPlain } from "node:net";
import { connect as connectTls } from "node:tls";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import type { StreamedBody } from "../../../worker/ports.ts";
import { byDepth } from "../../suite/depth.ts";
import { startTlsListener, stopAll, type Where } from "../front/tls-listener.ts";
import { statuses } from "../raw-client.ts";
import { type Answering, answer, streamed } from "./running-listener.ts";

const RUNS = byDepth({ test: 60, gate: 300, all: 5_000 });
const MOST_REQUESTS = 120;
/** Above what a socket takes at once, so that answers wait for the client. */
const LARGE_BYTES = 60_000;

interface Asked {
  readonly body: "small" | "large" | "streamed" | "of unknown length";
  /** The bytes of its own body, and how that is framed. */
  readonly upload: { readonly bytes: number; readonly isChunked: boolean; readonly isRead: boolean } | null;
  /** The turns of the event loop until it is answered; 0 for at once. */
  readonly lateTurns: number;
}

const upload = fc.record({
  bytes: fc.constantFrom(1, 10, 3_000),
  isChunked: fc.boolean(),
  isRead: fc.boolean(),
});

const asked: fc.Arbitrary<Asked> = fc.record({
  body: fc.constantFrom("small", "small", "large", "streamed", "of unknown length"),
  upload: fc.option(upload, { freq: 5 }),
  lateTurns: fc.constantFrom(0, 0, 1, 5),
});

const conversation = fc.record({
  requests: fc.array(asked, { minLength: 1, maxLength: MOST_REQUESTS, size: "max" }),
  /** Where the bytes are cut into pieces, as shares of them all. */
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20, size: "max" }),
  usesFastAnswers: fc.boolean(),
  isOverTls: fc.boolean(),
  /** The client ends its half behind the last request, which otherwise says that it is the last. */
  endsHalf: fc.boolean(),
  maxRequestsPerConnection: fc.option(fc.integer({ min: 1, max: 10 }), { freq: 5, nil: Number.POSITIVE_INFINITY }),
});

afterEach(stopAll);

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

function bytesOf({ upload }: Asked, number: number, isLast: boolean): string {
  const close = isLast ? "Connection: close\r\n" : "";
  const line = `${upload ? "POST" : "GET"} /${number} HTTP/1.1\r\nHost: localhost\r\n${close}`;
  if (upload === null) return `${line}\r\n`;
  const body = "b".repeat(upload.bytes);
  return upload.isChunked
    ? `${line}Transfer-Encoding: chunked\r\n\r\n${upload.bytes.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    : `${line}Content-Length: ${upload.bytes}\r\n\r\n${body}`;
}

/** Answers each request with its number, and keeps the numbers of those that were carried out. */
function answeringAs(requests: readonly Asked[], carriedOut: number[]): Answering {
  return ({ request, url }) => {
    const number = Number(new URL(url).pathname.slice(1));
    carriedOut.push(number);
    const { body, upload, lateTurns } = requests[number] as Asked;
    const text = `<${number}>${"x".repeat(body === "small" ? 10 : LARGE_BYTES)}`;
    const make = () => {
      if (body === "streamed") return answer(streamed([text.slice(0, 9), text.slice(9)], text.length));
      return answer(body === "of unknown length" ? streamed([text.slice(0, 9), text.slice(9)]) : text);
    };
    if (lateTurns === 0 && !upload?.isRead) return make();
    return (async () => {
      if (upload?.isRead) {
        const reader = nodeBodies.read(request.body as StreamedBody);
        while ((await reader.next()) !== null);
      }
      await turns(lateTurns);
      return make();
    })();
  };
}

/** After so many requests the server may end the connection: the rest of a body that nobody reads may have no end. */
function mayEndAt(requests: readonly Asked[]): number {
  const unread = requests.findIndex(({ upload }) => upload?.isChunked && !upload.isRead);
  return unread === -1 ? requests.length : unread + 1;
}

/** Sends the pieces, and resolves to what came until the connection was closed. */
async function send(
  { https, http }: { https: Where; http: Where },
  pieces: string[],
  isOverTls: boolean,
  endsHalf: boolean,
) {
  const options = { allowHalfOpen: true, rejectUnauthorized: false };
  const client = isOverTls ? connectTls({ ...https, ...options }) : connectPlain({ ...http, ...options });
  let received = "";
  client.on("data", (piece: Buffer) => (received += piece.toString("latin1")));
  client.on("end", () => client.end());
  client.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => client.on("close", () => resolve()));
  for (const piece of pieces) {
    if (client.writable) client.write(piece, "latin1");
    await turns(1);
  }
  if (endsHalf) client.end();
  await closed;
  return received;
}

test(`each request that is carried out is answered once, in order, to ${RUNS} clients`, {
  timeout: 600_000,
}, async () => {
  const holds = fc.asyncProperty(conversation, async ({ requests, cuts, isOverTls, endsHalf, ...rest }) => {
    const { usesFastAnswers, maxRequestsPerConnection } = rest;
    const carriedOut: number[] = [];
    const running = await startTlsListener(answeringAs(requests, carriedOut), {
      usesFastAnswers,
      settings: { maxRequestsPerConnection },
    });
    const bytes = requests
      .map((each, number) => bytesOf(each, number, !endsHalf && number === requests.length - 1))
      .join("");
    const places = [0, ...cuts.map((share) => Math.floor(share * bytes.length)).sort((a, b) => a - b), bytes.length];
    const pieces = places.slice(1).map((place, index) => bytes.slice(places[index], place));
    const received = await send(running, pieces, isOverTls, endsHalf);
    await new Promise<void>((resolve) => running.listener.onceEmpty(resolve));
    await running.listener.close(0);
    const answered = [...received.matchAll(/<(\d+)>/g)].map(([, number]) => Number(number));
    expect(answered).toEqual(carriedOut);
    expect(statuses(received)).toEqual(answered.map(() => 200));
    // Those that had been read when the last one allowed was answered are answered, too.
    expect(answered).toEqual(answered.map((_, number) => number));
    expect(answered.length).toBeGreaterThanOrEqual(Math.min(mayEndAt(requests), maxRequestsPerConnection));
    expect(running.warnings).toEqual([]);
  });
  await fc.assert(holds, { numRuns: RUNS, seed: Number(process.env.TEST_SEED) });
});
