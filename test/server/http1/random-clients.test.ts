import { connect as connectPlain } from "node:net";
import { connect as connectTls } from "node:tls";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import type { StreamedBody } from "../../../worker/ports/bodies.ts";
import { byDepth } from "../../suite/depth.ts";
import { seed } from "../../suite/seed.ts";
import { turns } from "../../suite/turns.ts";
import { startTlsListener, stopAll, type Where } from "../connections/tls-listener.ts";
import { statuses } from "../raw-client.ts";
import { type Answering, answer, streamed } from "./running-listener.ts";

const RUNS = byDepth({ test: 15, gate: 15, all: 300, explore: 5_000 });
const MOST_REQUESTS = 120;
/** Above what a socket takes at once, so that answers wait for the client. */
const LARGE_BYTES = 100_000;

interface Asked {
  readonly body: "small" | "large" | "streamed" | "of unknown length";
  /** The bytes of its own body, and how that is framed. */
  readonly upload: { readonly bytes: number; readonly isChunked: boolean; readonly isRead: boolean } | null;
  /** The turns of the event loop until it is answered; 0 for at once. */
  readonly lateTurns: number;
}

interface Conversation {
  readonly requests: readonly Asked[];
  /** Where the bytes are cut into pieces, as shares of them all. */
  readonly cuts: readonly number[];
  readonly usesFastAnswers: boolean;
  readonly isOverTls: boolean;
  /** The client reads nothing before it has sent all. */
  readonly readsLate: boolean;
  /** The client ends its half behind the last request, which otherwise says that it is the last. */
  readonly endsHalf: boolean;
  readonly maxRequestsPerConnection: number;
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

const large: fc.Arbitrary<Asked> = fc.constant({ body: "large", upload: null, lateTurns: 0 });

const manyOf = (each: fc.Arbitrary<Asked>) => fc.array(each, { minLength: 1, maxLength: MOST_REQUESTS, size: "max" });

const conversation: fc.Arbitrary<Conversation> = fc.record({
  requests: fc.oneof({ weight: 4, arbitrary: manyOf(asked) }, { weight: 1, arbitrary: manyOf(large) }),
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20, size: "max" }),
  usesFastAnswers: fc.boolean(),
  isOverTls: fc.boolean(),
  readsLate: fc.boolean(),
  endsHalf: fc.boolean(),
  maxRequestsPerConnection: fc.option(fc.integer({ min: 1, max: 10 }), { freq: 5, nil: Number.POSITIVE_INFINITY }),
});

afterEach(stopAll);

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

/** What the client sends, and how: pieces, each in a turn of the event loop. */
function piecesOf({ requests, cuts, endsHalf }: Conversation): string[] {
  const last = requests.length - 1;
  const bytes = requests.map((each, number) => bytesOf(each, number, !endsHalf && number === last)).join("");
  const places = cuts.map((share) => Math.floor(share * bytes.length)).sort((one, other) => one - other);
  return [...places, bytes.length].map((place, index) => bytes.slice(places[index - 1] ?? 0, place));
}

/** Resolves to what came until the connection was closed. */
async function talk({ https, http }: { https: Where; http: Where }, client: Conversation): Promise<string> {
  const options = { allowHalfOpen: true, rejectUnauthorized: false };
  const socket = client.isOverTls ? connectTls({ ...https, ...options }) : connectPlain({ ...http, ...options });
  let received = "";
  const read = () => socket.on("data", (piece: Buffer) => (received += piece.toString("latin1")));
  socket.on("end", () => socket.end());
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  if (!client.readsLate) read();
  for (const piece of piecesOf(client)) {
    if (socket.writable) socket.write(piece, "latin1");
    await turns(1);
  }
  if (client.readsLate) read();
  if (client.endsHalf) socket.end();
  await closed;
  return received;
}

const holds = fc.asyncProperty(conversation, async (client) => {
  const { requests, usesFastAnswers, maxRequestsPerConnection } = client;
  const carriedOut: number[] = [];
  const settings = { maxRequestsPerConnection };
  const running = await startTlsListener(answeringAs(requests, carriedOut), { usesFastAnswers, settings });
  const received = await talk(running, client);
  await new Promise<void>((resolve) => running.listener.onceEmpty(resolve));
  await stopAll();
  const answered = [...received.matchAll(/<(\d+)>/g)].map(([, number]) => Number(number));
  expect(answered).toEqual(carriedOut);
  expect(statuses(received)).toEqual(answered.map(() => 200));
  // Those that had been read when the last one allowed was answered are answered, too.
  expect(answered).toEqual(answered.map((_, number) => number));
  expect(answered.length).toBeGreaterThanOrEqual(Math.min(mayEndAt(requests), maxRequestsPerConnection));
  expect(running.warnings).toEqual([]);
});

test(`each request that is carried out is answered once, in order, to ${RUNS} clients`, async () => {
  await fc.assert(holds, { numRuns: RUNS, seed });
}, 600_000);
