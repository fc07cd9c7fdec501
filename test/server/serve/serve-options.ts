import { join } from "node:path";
import type { ServeOptions } from "../../../server/startup/prepare-server.ts";

/** Options of a server with one site, which has its cache in that folder. */
export function serveOptions(folder: string, given: Partial<ServeOptions> = {}): ServeOptions {
  return {
    ...{ config: null, defaultConfig: null, sites: null, environment: { TIDEMARK_HOSTS: "*" }, sockets: [] },
    ...{ listen: [{ host: "127.0.0.1", port: 8080 }], predecessor: null },
    ...{ origin: "http://127.0.0.1:8000", parent: null, parentToken: null },
    ...{ certificates: { pairs: [], folder: null }, acme: null },
    ...{ usesProxyProtocol: false, redirectsToHttps: null, strictTransportSecurity: null, usesFastAnswers: true },
    ...{ cache: join(folder, "cache"), log: null, memoryBytes: 1_048_576, diskBytes: 0, workers: 1, accessLog: null },
    ahead: null,
    report: () => undefined,
    ...given,
  };
}
