import { createServer } from "node:net";
import { edgeEntry, plainEdgeEntry, watchWorker } from "./bundle.ts";
import { loadSite } from "./config-file.ts";
import { type EdgeRuntime, startEdgeRuntime } from "./runtime.ts";

export interface DevEdgeOptions {
  /** The site's rules; `null` for none. */
  readonly configFile: string | null;
  readonly port: number;
  readonly origin: string;
  readonly token: string;
  /** Receives a line for the person at the terminal. */
  readonly tell: (line: string) => void;
}

export interface DevEdge {
  stop(): Promise<void>;
}

/** Starts the edge and starts it anew whenever the config, or anything that it imports, changes. */
export async function startDevEdge({ configFile, port, origin, token, tell }: DevEdgeOptions): Promise<DevEdge> {
  const hosts = await freeHosts(port);
  const variables = {
    TIDEMARK_ORIGIN: origin,
    TIDEMARK_TOKEN: token,
    TIDEMARK_HOSTS: "*",
    TIDEMARK_CLIENT_ADDRESS: "127.0.0.1",
  };
  const started = Promise.withResolvers<void>();
  let runtime: EdgeRuntime | undefined;
  // Builds come one after the other; each waits for the one before, so that no restart overtakes another.
  let work: Promise<void> = Promise.resolve();
  const use = async (script: string) => {
    if (runtime) {
      if (configFile !== null) await loadSite(configFile);
      await runtime.reload({ script, variables });
      tell(
        `${configFile} has changed: its rules are in force. What is stored keeps the lifetime and tags it was stored with.`,
      );
    } else {
      runtime = await startEdgeRuntime({ script, variables }, { port, hosts, onLine: tell });
      started.resolve();
    }
  };
  const watching = await watchWorker(
    configFile === null ? plainEdgeEntry(origin) : edgeEntry(configFile),
    (script) => {
      work = work
        .then(() => use(script))
        .catch((error: Error) => {
          started.reject(error);
          if (runtime) tell(`${error.message}\nThe rules of before stay in force.`);
        });
    },
    (errors) => {
      started.reject(new Error(errors));
      if (runtime) tell(`${configFile}: ${errors}\nThe rules of before stay in force.`);
    },
  );
  try {
    await started.promise;
  } catch (error) {
    await watching.stop();
    throw error;
  }
  return {
    async stop() {
      await watching.stop();
      await work;
      await runtime?.stop();
    },
  };
}

/** Both addresses that `localhost` may mean; ::1 only where this machine has it. Rejects if the port is taken. */
async function freeHosts(port: number): Promise<string[]> {
  await tryToListen("127.0.0.1", port);
  try {
    await tryToListen("::1", port);
    return ["127.0.0.1", "::1"];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") throw error;
    return ["127.0.0.1"]; // A machine without IPv6.
  }
}

function tryToListen(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(port, host, () => server.close(() => resolve()));
  });
}
