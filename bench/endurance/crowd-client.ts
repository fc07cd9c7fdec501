/**
 * A program that holds many connections until its input ends: `node crowd-client.ts <manner> <url> <connections> <bytes>`.
 * The page at the URL is that of so many bytes.
 *
 * - `idle`: each connection sends one request, reads the answer, and stays.
 * - `slow`: each requests the page and reads a little of it ten times a second.
 * - `silent`: each sends 1,000 requests at once and reads nothing.
 *
 * It prints a line when all have begun to connect, and its counts as JSON at the end.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { pageOfBytes } from "../inputs/page-of-bytes.ts";
import type { CrowdCounts } from "./crowd-counts.ts";

const IN_A_PIPELINE = 1000;
const SLOW_READ_BYTES = 8 * 1024;
const SLOW_READ_EVERY_MS = 100;
const CONNECTS_AT_A_TIME = 100;
/** Turns of the event loop. A connection that has ended takes three until it is closed. */
const READS_ON_TURNS = 10;

const [manner = "idle", address = "", count = "0", bytes = "0"] = process.argv.slice(2);
const url = new URL(address);
const request = `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`;
const page = pageOfBytes(Number(bytes));

/** The received part of the answer: all of it, or its beginning if the connection reads slowly. */
const received = new Map<Socket, string>();
const sockets: Socket[] = [];
const errors = new Set<string>();
let refused = 0;
for (let number = 0; number < Number(count); number++) {
  const socket = connect(Number(url.port), url.hostname).setEncoding("latin1");
  sockets.push(socket);
  socket.on("error", ({ message, code = message }: NodeJS.ErrnoException) => {
    errors.add(code);
    socket.destroy();
  });
  socket.once("close", () => {
    if (socket.bytesRead === 0 && manner !== "silent") refused++;
  });
  if (manner === "idle") {
    socket.on("data", (piece: string) => received.set(socket, (received.get(socket) ?? "") + piece));
    socket.write(request);
  } else if (manner === "slow") {
    socket.pause().write(request);
  } else {
    socket.pause().write(request.repeat(IN_A_PIPELINE));
  }
  if (number % CONNECTS_AT_A_TIME === CONNECTS_AT_A_TIME - 1 && socket.connecting) {
    await once(socket, "connect").catch(() => undefined); // counted when it closes
  }
}
if (manner === "slow") {
  setInterval(() => {
    for (const socket of sockets) {
      const piece: string | null = socket.read(SLOW_READ_BYTES);
      if (piece !== null && !received.has(socket)) received.set(socket, piece);
    }
  }, SLOW_READ_EVERY_MS);
}
console.log("connected");
for await (const _ of process.stdin) {
  // Only the end of the input counts.
}
// Answers and ends that have arrived by now may not have been read yet.
for (let turn = 0; turn < READS_ON_TURNS; turn++) await new Promise(setImmediate);
const wrong: Record<string, number> = {};
let answered = 0;
for (const text of received.values()) {
  if (isRight(text)) answered++;
  else wrong[statusLineOf(text)] = (wrong[statusLineOf(text)] ?? 0) + 1;
}
const open = sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length;
const readBytes = sockets.reduce((sum, socket) => sum + socket.bytesRead, 0);
const counts: CrowdCounts = { open, answered, wrong, refused, errors: [...errors], readBytes };
console.log(JSON.stringify(counts));
process.exit();

/** Whether it is a 200 with the page, or begins so if it is read slowly. */
function isRight(text: string): boolean {
  const headEnds = text.indexOf("\r\n\r\n");
  if (headEnds < 0 || !text.startsWith("HTTP/1.1 200 ")) return false;
  const body = text.slice(headEnds + 4);
  return manner === "slow" ? page.startsWith(body) : page === body;
}

function statusLineOf(text: string): string {
  return text.split("\r\n", 1)[0]!;
}
