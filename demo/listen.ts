import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { Hono } from "hono";

export interface Listening {
  url: string;
  port: number;
  /** Stops listening and closes the open connections. */
  close(): Promise<void>;
}

/** Serves an app. Port 0 takes a free port. Rejects if the port is taken. */
export async function listen(fetch: Hono["fetch"], port: number, host: string): Promise<Listening> {
  // The globals stay as they are, because `npm run dev` runs the simulated CDN in the same process.
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false }) as Server;
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${address.port}`,
    port: address.port,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
