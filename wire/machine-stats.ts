/** A machine of `tidemark serve`, at one moment. All of its sites share it. */
export interface MachineStats {
  /** Its host name, which is that of its PoP as well. */
  name: string;
  /** The pages in the memories of all workers together, and `--memory`. */
  memory: { bytes: number; maxBytes: number };
  /** `null` without a disk. */
  disk: DiskStats | null;
  /** Its purge log for this site. */
  log: LogStats;
  /** For all workers together; `null` if the site has no limit for the origin (`origin.concurrency`). */
  origin: OriginQueueStats | null;
  /** The supervisor first. */
  processes: ProcessStats[];
  /** Workers that died since the server started. Those that were told to end do not count. */
  workerDeaths: number;
  /** The certificates for this site's hosts; all certificates if the server has one site. */
  certificates: CertificateStats[];
  /** The same in sentences, for clients without their own words. */
  inWords: string[];
}

/** The disk of a machine's pages. */
export interface DiskStats {
  /** The bytes of the cache's files, including files that are being written or deleted. */
  usedBytes: number;
  /** The part of `--disk` for pages. */
  maxBytes: number;
  /** The free bytes of the file system; `null` if the system does not say. */
  freeBytes: number | null;
  files: number;
  /** Files that were evicted since the server started. */
  evictions: number;
}

/** The purge log of a site on a machine. */
export interface LogStats {
  /** Whether its disk takes writes. If not, purges get 503, and the counts stand still. */
  isWritable: boolean;
  /** The free bytes of its file system; `null` if the system does not say. */
  freeBytes: number | null;
}

/** A process of a machine. */
export interface ProcessStats {
  /** `supervisor`, or the name of a worker: `worker-3`. Numbers are not used again. */
  name: string;
  pid: number;
  /** Whether it is only finishing its answers. */
  isDraining: boolean;
  residentBytes: number;
  /** Its open files and sockets, and their limit; `null` if the system does not say. */
  openFiles: number | null;
  maxOpenFiles: number | null;
  /** The further figures of a worker; `null` for the supervisor. */
  worker: WorkerStats | null;
}

/** A worker of a machine. */
export interface WorkerStats {
  /** Connections of clients. */
  connections: number;
  /** It refuses connections above this. */
  maxConnections: number;
  /** The pages in its memory, and the pages evicted since it started. */
  memory: { entries: number; bytes: number; maxBytes: number; evictions: number };
  /** `null` without a limit of requests at the origin. */
  origin: OriginQueueStats | null;
}

/** The requests of this site at its origin, and the queue for it. */
export interface OriginQueueStats {
  /** Requests at the origin now. */
  running: number;
  /** The most that the machine's workers may have there together. */
  concurrency: number;
  /**
   * Requests that wait for their turn, and the most that may wait, as fast as the origin is now. Further ones are turned
   * away.
   */
  waiting: number;
  maxWaiting: number;
  /** How long the first waiting request has waited; 0 if none waits. */
  longestWaitMs: number;
}

/** A certificate that a machine answers with. */
export interface CertificateStats {
  /** The file that it was read from. */
  file: string;
  names: string[];
  /** RFC 3339, UTC, like `expiresAt`. Older servers do not tell it. */
  startsAt?: string | undefined;
  expiresAt: string;
}
