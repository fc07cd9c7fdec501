import { createServer } from "node:net";
import { DevError } from "./dev-error.ts";

/** The highest port there is. */
export const MAX_PORT = 65_535;

/** Another process listens on the port. */
export class PortTaken extends Error {
  readonly port: number;

  constructor(port: number) {
    super(`port ${port} is taken`);
    this.port = port;
  }
}

/** The addresses of `localhost` on this machine; the port is free on all of them. Rejects with `PortTaken` or `DevError`. */
export async function freeHosts(port: number): Promise<readonly string[]> {
  await tryToListen("127.0.0.1", port);
  try {
    await tryToListen("::1", port);
    return ["127.0.0.1", "::1"];
  } catch (error) {
    if (error instanceof PortTaken) throw error;
    return ["127.0.0.1"]; // This machine has no IPv6.
  }
}

function tryToListen(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") reject(new PortTaken(port));
      else if (error.code !== "EACCES") reject(error);
      else reject(new DevError(`this user may not listen on port ${port}. Choose another with --port, above 1023.`));
    });
    server.listen(port, host, () => server.close(() => resolve()));
  });
}
