import { Log, LogLevel, Miniflare, type MiniflareOptions } from "miniflare";

/** One edge in the Workers runtime on this machine. Every `new Miniflare` of the project stands in this file. */
export interface EdgeRuntime {
  /** Where it listens: `http://127.0.0.1:<port>`. */
  readonly url: URL;
  /** Replaces the worker's code or variables on the same port. The cache and the log stay; the isolate's memory is lost. */
  reload(worker: EdgeWorker): Promise<void>;
  stop(): Promise<void>;
}

/** What runs: one bundled module, and its variables. */
export interface EdgeWorker {
  readonly script: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** False for a worker that is no edge and has no class `PurgeLog`. Default true. */
  readonly purgeLog?: boolean;
}

export interface EdgeRuntimeOptions {
  /** 0 for a free port, and then on 127.0.0.1 alone. */
  readonly port: number;
  /** Default: 127.0.0.1 and, on a fixed port, ::1. */
  readonly hosts?: readonly string[];
  /** Receives each line that the worker writes. Default: nobody. */
  readonly onLine?: (line: string) => void;
}

/** The newest date that the pinned runtime accepts is later; `wrangler.toml` names the same one. */
const COMPATIBILITY_DATE = "2026-07-30";

/** Starts an edge. Its socket is the runtime's own: Miniflare's entry worker would cost three quarters of the speed. */
export async function startEdgeRuntime(worker: EdgeWorker, options: EdgeRuntimeOptions): Promise<EdgeRuntime> {
  const hosts = options.hosts ?? (options.port === 0 ? ["127.0.0.1"] : ["127.0.0.1", "::1"]);
  const settings = ({ script, variables, purgeLog = true }: EdgeWorker): MiniflareOptions => ({
    name: "edge",
    modules: true,
    script,
    compatibilityDate: COMPATIBILITY_DATE,
    cf: false,
    bindings: variables as Record<string, never>,
    durableObjects: purgeLog ? { PURGE_LOG: { className: "PurgeLog", useSQLite: true } } : {},
    unsafeDirectSockets: hosts.map((host) => ({ host, port: options.port })),
    log: new Log(LogLevel.ERROR),
    handleRuntimeStdio: (stdout: NodeJS.ReadableStream, stderr: NodeJS.ReadableStream) => {
      for (const stream of [stdout, stderr]) forwardLines(stream, options.onLine ?? (() => undefined));
    },
  });
  const miniflare = new Miniflare(settings(worker));
  await miniflare.ready;
  return {
    url: await miniflare.unsafeGetDirectURL("edge"),
    reload: (next) => miniflare.setOptions(settings(next)),
    stop: () => miniflare.dispose(),
  };
}

function forwardLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = "";
  stream.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") onLine(line);
  });
}
