import { spawn } from "node:child_process";

/**
 * Tells systemd about a service of `Type=notify`, if it asks for that: sd_notify(3). Node cannot send to a Unix datagram
 * socket, so the command `systemd-notify` does, which the unit has to allow with `NotifyAccess=all`.
 */
export function tellServiceManager(
  environment: NodeJS.ProcessEnv,
  state: readonly string[],
  warn: (line: string) => void,
): void {
  if (!environment.NOTIFY_SOCKET) return;
  const child = spawn("systemd-notify", state, { stdio: "ignore", env: environment });
  child.on("error", (error) => warn(`systemd cannot be told the state of this service: ${error.message}`));
}

/** The service answers, and this is its main process, also after an upgrade. */
export const READY = ["--ready", `--pid=${process.pid}`, `MAINPID=${process.pid}`];
export const STOPPING = ["STOPPING=1"];
