import { createServer, type Socket } from "node:net";
import { sendBytes } from "../runtime/raw-connection.ts";
import { listenLocally, localUrl } from "../suite/local-url.ts";
import type { StartRawEdge } from "./raw/raw-meetings.ts";

/** Sends bytes to the origin and gives its answer. */
export type Ask = (bytes: string) => Promise<string>;

/** The bytes that an edge writes to a visitor who sent these bytes; `null` to write nothing at all. */
export type Behaviour = (bytes: string, ask: Ask) => Promise<string | null>;

/** An edge that stores pages by path, requests them plainly, and has one fault. */
export function brokenEdge(behaviour: (plainly: Behaviour) => Behaviour): StartRawEdge {
  return async (origin) => {
    const answer = behaviour(keptByPath());
    const sockets = new Set<Socket>();
    const ask: Ask = async (bytes) => (await sendBytes(new URL(origin), bytes)).answered;
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      let bytes = "";
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      socket.on("error", () => undefined); // A visitor may close the connection.
      socket.on("data", (chunk) => {
        bytes += chunk.toString("latin1");
      });
      socket.on("end", async () => {
        const written = await answer(bytes, ask);
        if (written !== null) socket.end(written, "latin1");
      });
    });
    await listenLocally(server);
    return {
      url: new URL(localUrl(server)),
      stop: async () => {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  };
}

function keptByPath(): Behaviour {
  const kept = new Map<string, string>();
  return async (bytes, ask) => {
    const path = /^[A-Z]+ (\S+) /.exec(bytes)?.[1] ?? "/";
    const answer = kept.get(path) ?? (await ask(`GET ${path} HTTP/1.1\r\nHost: origin.example.test\r\n\r\n`));
    kept.set(path, answer);
    return answer;
  };
}
