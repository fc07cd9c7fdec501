import { createServer } from "node:net";

/** A port that something else listens on. */
export class PortTaken extends Error {
  readonly port: number;

  constructor(port: number) {
    super(`port ${port} is taken`);
    this.port = port;
  }
}

/** Both addresses that `localhost` may mean; ::1 only where this machine has it. Rejects with `PortTaken`. */
export async function freeHosts(port: number): Promise<readonly string[]> {
  await tryToListen("127.0.0.1", port);
  try {
    await tryToListen("::1", port);
    return ["127.0.0.1", "::1"];
  } catch (error) {
    if (error instanceof PortTaken) throw error;
    return ["127.0.0.1"]; // A machine without IPv6.
  }
}

function tryToListen(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(error.code === "EADDRINUSE" ? new PortTaken(port) : error);
    });
    server.listen(port, host, () => server.close(() => resolve()));
  });
}
