import type { Supervisor } from "./supervisor.ts";

/** Stops at SIGTERM and SIGINT, at the second one at once; loads the configuration anew at SIGHUP. */
export function obeySignals(supervisor: Supervisor): void {
  const stop = () => void supervisor.stop();
  const reload = () => void supervisor.reload();
  process.on("SIGTERM", stop).on("SIGINT", stop).on("SIGHUP", reload);
  const forget = () => void process.off("SIGTERM", stop).off("SIGINT", stop).off("SIGHUP", reload);
  supervisor.ended.then(forget, forget);
}
