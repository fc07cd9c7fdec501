import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/** Lets a server listen on a free port of 127.0.0.1. Returns its URL, without a slash at the end. */
export async function listenLocally(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return localUrl(server);
}

/** The URL of a server that listens on 127.0.0.1, without a slash at the end. */
export function localUrl(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
