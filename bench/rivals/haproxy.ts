import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Peer } from "../peers/peer.ts";
import type { CommandLine } from "../processes/server-process.ts";
import { debianProgram } from "./debian.ts";
import type { Rival } from "./rival.ts";

/** HAProxy with its cache in memory, which takes pages of 1 MB at most. */
export const haproxy: Rival = {
  name: "HAProxy",
  get: () => debianProgram("usr/sbin/haproxy", "-v"),
  settings: {
    plain: (run) => peer(run, "", ""),
    // A buffer holds a page of 10 KB whole, and connections to the origin serve all clients.
    best: (run) => peer(run, "tune.bufsize 32768", "http-reuse always"),
  },
};

function peer(run: CommandLine, global: string, defaults: string): Omit<Peer, "name" | "needs"> {
  return {
    speaksTls: true,
    isHit: (field) => field("x-cache") === "HIT",
    async commandLine({ origin, workers = 1, tls = null, storeMegabytes = 256 }, { port, folder }) {
      const pair = join(folder, "pair.pem"); // it reads certificate and key from one file
      if (tls !== null)
        await writeFile(pair, (await readFile(tls.certificate, "utf8")) + (await readFile(tls.key, "utf8")));
      const file = join(folder, "haproxy.cfg");
      await writeFile(
        file,
        `global
  nbthread ${workers}
  maxconn 8000
  ${global}
defaults
  mode http
  timeout connect 5s
  timeout client 300s
  timeout server 30s
  ${defaults}
cache pages
  total-max-size ${storeMegabytes}
  max-object-size 1048576
  max-age 86400
frontend site
  bind 127.0.0.1:${port}${tls === null ? "" : ` ssl crt ${pair}`}
  http-request cache-use pages
  http-response cache-store pages
  http-after-response set-header X-Cache HIT unless { srv_id -m found }
  default_backend origin
backend origin
  server pages ${origin.host}
`,
      );
      return [...run, "-db", "-f", file];
    },
  };
}
