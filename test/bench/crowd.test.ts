import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { Crowd } from "../../bench/endurance/crowd.ts";
import { faultsOf } from "../../bench/endurance/crowd-counts.ts";
import { pageOfBytes } from "../../bench/inputs/page-of-bytes.ts";

const BYTES = 1000;
const CONNECTIONS = 10;
const PAGE = `HTTP/1.1 200 OK\r\ncontent-length: ${BYTES}\r\n\r\n${pageOfBytes(BYTES)}`;
const REFUSAL = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/** What is wrong with a crowd before a server that answers each connection by its number, from 0 on. */
async function faultsBefore(answer: (socket: Socket, number: number) => void): Promise<readonly string[]> {
  let number = 0;
  const server = createServer((socket) => {
    const own = number++;
    socket.on("error", () => undefined).once("data", () => answer(socket, own));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const { port } = server.address() as AddressInfo;
    await using crowd = await Crowd.gather("idle", new URL(`http://127.0.0.1:${port}/`), CONNECTIONS, BYTES);
    await expect.poll(() => number).toBe(CONNECTIONS);
    return faultsOf(await crowd.leave(), CONNECTIONS);
  } finally {
    server.close();
  }
}

test("a crowd that got the page and stays connected has no fault", async () => {
  expect(await faultsBefore((socket) => socket.write(PAGE))).toEqual([]);
});

test("a crowd reports refusals, other or missing answers, and connections that were not open at the end", async () => {
  const faults = await faultsBefore((socket, number) => {
    if (number < 2) socket.destroy();
    else if (number < 5) socket.end(REFUSAL);
    else if (number === 5) socket.write(PAGE.replace("tide", "tied"));
    else if (number > 6) socket.write(PAGE);
  });
  expect(faults).toEqual([
    "2 of 10 connections were closed without an answer",
    '3 of 10 connections got "HTTP/1.1 503 Service Unavailable", which is not the page',
    '1 of 10 connections got "HTTP/1.1 200 OK", which is not the page',
    "1 of 10 connections got no answer",
    "5 of 10 connections were not open at the end of the wait",
  ]);
});
