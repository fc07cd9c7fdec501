import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCertificates } from "../../../server/connections/certificates.ts";
import { CacheFolder } from "../../../server/disk/cache-folder.ts";
import { Janitor } from "../../../server/disk/eviction/janitor.ts";
import { janitorService } from "../../../server/disk/eviction/janitor-service.ts";
import { LogFile } from "../../../server/log/log-file.ts";
import { LogKeeper } from "../../../server/log/log-keeper.ts";
import type { RunningWorker, WorkerProgram } from "../../../server/program/worker-program.ts";
import type { EdgeSettings, SiteSettings } from "../../../server/startup/edge-settings.ts";
import { systemClock } from "../../../server/system-clock.ts";
import type { ViewDelta } from "../../../worker/purges/log/log-contract.ts";
import type { SiteInput } from "../../../worker/site/site-input.ts";
import { freePort } from "../../suite/free-ports.ts";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";
import { makeCertificate } from "../connections/make-certificate.ts";

/** One of the sites of a worker under test. */
export interface GivenSite {
  readonly name: string;
  readonly token: string;
  readonly site: SiteInput;
}

/** A worker's program in this process, with several sites and their logs. */
export interface WorkerUnderTest {
  readonly port: number;
  readonly tlsPort: number;
  readonly worker: RunningWorker;
  /** Ends it, once all pages are written, and starts it again on the same disk, with the same logs. */
  restart(): Promise<void>;
  /** Ends it. Resolves to the lines of its access log. */
  stop(): Promise<string[]>;
}

const GRANT = { leaseMs: 1000, longestViewAgeMs: 1000 };

/** Starts the program of the sources, or one that was changed. */
export async function startSites(
  program: WorkerProgram,
  given: readonly GivenSite[],
  changed: Partial<EdgeSettings> = {},
  notAdmitted: readonly string[] = [],
): Promise<WorkerUnderTest> {
  const folder = mkdtempSync(join(TEMPORARY_ROOT, "tidemark-"));
  for (const { name } of given) mkdirSync(join(folder, name), { recursive: true }); // an only site has no name
  const start = () => startIn(folder, program, given, changed, notAdmitted);
  let started = await start();
  return {
    get port() {
      return started.port;
    },
    get tlsPort() {
      return started.tlsPort;
    },
    get worker() {
      return started.worker;
    },
    restart: async () => {
      await started.end();
      started = await start();
    },
    stop: async () => {
      await started.end();
      const log = join(folder, "access.log");
      const lines = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
      rmSync(folder, { recursive: true });
      return lines;
    },
  };
}

async function startIn(
  folder: string,
  program: WorkerProgram,
  given: readonly GivenSite[],
  changed: Partial<EdgeSettings>,
  notAdmitted: readonly string[],
) {
  const pages = join(folder, "pages");
  const janitor = new Janitor(CacheFolder.open(pages), 64 * 1024 ** 2);
  await janitor.scan();
  const served = janitorService(janitor).connect();
  const keepers = new Map(given.map(({ name }) => [name, openLog(join(folder, name))]));
  const { chain, key } = makeCertificate(given.flatMap(({ site }) => site.hosts ?? []));
  writeFileSync(join(folder, "all.crt"), chain);
  writeFileSync(join(folder, "all.key"), key);
  const pair = { certificate: join(folder, "all.crt"), key: join(folder, "all.key") };
  const settings: EdgeSettings = {
    sites: given.map(settingsOf),
    workers: 1,
    memoryBytes: 16 * 1024 ** 2,
    disk: { folder: pages, maxBytes: 64 * 1024 ** 2 },
    roomForBodies: { memoryBytes: 1024 ** 2, fileBytes: 0, mostFiles: null, folder: null },
    maxConnections: 20_000,
    maxOriginConnections: null,
    maxOpenPages: null,
    usesFastAnswers: true,
    tls: {
      certificates: readCertificates({ pairs: [pair], folder: null }),
      ticketSecret: randomBytes(48).toString("base64"),
    },
    usesAcme: false,
    usesProxyProtocol: false,
    strictTransportSecurity: null,
    accessLog: { path: join(folder, "access.log"), format: "combined" },
    ...changed,
  };
  const line = { ask: (question: unknown) => served.ask(question), tell: (message: unknown) => served.tell(message) };
  const worker = await program.startWorker({ name: "worker-1", settings, logs: keepers, line });
  for (const [site, keeper] of keepers) connect(keeper, worker, site);
  const [port, tlsPort] = [await freePort(), await freePort()];
  await worker.listen(
    [
      { address: `127.0.0.1:${port}`, scheme: "http", handles: [{ host: "127.0.0.1", port }] },
      { address: `127.0.0.1:${tlsPort}`, scheme: "https", handles: [{ host: "127.0.0.1", port: tlsPort }] },
    ],
    notAdmitted,
  );
  const end = async () => {
    await worker.drain(1_500);
    for (const keeper of keepers.values()) keeper.close();
    await janitor.close();
  };
  return { worker, port, tlsPort, end };
}

/** A site over HTTP without TLS, as `prepareSite` would have it. One that names no hosts takes any. */
function settingsOf({ name, token, site }: GivenSite): SiteSettings {
  const url = typeof site.origin === "object" && "url" in site.origin ? site.origin.url : site.origin;
  const origin = { url: String(url), socketPath: null };
  const tokens = { TIDEMARK_TOKEN: token };
  const overrides = site.hosts === undefined ? { hosts: null } : {};
  return { name, site, overrides, origin, parent: null, node: "node", tokens, toHttps: null };
}

function openLog(folder: string): LogKeeper {
  const onReplaced = () => undefined;
  const file = new LogFile({ folder, clocks: systemClock, newId: randomUUID, grant: GRANT, onReplaced });
  const onFailure = (cause: unknown) => console.error(cause);
  const told = { onFailure, onUnwritable: onFailure, onWritable: () => undefined };
  return new LogKeeper({ file, clock: systemClock, hasStrangers: () => false, ...told });
}

/** Makes the worker a reader of the log of one site, as the supervisor does over a socket. */
function connect({ readers }: LogKeeper, worker: RunningWorker, site: string): void {
  const push = async (delta: ViewDelta) => {
    const hasLearned = await worker.learn(delta, site);
    if (hasLearned) readers.confirm("worker-1", { logId: delta.logId, seq: delta.to });
  };
  readers.adopt("worker-1");
  readers.connect("worker-1", { push: (delta) => void push(delta) }, null);
}
