/** The result of one stretch of load. */
export interface Load {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers that were not 2xx, and requests without an answer. */
  readonly failures: number;
  /** The generator's own CPU time divided by the wall time: 1 is one core. */
  readonly generatorCpu: number;
}

export interface LoadSettings {
  readonly connections: number;
  readonly seconds: number;
}
