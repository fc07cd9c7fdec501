/** What signals act on: the supervisor, or what has been built around it. */
export interface Stoppable {
  readonly ended: Promise<void>;
  reload(): Promise<boolean>;
  /** Opens the log files anew. */
  reopen(): Promise<void>;
  stop(): Promise<void>;
}

/** Stops at SIGTERM and SIGINT, at the second one at once; loads the configuration anew at SIGHUP, and opens log files anew at SIGUSR1. */
export function obeySignals(supervisor: Stoppable): void {
  const stop = () => void supervisor.stop();
  const reload = () => void supervisor.reload();
  const reopen = () => void supervisor.reopen();
  const listeners = { SIGTERM: stop, SIGINT: stop, SIGHUP: reload, SIGUSR1: reopen } as const;
  for (const [signal, listener] of Object.entries(listeners)) process.on(signal, listener);
  const forget = () => {
    for (const [signal, listener] of Object.entries(listeners)) process.off(signal, listener);
  };
  supervisor.ended.then(forget, forget);
}
