import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { listenLocally, localUrl } from "./local-url.ts";

export interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** The places that it was asked to connect to. */
  readonly asked: readonly (string | undefined)[];
  readonly open: ReadonlySet<Socket>;
}

/** A proxy that leads every tunnel to this server. `null`: it refuses each; `undefined`: never answers; `false`: hangs up. */
export async function startProxy(target: string | null | undefined | false): Promise<Proxy> {
  const asked: (string | undefined)[] = [];
  const open = new Set<Socket>();
  const server = createServer((_request, response) => void response.writeHead(500).end());
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket)).on("error", () => {});
  });
  server.on("connect", async ({ url }, socket: Socket) => {
    asked.push(url);
    if (target === undefined) return;
    if (target === false) {
      socket.destroy();
      return;
    }
    if (target === null) {
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      return;
    }
    const tunnel = connect(Number(new URL(target).port), "127.0.0.1");
    tunnel.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.on("close", () => tunnel.destroy());
    await once(tunnel, "connect");
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    tunnel.pipe(socket).pipe(tunnel);
  });
  await listenLocally(server);
  return {
    url: localUrl(server),
    asked,
    open,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
