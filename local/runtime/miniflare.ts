import { join } from "node:path";
import { Log, LogLevel, Miniflare, MiniflareCoreError, type MiniflareOptions } from "miniflare";
import { COMPATIBILITY_DATE } from "../../package/compatibility-date.ts";

/** One edge in the Workers runtime on this machine. This file has every `new Miniflare` of the project. */
export interface EdgeRuntime {
  /** Where it listens: `http://127.0.0.1:<port>`. */
  readonly url: URL;
  /**
   * Replaces the worker's code or variables. The cache and the log stay; the isolate's memory is lost. The port stays, unless
   * it was a free one (0) that another process took while the runtime restarted.
   */
  reload(worker: EdgeWorker): Promise<void>;
  /** Resolves with how many entries the cache held. */
  emptyCache(): Promise<number>;
  stop(): Promise<void>;
}

/** A file that a worker imports, and that is no code of its own. */
export interface FileModule {
  readonly type: "Text" | "Data" | "CompiledWasm";
  readonly contents: Uint8Array;
}

/** One bundled module, and its variables. */
export interface EdgeWorker {
  readonly script: string;
  /** What the script imports: the code of a module, or a file, by its name, such as `pages.js`. Default: nothing. */
  readonly modules?: Readonly<Record<string, string | FileModule>>;
  readonly variables: Readonly<Record<string, unknown>>;
  /** False for a worker that is not an edge and has no class `PurgeLog`. Default true. */
  readonly purgeLog?: boolean;
}

export interface EdgeRuntimeOptions {
  /** 0 for a free port, then only on 127.0.0.1. */
  readonly port: number;
  /** Default: 127.0.0.1 and, on a fixed port, ::1. */
  readonly hosts?: readonly string[];
  /** Receives each line that the worker writes. Default: the lines are dropped. */
  readonly onLine?: (line: string) => void;
  /** Default `edge`. Edges that share a purge log need different names. */
  readonly name?: string;
  /** The worker in another runtime whose purge log this is, and the folder in which runtimes find each other. Default: its own log. */
  readonly log?: { readonly of: string; readonly registry: string };
  /** A folder for the cache and the edge's own log. Default: neither outlives the edge. */
  readonly persist?: string;
  /**
   * An existing folder for files that the runtime writes while it lives; its owner removes it. Default: the system's.
   */
  readonly temporary?: string;
  readonly compatibilityFlags?: readonly string[];
}

/** Starts an edge. Its socket is the runtime's own: Miniflare's entry worker would cost three quarters of the speed. */
export async function startEdgeRuntime(worker: EdgeWorker, options: EdgeRuntimeOptions): Promise<EdgeRuntime> {
  const hosts = options.hosts ?? (options.port === 0 ? ["127.0.0.1"] : ["127.0.0.1", "::1"]);
  const { name = "edge", log, persist, temporary } = options;
  const purgeLogOptions = { className: "PurgeLog", useSQLite: true, ...(log && { scriptName: log.of }) };
  const settings = ({ script, modules, variables, purgeLog = true }: EdgeWorker, port?: number): MiniflareOptions => ({
    name,
    modules: modulesOf(script, modules),
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags: [...(options.compatibilityFlags ?? [])],
    cf: false,
    bindings: variables as Record<string, never>,
    durableObjects: purgeLog ? { PURGE_LOG: purgeLogOptions } : {},
    ...(log && { unsafeDevRegistryPath: log.registry }),
    ...(persist && { cachePersist: join(persist, "cache"), durableObjectsPersist: join(persist, "log") }),
    unsafeDirectSockets: hosts.map((host) => ({ host, port })),
    log: new Log(LogLevel.ERROR),
    handleRuntimeStdio: (stdout: NodeJS.ReadableStream, stderr: NodeJS.ReadableStream) => {
      for (const stream of [stdout, stderr]) forwardLines(stream, options.onLine ?? (() => undefined));
    },
  });
  const make = () => new Miniflare(settings(worker, options.port));
  const miniflare = temporary === undefined ? make() : withTemporaryFolder(temporary, make);
  try {
    await miniflare.ready;
  } catch (error) {
    await miniflare.dispose();
    throw error;
  }
  let url = await miniflare.unsafeGetDirectURL(name);
  return {
    get url() {
      return url;
    },
    reload: async (next) => {
      try {
        await miniflare.setOptions(settings(next, options.port));
      } catch (error) {
        if (options.port !== 0 || !isAddressTaken(error)) throw error;
        await miniflare.setOptions(settings(next)); // without a fixed port it uses another free one
      }
      url = await miniflare.unsafeGetDirectURL(name);
    },
    emptyCache: () => miniflare.purgeCache(),
    stop: () => miniflare.dispose(),
  };
}

/** Workers with one script in one runtime. They share its cache and nothing else. */
export interface WorkerGroup {
  /** A worker's own address: `http://127.0.0.1:<port>`. It may be another one after a restart. */
  addressOf(worker: string): Promise<URL>;
  /** Ends the runtime and starts it again: the cache stays, all memory is lost. */
  restart(): Promise<void>;
  emptyCache(): Promise<void>;
  stop(): Promise<void>;
}

export interface WorkerGroupOptions extends EdgeWorker {
  /** The name of each worker. */
  readonly workers: readonly string[];
  /** A folder in which runtimes find each other's workers by name. */
  readonly registry: string;
  /** An existing folder for files that the runtime writes while it lives; its owner removes it. */
  readonly temporary: string;
  /** The class of the purge log, in this group's own script or in that of the worker `of`. */
  readonly log: { readonly className: string; readonly of?: string };
  /** A folder for what Durable Objects store. Default: it does not outlive the group. */
  readonly persist?: string;
  /** The other bindings of the workers, in Miniflare's words. Default: none. */
  readonly bindings?: object;
}

/** Starts a group of workers on free ports. */
export async function startWorkerGroup(options: WorkerGroupOptions): Promise<WorkerGroup> {
  const { workers, registry, temporary, log, persist, script, modules, variables, bindings } = options;
  const purgeLog = {
    className: log.className,
    useSQLite: true,
    ...(log.of === undefined ? {} : { scriptName: log.of }),
  };
  const settings = {
    cf: false,
    unsafeDevRegistryPath: registry,
    ...(persist === undefined ? {} : { durableObjectsPersist: persist }),
    log: new Log(LogLevel.NONE),
    // The lines are read only because a full pipe would stop the runtime.
    handleRuntimeStdio: (stdout: NodeJS.ReadableStream, stderr: NodeJS.ReadableStream) => {
      for (const stream of [stdout, stderr]) stream.resume();
    },
    workers: workers.map((name, index) => ({
      compatibilityDate: COMPATIBILITY_DATE,
      ...bindings,
      // The first has what all of them are one worker for: Durable Objects, and the consumer of a queue.
      ...(index > 0 && { queueConsumers: {} }),
      name,
      modules: modulesOf(script, modules),
      bindings: variables,
      durableObjects: { ...durableObjectsOf(bindings, index > 0 ? workers[0] : undefined), PURGE_LOG: purgeLog },
      unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
    })),
  } as MiniflareOptions;
  const miniflare = withTemporaryFolder(temporary, () => new Miniflare(settings));
  try {
    await miniflare.ready;
  } catch (error) {
    await miniflare.dispose();
    throw error;
  }
  return {
    addressOf: (worker) => miniflare.unsafeGetDirectURL(worker),
    restart: () => miniflare.setOptions(settings),
    emptyCache: async () => void (await miniflare.purgeCache()),
    stop: () => miniflare.dispose(),
  };
}

/** A list of modules is not parsed for imports, which would take as long as the rest of the start. */
function modulesOf(
  script: string,
  others: EdgeWorker["modules"] = {},
): (FileModule | { type: "ESModule"; path: string; contents: string })[] {
  const all = [["worker.mjs", script] as const, ...Object.entries(others)];
  return all.map(([path, module]) =>
    typeof module === "string" ? { type: "ESModule", path, contents: module } : { ...module, path },
  );
}

/**
 * Miniflare chooses a folder below the system's when it is made, and `dispose` does not wait for its removal: a process
 * that ends then would leave it behind. The variable is changed for the time of this synchronous call only.
 */
function withTemporaryFolder<T>(folder: string, make: () => T): T {
  const name = process.platform === "win32" ? "TEMP" : "TMPDIR";
  const earlier = process.env[name];
  process.env[name] = folder;
  try {
    return make();
  } finally {
    if (earlier === undefined) delete process.env[name];
    else process.env[name] = earlier;
  }
}

/**
 * What the code of a worker threw while it was loaded, like `ReferenceError: process is not defined`, so that the runtime
 * did not start; `null` if it failed for another reason. `lines`: what the runtime wrote meanwhile.
 */
export function thrownWhileLoading(error: unknown, lines: readonly string[]): string | null {
  if (!(error instanceof MiniflareCoreError) || error.code !== "ERR_RUNTIME_FAILURE") return null;
  return /Uncaught (.+)/.exec([error.message, ...lines].join("\n"))?.[1] ?? null;
}

function isAddressTaken(error: unknown): boolean {
  return error instanceof MiniflareCoreError && error.code === "ERR_ADDRESS_IN_USE";
}

type DurableObjects = Readonly<Record<string, string | { readonly className: string; readonly scriptName?: string }>>;

/** `of`: the worker that has the objects of the script's own classes; `undefined` for each its own. */
function durableObjectsOf(bindings: object | undefined, of: string | undefined): DurableObjects {
  const { durableObjects = {} } = (bindings ?? {}) as { readonly durableObjects?: DurableObjects };
  const shared = Object.entries(durableObjects).map(([binding, given]) => {
    const object = typeof given === "string" ? { className: given } : given;
    return [binding, of === undefined ? object : { ...object, scriptName: object.scriptName ?? of }] as const;
  });
  return Object.fromEntries(shared);
}

function forwardLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") onLine(line);
  });
}
