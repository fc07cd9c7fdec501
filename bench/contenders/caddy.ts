import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DebianProgram } from "../debian-programs.ts";
import type { Contender, RowKind, Site } from "./contender.ts";

const CADDY: DebianProgram = { program: "caddy", package: "caddy", units: ["caddy.service", "caddy-api.service"] };

/**
 * Caddy has no cache without a plugin, and Debian's package has no plugins. Its fastest way to answer where others have
 * hits is to serve the same files from disk.
 */
export const caddyFiles: Contender = caddy("Caddy file_server", {
  directives: ({ folder }) => `root * ${folder}
    file_server`,
  absentFrom: (kind) => (kind === "hits" ? null : "It has no cache. Its row here is reverse_proxy."),
});

/** Where pages come from the origin, Caddy takes part as the plain proxy that it is. */
export const caddyProxy: Contender = caddy("Caddy reverse_proxy", {
  directives: ({ origin }) => `reverse_proxy ${origin.host}`,
  absentFrom: (kind) => (kind === "hits" ? "It has no cache. Its row here is file_server." : null),
});

interface CaddyRole {
  readonly directives: (site: Site) => string;
  readonly absentFrom: (kind: RowKind) => string | null;
}

function caddy(name: string, { directives, absentFrom }: CaddyRole): Contender {
  return {
    name,
    needs: CADDY,
    isConstant: false,
    absentFrom,
    speaksTls: true,
    isHit: null,
    async commandLine(site, { port, folder }) {
      const file = join(folder, "Caddyfile");
      const { tls } = site;
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
      return ["env", `GOMAXPROCS=${site.workers}`, "caddy", "run", "--config", file, "--adapter", "caddyfile"];
    },
  };
}
