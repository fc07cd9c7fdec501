/** A site that comes with the command, for those who have no site of their own yet. */
export interface DemoSite {
  /** The origin that means the demo in a config. */
  readonly origin: string;
  /** Throws a `DevError` for a port that is taken, and leaves nothing then. */
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
  /** The address at which it really listens. */
  readonly origin: string;
  /** More rows for the welcome text. */
  readonly places: readonly (readonly [name: string, url: string])[];
  /** The path of a page that is worth a look. */
  readonly path: string;
  stop(): Promise<void>;
}
