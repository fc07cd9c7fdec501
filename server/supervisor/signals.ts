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
  return listenTo(signals, () => process.exit(0));
}

/**
 * Holds these signals back while the server starts. The returned function delivers those that arrived to the listeners
 * of that moment.
 */
export function holdSignals(signals: readonly NodeJS.Signals[] = FOR_THE_RUNNING): () => void {
  const held = new Set<NodeJS.Signals>();
  const forget = listenTo(signals, (signal) => held.add(signal));
  return () => {
    forget();
    for (const signal of held) process.emit(signal, signal);
  };
}

/**
 * Stops at SIGTERM and SIGINT, at the second one at once; loads the configuration anew at SIGHUP, opens log files anew at
 * SIGUSR1, and hands over to a new server at SIGUSR2: all as nginx does.
 */
export function obeySignals(supervisor: Stoppable): void {
  const listening = [
    listenTo(TO_STOP, () => supervisor.stop()),
    listenTo(["SIGHUP"], () => supervisor.reload()),
    listenTo(["SIGUSR1"], () => supervisor.reopen()),
    listenTo(["SIGUSR2"], () => supervisor.upgrade()),
  ];
  const forget = () => {
    for (const stopListening of listening) stopListening();
  };
  supervisor.ended.then(forget, forget);
}

/** The returned function ends it. */
function listenTo(signals: readonly NodeJS.Signals[], listener: (signal: NodeJS.Signals) => unknown): () => void {
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}
