import { fileURLToPath } from "node:url";
import { fieldOf } from "../load/raw-request.ts";
import type { Contender } from "./contender.ts";

const PROGRAM = fileURLToPath(new URL("./bare-cache.ts", import.meta.url));

/** What is left to win where requests reach the origin: the least that a cache over `node:http` and undici does. */
export const bareNode: Contender = {
  name: "bare Node cache",
  needs: null,
  absentFrom: (kind) =>
    kind === "misses" || kind === "uncached" ? null : "It has a part in the rows of misses alone.",
  speaksTls: false,
  isConstant: false,
  isHit: (answer) => fieldOf(answer, "x-cache") === "HIT",
  commandLine: async ({ origin, workers }, { port, folder }) => {
    const options = ["--port", `${port}`, "--origin", origin.origin, "--folder", folder, "--workers", `${workers}`];
    return [process.execPath, PROGRAM, ...options];
  },
};
