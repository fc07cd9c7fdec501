import { missingPeersMessage, type OptionalPeer } from "../package/optional-peers.ts";
import { EXIT } from "./exit-code.ts";

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
