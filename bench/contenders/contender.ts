import type { DebianProgram } from "../debian-programs.ts";
import type { WireAnswer } from "../load/raw-request.ts";
import type { CommandLine, Place } from "../processes/server-process.ts";

/** The way in which a row's requests are answered. */
export type RowKind = "hits" | "uncached" | "misses" | "stampede";

/** A certificate for 127.0.0.1 and its key: the paths of their files. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

/** The site that a server stands in front of. */
export interface Site {
  readonly origin: URL;
  /** The folder that the origin serves, for a server that serves files itself. */
  readonly folder: string;
  /** The number of processes, or of cores, that a server may answer with. */
  readonly workers: number;
  /** The size of the page that the row requests, for a server that makes the page itself. */
  readonly bodyBytes: number;
  /** What a server speaks TLS with; `null` if it is to speak none. */
  readonly tls: CertificateFiles | null;
}

/** A server to measure. */
export interface Contender {
  readonly name: string;
  /** The package that it comes from; `null` if it comes with the project. */
  readonly needs: DebianProgram | null;
  /** Why it has no part in rows of a kind; `null` if it has one. */
  absentFrom(kind: RowKind): string | null;
  readonly speaksTls: boolean;
  /** Writes its settings into its folder, if it needs any, and says how to start it. */
  commandLine(site: Site, place: Place): Promise<CommandLine>;
  /** True if it makes the page itself, the same one at every address. */
  readonly isConstant: boolean;
  /** Whether an answer came from the server's store; `null` if the server has no store. */
  readonly isHit: ((answer: WireAnswer) => boolean) | null;
}
