import { spawn } from "node:child_process";
import { once } from "node:events";

/** A command that takes longer hangs. Milliseconds. */
const TELL_WITHIN_MS = 30_000;

/**
 * Tells systemd about a service of `Type=notify`, if it asks for that: sd_notify(3). Node cannot send to a Unix datagram
 * socket, so the command `systemd-notify` does, which the unit has to allow with `NotifyAccess=all`. This process must
 * not end before the promise resolves.
 */
export async function tellServiceManager(
  environment: NodeJS.ProcessEnv,
  state: readonly string[],
  warn: (line: string) => void,
): Promise<void> {
  if (!environment.NOTIFY_SOCKET) return;
  const child = spawn("systemd-notify", state, { stdio: "ignore", env: environment, timeout: TELL_WITHIN_MS });
  try {
    await once(child, "close");
  } catch (error) {
    warn(`systemd cannot be told the state of this service: ${(error as Error).message}`);
  }
}

/** The service answers, and this is its main process, also after an upgrade. */
export const READY = ["--ready", `--pid=${process.pid}`, `MAINPID=${process.pid}`];
export const STOPPING = ["STOPPING=1"];

/**
 * What a server says of its successor before it ends, which systemd would otherwise take for the end of the unit. An older
 * version does not say it, so the successor does as well.
 */
export function handedOverTo(pid: number): readonly string[] {
  return [`MAINPID=${pid}`];
}
