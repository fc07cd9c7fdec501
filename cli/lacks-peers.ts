import { missingPeersMessage, type OptionalPeer } from "../package/optional-peers.ts";
import { EXIT } from "./exit-code.ts";

/** Whether a command cannot run here for want of packages; then it has said so, and set the exit code. */
export function lacksPeers(command: string, needs: readonly OptionalPeer[]): boolean {
  const missing = missingPeersMessage(`tidemark ${command}`, needs);
  if (missing === null) return false;
  // As wrangler's build command, it keeps no deployment back for what it lacks itself.
  const isBuilding = process.env.WRANGLER_COMMAND !== undefined;
  process.stderr.write(isBuilding ? `${missing}\nUntil then wrangler works without it.\n` : missing);
  process.exitCode = isBuilding ? EXIT.done : EXIT.usage;
  return true;
}
