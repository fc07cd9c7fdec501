import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const CHUNK = Buffer.alloc(64 * 1024, "tide ");

/** An origin whose pages all have this many bytes, generated while they are sent. `/small` has an empty body. */
export async function startLargeOrigin(bytes: number): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    const isSmall = request.url === "/small";
    response.setHeader("cache-control", "public, max-age=3600");
    response.setHeader("content-length", isSmall ? 0 : bytes);
    if (isSmall || request.method === "HEAD") response.end();
    else void send(response, bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function send(response: ServerResponse, bytes: number): Promise<void> {
  for (let left = bytes; left > 0 && !response.destroyed; left -= CHUNK.length) {
    const goesOn = response.write(left < CHUNK.length ? CHUNK.subarray(0, left) : CHUNK);
    if (!goesOn) await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
    response.removeAllListeners("drain").removeAllListeners("close");
  }
  response.end();
}
