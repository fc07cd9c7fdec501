/** What signals act on: the supervisor, or what has been built around it. */
export interface Stoppable {
  readonly ended: Promise<void>;
  reload(): Promise<boolean>;
  /** Hands over to a new server. */
  upgrade(): Promise<boolean>;
  /** Opens the log files anew. */
  reopen(): Promise<void>;
  stop(): Promise<void>;
}

/** Signals that would end a process that does not listen to them, though they ask for something else. */
const FOR_THE_RUNNING = ["SIGHUP", "SIGUSR1", "SIGUSR2"] as const;
/**
 * A successor holds these back as well: ended between its taking over and its listening to them, it would leave its workers
 * and those of its predecessor alone.
 */
export const TO_STOP = ["SIGTERM", "SIGINT"] as const;

/**
 * Ends the process at these signals while the server starts. It has to listen to them, because the kernel does not end process
 * 1, as in a container, by a signal that it does not listen to.
 */
export function endAtSignals(signals: readonly NodeJS.Signals[]): () => void {
  const end = () => process.exit(0);
  for (const signal of signals) process.on(signal, end);
  return () => {
    for (const signal of signals) process.off(signal, end);
  };
}

/** Holds these signals back while the server starts. The returned function sends those that came on to who listens by then. */
export function holdSignals(signals: readonly NodeJS.Signals[] = FOR_THE_RUNNING): () => void {
  const held = new Set<NodeJS.Signals>();
  const hold = (signal: NodeJS.Signals) => void held.add(signal);
  for (const signal of signals) process.on(signal, hold);
  return () => {
    for (const signal of signals) process.off(signal, hold);
    for (const signal of held) process.emit(signal, signal);
  };
}

/**
 * Stops at SIGTERM and SIGINT, at the second one at once; loads the configuration anew at SIGHUP, opens log files anew at
 * SIGUSR1, and hands over to a new server at SIGUSR2: all as nginx does.
 */
export function obeySignals(supervisor: Stoppable): void {
  const stop = () => void supervisor.stop();
  const reload = () => void supervisor.reload();
  const reopen = () => void supervisor.reopen();
  const upgrade = () => void supervisor.upgrade();
  const listeners = { SIGTERM: stop, SIGINT: stop, SIGHUP: reload, SIGUSR1: reopen, SIGUSR2: upgrade } as const;
  for (const [signal, listener] of Object.entries(listeners)) process.on(signal, listener);
  const forget = () => {
    for (const [signal, listener] of Object.entries(listeners)) process.off(signal, listener);
  };
  supervisor.ended.then(forget, forget);
}
