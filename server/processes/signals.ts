/** What signals act on: the supervisor, or what has been built around it. */
export interface Stoppable {
  readonly ended: Promise<void>;
  reload(): Promise<boolean>;
  stop(): Promise<void>;
}

/** Stops at SIGTERM and SIGINT, at the second one at once; loads the configuration anew at SIGHUP. */
export function obeySignals(supervisor: Stoppable): void {
  const stop = () => void supervisor.stop();
  const reload = () => void supervisor.reload();
  process.on("SIGTERM", stop).on("SIGINT", stop).on("SIGHUP", reload);
  const forget = () => void process.off("SIGTERM", stop).off("SIGINT", stop).off("SIGHUP", reload);
  supervisor.ended.then(forget, forget);
}
