import { once } from "node:events";
import { createServer, type Server } from "node:net";

/**
 * Below the ports that the system hands out itself, so that no other connection takes a port between check and use, and
 * above 10080, the last port that `fetch` refuses.
 */
const FIRST_PORT = 10_100;
const PORTS_IN_A_ROW = 8;
const ROWS = 2_500;
/** Rows between two processes that start one after the other: neither meets ports that the other has checked. */
const ROWS_OF_A_PROCESS = 97;

let row = (process.pid * ROWS_OF_A_PROCESS) % ROWS;

/** The first of this many free ports of 127.0.0.1 in a row, at most eight. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    row = (row + 1) % ROWS;
    const first = FIRST_PORT + row * PORTS_IN_A_ROW;
    const servers: Server[] = [];
    try {
      for (let port = first; port < first + count; port++) servers.push(await listening(port));
      return first;
    } catch {
      // One of them is taken, so the next row is tried.
    } finally {
      await Promise.all(servers.map((server) => once(server.close(), "close")));
    }
  }
}

/** A port of 127.0.0.1 that nobody listens on. */
export function freePort(): Promise<number> {
  return freePorts(1);
}

async function listening(port: number): Promise<Server> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}
