/**
 * A program that holds many connections until its input ends: `node crowd-client.ts <manner> <url> <connections>`.
 *
 * - `idle`: each connection sends one request, reads the answer, and stays.
 * - `slow`: each requests the page and reads a little of it ten times a second.
 * - `silent`: each sends 1,000 requests at once and reads nothing.
 *
 * It prints a line when all have connected, and its counts as JSON at the end.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

const IN_A_PIPELINE = 1000;
const SLOW_READ_BYTES = 8 * 1024;
const SLOW_READ_EVERY_MS = 100;
const CONNECTS_AT_A_TIME = 100;

const [manner = "idle", address = "", count = "0"] = process.argv.slice(2);
const url = new URL(address);
const request = `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`;

const sockets: Socket[] = [];
let answered = 0;
let refused = 0;
for (let number = 0; number < Number(count); number++) {
  const socket = connect(Number(url.port), url.hostname);
  sockets.push(socket);
  socket.on("error", () => socket.destroy());
  socket.once("close", () => {
    if (socket.bytesRead === 0 && manner !== "silent") refused++;
  });
  if (manner === "idle") {
    socket.once("data", () => answered++).resume();
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
    for (const socket of sockets) socket.read(SLOW_READ_BYTES);
  }, SLOW_READ_EVERY_MS);
}
console.log("connected");
for await (const _ of process.stdin) {
  // Only the end of the input counts.
}
const open = sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length;
const readBytes = sockets.reduce((sum, socket) => sum + socket.bytesRead, 0);
console.log(JSON.stringify({ open, answered, refused, readBytes }));
process.exit();
