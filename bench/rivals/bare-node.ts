import { fileURLToPath } from "node:url";
import type { Rival } from "./rival.ts";

/** What Node and undici alone cost: a bound for every server that is written with them, and no cache to use. */
export const bareNode: Rival = {
  name: "bare Node",
  get: async () => ({
    version: process.versions.node,
    run: [process.execPath, fileURLToPath(new URL("bare-node-server.ts", import.meta.url))],
  }),
  settings: {
    best: (run) => ({
      speaksTls: true,
      storesApart: true,
      isHit: (field) => field("x-cache") === "HIT",
      commandLine: async ({ origin, workers = 1, tls = null }, { port }) => [
        ...run,
        origin.origin,
        `${port}`,
        `${workers}`,
        ...(tls === null ? [] : [tls.certificate, tls.key]),
      ],
    }),
  },
};
