import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CADDY } from "../frame/programs.ts";
import type { Peer, Site } from "./peer.ts";

/**
 * Caddy has no cache without a plugin, and Debian's package has no plugins. Its fastest way to answer where others have
 * hits is to serve the same files from disk.
 */
export const caddyFiles: Peer = caddy(
  "Caddy file_server",
  ["hits"],
  ({ folder }) => `root * ${folder}\n    file_server`,
);

/** Where pages come from the origin, Caddy takes part as the plain proxy that it is. */
export const caddyProxy: Peer = caddy(
  "Caddy reverse_proxy",
  ["uncached", "misses", "stampede"],
  ({ origin }) => `reverse_proxy ${origin.host}`,
);

function caddy(name: string, kinds: Peer["kinds"], directives: (site: Site) => string): Peer {
  return {
    name,
    needs: CADDY,
    kinds,
    isConstant: false,
    speaksTls: true,
    isHit: null,
    async commandLine(site, { port, folder }) {
      const file = join(folder, "Caddyfile");
      const { tls = null, workers = 1 } = site;
      const settings = `{
    admin off
    auto_https off
    ${tls === null ? "" : "default_sni localhost"}
}
${tls === null ? "http" : "https"}://:${port} {
    bind 127.0.0.1
    ${tls === null ? "" : `tls ${tls.certificate} ${tls.key}`}
    ${directives(site)}
}
`;
      await writeFile(file, settings);
      // Go starts as many threads as there are cores, unless it is told how many.
      return ["env", `GOMAXPROCS=${workers}`, "caddy", "run", "--config", file, "--adapter", "caddyfile"];
    },
  };
}
