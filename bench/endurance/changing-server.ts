import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "../../test/suite/free-ports.ts";
import { makeCertificate } from "../inputs/certificate.ts";
import type { ServerProcess } from "../processes/server-process.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import type { StaticOrigin } from "../server/static-origin.ts";
import { EnduranceServer } from "./endurance-server.ts";

const IS_RELOADED = /the new settings are in use/;

/** A server with TLS on a second port, whose rules, certificate and program can be replaced while it runs. */
export class ChangingServer extends EnduranceServer {
  readonly encrypted: URL;
  readonly #files: { readonly config: string; readonly certificate: string; readonly key: string };
  #config = 0;
  /** The serial number of the newest certificate, as `openssl` writes it. */
  serial: string;

  private constructor(origin: StaticOrigin, server: ServerProcess, port: number) {
    super(origin, server);
    this.encrypted = new URL(`https://127.0.0.1:${port}`);
    this.#files = filesIn(origin.folder);
    this.serial = "";
  }

  static override async start(command: string, workers: number): Promise<ChangingServer> {
    const port = await freePort();
    let serial = "";
    const make = (origin: StaticOrigin, server: ServerProcess) => new ChangingServer(origin, server, port);
    const started = await EnduranceServer.before(make, workers, ({ folder }) => {
      const { config, certificate, key } = filesIn(folder);
      writeConfig(config, 0);
      serial = makeCertificate(certificate, key);
      return `${command} --config ${config} --listen-tls 127.0.0.1:${port} --tls-cert ${certificate} --tls-key ${key}`;
    });
    started.serial = serial;
    return started;
  }

  /** New rules, which the server notices by itself. Resolves when they are in use. */
  async reload(): Promise<void> {
    const isReloaded = this.server.prints(IS_RELOADED);
    writeConfig(this.#files.config, ++this.#config);
    await isReloaded;
  }

  /** A new certificate. Resolves when it is in use. */
  async changeCertificate(): Promise<void> {
    const { certificate, key } = this.#files;
    const serial = makeCertificate(`${certificate}.new`, `${key}.new`);
    renameSync(`${key}.new`, key);
    renameSync(`${certificate}.new`, certificate);
    const isReloaded = this.server.prints(IS_RELOADED);
    this.server.signal("SIGHUP");
    await isReloaded;
    this.serial = serial;
  }

  /** Replaces the server by one that it starts itself. Resolves when that answers. */
  async upgrade(): Promise<void> {
    const isOver = this.server.prints(/has taken over|the old server goes on/);
    this.server.signal("SIGUSR2");
    const line = await isOver;
    if (!line.includes("has taken over")) throw new BenchFailure(`An upgrade has failed: ${line}`);
  }
}

/** How often what has been replaced. */
export interface Changes {
  readonly reloads: number;
  readonly certificates: number;
  readonly upgrades: number;
}

/** Replaces rules, certificate and server in turn, with so many seconds between. */
export async function changeUntil(
  isOver: () => boolean,
  server: ChangingServer,
  everySeconds: number,
): Promise<Changes> {
  const done = { reloads: 0, certificates: 0, upgrades: 0 };
  const turns = [
    async () => {
      await server.reload();
      done.reloads++;
    },
    async () => {
      await server.changeCertificate();
      done.certificates++;
    },
    async () => {
      await server.upgrade();
      done.upgrades++;
    },
  ];
  for (let turn = 0; ; turn++) {
    for (const endsAt = performance.now() + everySeconds * 1000; performance.now() < endsAt; await wait(50)) {
      if (isOver()) return done;
    }
    await turns[turn % turns.length]!();
  }
}

function filesIn(folder: string) {
  return {
    config: join(folder, "tidemark.config.ts"),
    certificate: join(folder, "tls.crt"),
    key: join(folder, "tls.key"),
  };
}

function writeConfig(file: string, version: number): void {
  // Renamed into place, so that the server, which watches the file, never reads half of it.
  writeFileSync(`${file}.new`, `export default { routes: [{ match: "/of-version-${version}/*", ttl: "60s" }] };\n`);
  renameSync(`${file}.new`, file);
}
