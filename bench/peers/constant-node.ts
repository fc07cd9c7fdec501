import { fileURLToPath } from "node:url";
import type { Peer } from "./peer.ts";

const PROGRAM = fileURLToPath(new URL("./constant-responder.ts", import.meta.url));

/** The most that a server on the public API of `node:http` can do: it answers every request with one page from memory. */
export const constantNode: Peer = {
  name: "constant Node responder",
  needs: null,
  kinds: ["hits"],
  speaksTls: true,
  isConstant: true,
  isHit: null,
  commandLine: async ({ workers = 1, bodyBytes = 0, tls = null }, { port }) => {
    const options = ["--port", `${port}`, "--workers", `${workers}`, "--bytes", `${bodyBytes}`];
    const encrypted = tls === null ? [] : ["--certificate", tls.certificate, "--key", tls.key];
    return [process.execPath, PROGRAM, ...options, ...encrypted];
  },
};
