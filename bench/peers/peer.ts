import type { Program } from "../frame/programs.ts";
import { type CommandLine, type Place, ServerProcess } from "../processes/server-process.ts";

/** A certificate for 127.0.0.1 and its key: the paths of their files. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

/** The site behind a server. */
export interface Site {
  readonly origin: URL;
  /** The number of processes, or of cores, that a server may answer with. Default: 1. */
  readonly workers?: number;
  /** The memory for pages, for a server that allocates it all at the start. Default: 256. */
  readonly storeMegabytes?: number;
  /** The certificate for TLS. Default: no TLS. */
  readonly tls?: CertificateFiles | null;
}

/** A server to measure or to compare with: Tidemark, or another cache. */
export interface Peer {
  readonly name: string;
  /** Its installed package; `null` if it comes with the project, or the project downloaded it. */
  readonly needs: Program | null;
  readonly speaksTls: boolean;
  /** Whether an answer came from the server's store, by its fields; `null` if they do not say. */
  readonly isHit: ((field: (name: string) => string | undefined) => boolean) | null;
  /** Whether each of its workers has a store of its own, which asks the origin for pages that another one has. */
  readonly storesApart?: boolean;
  /** Writes its settings into its folder, if it needs any, and says how to start it. */
  commandLine(site: Site, place: Place): Promise<CommandLine>;
}

/** A running peer. */
export class RunningPeer implements AsyncDisposable {
  readonly peer: Peer;
  readonly #site: Site;
  #server: ServerProcess;

  private constructor(peer: Peer, site: Site, server: ServerProcess) {
    this.peer = peer;
    this.#site = site;
    this.#server = server;
  }

  /** Starts a peer in front of an origin, with nothing stored. */
  static async start(peer: Peer, site: Site): Promise<RunningPeer> {
    return new RunningPeer(peer, site, await RunningPeer.#process(peer, site));
  }

  static #process(peer: Peer, site: Site): Promise<ServerProcess> {
    return ServerProcess.start(peer.name, (place) => peer.commandLine(site, place));
  }

  /** It changes when the store is emptied. */
  get url(): URL {
    return new URL(`${this.#site.tls ? "https" : "http"}://${this.#server.url.host}`);
  }

  get server(): ServerProcess {
    return this.#server;
  }

  /** Forgets everything that is stored. */
  async empty(): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
    this.#server = await RunningPeer.#process(this.peer, this.#site);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}
