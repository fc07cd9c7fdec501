import { closeSync, openSync } from "node:fs";
import { isatty } from "node:tty";

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

/** Has to be called while the terminal is there. What it returns tells whether this process has lost one to which it wrote. */
export function watchTerminal(): () => boolean {
  const isRunOnOne = [1, 2].some((descriptor) => isatty(descriptor)) && hasTerminal();
  return () => isRunOnOne && !hasTerminal();
}

/** Whether there is a terminal whose end would be told by SIGHUP. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch (cause) {
    return !LOST.has((cause as NodeJS.ErrnoException).code);
  }
}

/** What systems say of a terminal that is gone. */
const LOST: ReadonlySet<string | undefined> = new Set(["ENXIO", "EIO", "ENOTTY"]);

/**
 * Stops at SIGTERM and SIGINT, at the second one at once; loads the configuration anew at SIGHUP, opens log files anew at
 * SIGUSR1, and hands over to a new server at SIGUSR2: all as nginx does. SIGHUP stops it if the terminal to which it wrote was
 * closed, as `watchTerminal` has it: nobody could see it any more, or stop it with Ctrl-C.
 */
export function obeySignals(supervisor: Stoppable, hasLostTerminal = () => false): void {
  const listening = [
    listenTo(TO_STOP, () => supervisor.stop()),
    listenTo(["SIGHUP"], () => (hasLostTerminal() ? supervisor.stop() : supervisor.reload())),
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
