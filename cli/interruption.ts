import { setTimeout as pause } from "node:timers/promises";
import { EXIT } from "./exit-code.ts";

/** npm passes on a Ctrl-C that the terminal has already sent. A second one within this time counts as the same. */
const ECHO_MS = 500;

/**
 * Resolves at Ctrl-C. A second Ctrl-C ends the process at once. `others`: signals that mean the same to a command that starts
 * other processes.
 */
export function interruption(...others: readonly ("SIGHUP" | "SIGQUIT")[]): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const interrupt = () => {
      if (firstAt !== undefined && performance.now() - firstAt > ECHO_MS) process.exit(EXIT.interrupted);
      firstAt ??= performance.now();
      resolve();
    };
    for (const signal of ["SIGINT", "SIGTERM", ...others] as const) {
      // Miniflare's own listeners would end the process before the rest has stopped.
      for (const other of process.listeners(signal)) process.off(signal, other);
      process.on(signal, interrupt);
    }
  });
}

/** Resolves to false once the signal is aborted. */
export async function hasPaused(ms: number, signal: AbortSignal): Promise<boolean> {
  await pause(ms, undefined, { signal }).catch(() => {}); // An aborted pause rejects; the signal says so, too.
  return !signal.aborted;
}
