import { constants } from "node:os";

const cleanUps = new Set<() => void>();
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs a clean-up when this process exits early, even on Ctrl-C, so that an interrupted bench leaves nothing behind.
 * The returned function cancels the clean-up.
 */
export function atExit(cleanUp: () => void): () => void {
  if (cleanUps.size === 0) {
    process.on("exit", cleanUpAll);
    for (const signal of SIGNALS) process.on(signal, exitOn);
  }
  cleanUps.add(cleanUp);
  return () => {
    cleanUps.delete(cleanUp);
    if (cleanUps.size > 0) return;
    process.off("exit", cleanUpAll);
    for (const signal of SIGNALS) process.off(signal, exitOn);
  };
}

function exitOn(signal: (typeof SIGNALS)[number]): void {
  process.exit(128 + constants.signals[signal]);
}

function cleanUpAll(): void {
  for (const cleanUp of cleanUps) cleanUp();
}
