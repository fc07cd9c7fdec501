import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Listening {
  url: string;
  port: number;
}

/** Starts listening and says where; port 0 takes a free one. Rejects when the port is taken. */
export async function listen(server: Server, port: number, host: string): Promise<Listening> {
  server.listen(port, host);
  await once(server, "listening");
  const taken = (server.address() as AddressInfo).port;
  return { url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`, port: taken };
}

/** Stops listening and ends what is open. */
export async function stopListening(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}
