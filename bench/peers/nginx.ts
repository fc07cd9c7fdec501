import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { NGINX } from "../frame/programs.ts";
import type { CommandLine } from "../processes/server-process.ts";
import type { CertificateFiles, Peer } from "./peer.ts";

interface NginxSettings {
  readonly workers: number;
  /** The directives of the `http` block. */
  readonly http: string;
}

interface NginxTuning {
  /** The command; default: the installed program. */
  readonly run?: CommandLine;
  /** Further directives of the `http` block; default: `sendfile on;`. */
  readonly http?: string;
  /** Further parameters of `listen`. */
  readonly listen?: string;
  /** Further lines of its one location. */
  readonly location?: readonly string[];
  /** Keeps connections to the origin. */
  readonly keepsConnections?: boolean;
}

/** nginx with a `proxy_cache`, and further settings. */
export function nginx(
  name = "nginx",
  { run = ["nginx"], http = "sendfile on;", listen = "", location = [], keepsConnections = false }: NginxTuning = {},
): Peer {
  return {
    name,
    needs: NGINX,
    speaksTls: true,
    isHit: (field) => field("x-cache") === "HIT",
    async commandLine({ origin, workers = 1, tls = null }, { port, folder }) {
      const cache = `${folder}/cache levels=1:2 keys_zone=pages:64m max_size=10g inactive=1d use_temp_path=off`;
      const upstream = keepsConnections ? `upstream origin { server ${origin.host}; keepalive 64; }` : "";
      const kept = keepsConnections ? `proxy_http_version 1.1; proxy_set_header Connection "";` : "";
      const site = `${http} proxy_cache_path ${cache}; ${upstream}
        server {
          listen 127.0.0.1:${port} ${listen}${encryption(tls)};
          location / {
            proxy_pass http://${keepsConnections ? "origin" : origin.host}; ${kept}
            proxy_cache pages; add_header X-Cache $upstream_cache_status always; ${location.join(" ")}
          }
        }`;
      return [...run, ...(await nginxOptions(folder, { workers, http: site }))];
    },
  };
}

/** The options with which an nginx writes into its folder alone. */
export async function nginxOptions(folder: string, { workers, http }: NginxSettings): Promise<readonly string[]> {
  const file = join(folder, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const settings = `daemon off; ${user} worker_processes ${workers}; pid ${folder}/pid;
    events { worker_connections 16384; } worker_rlimit_nofile 40000;
    http { access_log off; ${temporary.join(" ")} ${http} }`;
  await writeFile(file, settings);
  return ["-c", file, "-e", join(folder, "error")];
}

/** The end of `listen`, and the settings of Debian's nginx and of its manual for TLS. */
function encryption(tls: CertificateFiles | null): string {
  if (tls === null) return "";
  return ` ssl; ssl_certificate ${tls.certificate}; ssl_certificate_key ${tls.key};
          ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:tls:10m`;
}
