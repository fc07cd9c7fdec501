/** The result of one stretch of load. */
export interface Load {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** `NaN` if the generator does not report percentiles. */
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
  /** Fields of each request, as `Name: value`. Default: none. Only wrk sends them. */
  readonly fields?: readonly string[];
}

/** Load of a fixed number of requests. */
export interface CountedLoadSettings {
  readonly connections: number;
  readonly requests: number;
}
