import { randomInt } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:net";

/**
 * Ports below those that systems hand out by themselves, so that no other connection gets the port of a server that is closed
 * and is to open again.
 */
const [FIRST_PORT, END_OF_PORTS] = [30_200, 32_700];

/** How many ports are tried until one is free. */
const MAX_TRIES = 100;

/** Listens on this port of 127.0.0.1, or for 0 on a free one that can be had again after a time. Resolves to the port. */
export async function listenOnKeptPort(server: Server, port: number): Promise<number> {
  for (let tries = 1; ; tries++) {
    const tried = port || randomInt(FIRST_PORT, END_OF_PORTS);
    try {
      await once(server.listen(tried, "127.0.0.1"), "listening");
      return tried;
    } catch (error) {
      if (port !== 0 || tries === MAX_TRIES) throw error;
    }
  }
}
