/**
 * A program that opens many connections, sends one request on all of them at once, and reads the answers:
 * `node stampede-client.ts <url> <connections>`. It prints its results as JSON.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectWithTls } from "node:tls";
import { LatencyHistogram } from "../frame/latency-histogram.ts";

const TIMEOUT_MS = 30_000;

const url = new URL(process.argv[2]!);
const connections = Number(process.argv[3]);
const request = `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAccept: */*\r\n\r\n`;

const sockets: Socket[] = [];
for (let number = 0; number < connections; number++) {
  const where = { port: Number(url.port), host: url.hostname };
  const isEncrypted = url.protocol === "https:";
  const socket = isEncrypted ? connectWithTls({ ...where, rejectUnauthorized: false }) : connect(where);
  socket.setNoDelay(true).on("error", () => socket.destroy());
  sockets.push(socket);
  // Any server's queue has room for a hundred at a time.
  if (number % 100 === 99) await once(socket, isEncrypted ? "secureConnect" : "connect");
}
const latencies = new LatencyHistogram();
const startedAt = performance.now();
const answered = await Promise.all(sockets.map(isAnswered));
const seconds = (performance.now() - startedAt) / 1000;
for (const socket of sockets) socket.destroy();
const failures = answered.filter((isRight) => !isRight).length;
const { p50Ms, p99Ms } = { p50Ms: latencies.percentile(50), p99Ms: latencies.percentile(99) };
console.log(JSON.stringify({ requests: connections, seconds, p50Ms, p99Ms, failures }));

/** Sends the request, and resolves with whether a whole answer with status 200 came. */
async function isAnswered(socket: Socket): Promise<boolean> {
  const sentAt = performance.now();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let received = "";
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
    if (!isWhole(received)) return;
    latencies.addSince(sentAt);
    resolve(received.startsWith("HTTP/1.1 200 "));
  });
  socket.once("close", () => resolve(false));
  setTimeout(resolve, TIMEOUT_MS, false).unref();
  socket.write(request);
  return promise;
}

function isWhole(answer: string): boolean {
  const headEnd = answer.indexOf("\r\n\r\n");
  if (headEnd < 0) return false;
  const length = /^content-length: *(\d+)/im.exec(answer.slice(0, headEnd))?.[1];
  return length === undefined ? answer.endsWith("\r\n0\r\n\r\n") : answer.length >= headEnd + 4 + Number(length);
}
