/** A site that comes with the command, for users without their own site. */
export interface DemoSite {
  /** The origin by which a config names the demo. */
  readonly origin: string;
  /** Throws a `DevError` for a port that is taken, and leaves nothing running. */
  start(edge: DemoEdge, printLine: (line: string) => void): Promise<RunningDemo>;
}

/** The edge in front of a demo. */
export interface DemoEdge {
  readonly endpoint: string;
  readonly token: string;
  /** Ports that the demo must not use. */
  readonly ports: readonly number[];
  /** The host name that is forwarded, beside those of this machine; `null` for none. */
  readonly publicHost: string | null;
}

export interface RunningDemo {
  /** The address on which it listens. */
  readonly origin: string;
  /** More rows for the welcome text. */
  readonly places: readonly (readonly [name: string, url: string])[];
  /** The path of a page that is worth a look. */
  readonly path: string;
  stop(): Promise<void>;
}
