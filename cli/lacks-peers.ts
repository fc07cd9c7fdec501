import { missingPeersMessage, type OptionalPeer } from "../package/optional-peers.ts";
import { EXIT } from "./exit-code.ts";
import { printError } from "./text/print-error.ts";

/** The oldest Node that has what the server imports, and the URLPattern with which the replay compiles configs. */
const OLDEST_NODE = 24;

/** Whether a command cannot run here because packages are missing. If so, it prints that and sets the exit code. */
export function lacksPeers(command: string, needs: readonly OptionalPeer[]): boolean {
  const missing = missingPeersMessage(`tidemark ${command}`, needs);
  if (missing === null) return false;
  // As wrangler's build command, it does not stop a deployment because of its own missing packages.
  const isBuilding = process.env.WRANGLER_COMMAND !== undefined;
  process.stderr.write(isBuilding ? `${missing}\nUntil then wrangler works without it.\n` : missing);
  process.exitCode = isBuilding ? EXIT.done : EXIT.usage;
  return true;
}

/** Whether a command cannot run here because Node is too old. If so, it prints that and sets the exit code. */
export function lacksNode(command: "serve" | "replay"): boolean {
  const { node } = process.versions;
  if (Number(node.split(".")[0]) >= OLDEST_NODE) return false;
  printError(`tidemark ${command} needs Node ${OLDEST_NODE} or later. This is Node ${node}.`);
  process.exitCode = EXIT.usage;
  return true;
}

/** Whether the server cannot run here, because this is Windows. If so, it prints that and sets the exit code. */
export function lacksUnix(): boolean {
  if (process.platform !== "win32") return false;
  const instead = "On Windows, run it in WSL or in the container, and try rules with tidemark dev.";
  printError(`tidemark serve runs on Linux and macOS. ${instead}`);
  process.exitCode = EXIT.usage;
  return true;
}
