import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fieldOf } from "../load/raw-request.ts";
import { NGINX } from "../nginx/nginx-cache.ts";
import { nginxConfig } from "../nginx/nginx-config.ts";
import type { CertificateFiles, Contender, Site } from "./contender.ts";

/** nginx as most of its users have it: Debian's settings, and the `proxy_cache` of the usual guides. */
export const ordinaryNginx: Contender = nginx("nginx", (site) => ({
  http: "tcp_nopush on;",
  upstream: `server ${site.origin.host};`,
  location: "",
}));

/** nginx with the settings that its manual and its tuning guides offer for this work. */
export const tunedNginx: Contender = nginx("nginx tuned", (site) => ({
  http: `tcp_nopush off; keepalive_requests 100000;
    open_file_cache max=20000 inactive=60s; open_file_cache_valid 60s; open_file_cache_min_uses 1;`,
  upstream: `server ${site.origin.host}; keepalive 64;`,
  location: `proxy_http_version 1.1; proxy_set_header Connection "";`,
}));

/**
 * Ordinary nginx with its answer to a stampede. It is left out of all other rows, because the lock makes requests for a
 * page that must not be stored wait for each other: ab's row of uncached pages falls to 100 requests per second.
 */
export const lockedNginx: Contender = {
  ...nginx("nginx with proxy_cache_lock", (site) => ({
    http: "tcp_nopush on;",
    upstream: `server ${site.origin.host};`,
    location: "proxy_cache_lock on;",
  })),
  absentFrom: (kind) => (kind === "stampede" ? null : "It has a part in the stampede alone."),
};

interface Tuning {
  readonly http: string;
  readonly upstream: string;
  readonly location: string;
}

function nginx(name: string, tuningFor: (site: Site) => Tuning): Contender {
  return {
    name,
    needs: NGINX,
    isConstant: false,
    absentFrom: () => null,
    speaksTls: true,
    isHit: (answer) => fieldOf(answer, "x-cache") === "HIT",
    async commandLine(site, { port, folder }) {
      const { http, upstream, location } = tuningFor(site);
      const file = join(folder, "nginx.conf");
      const cache = `${folder}/cache levels=1:2 keys_zone=pages:64m max_size=10g inactive=1d use_temp_path=off`;
      const settings = nginxConfig(folder, {
        workers: site.workers,
        http: `sendfile on; ${http}
          proxy_cache_path ${cache};
          upstream origin { ${upstream} }
          server {
            listen 127.0.0.1:${port}${encryption(site.tls)};
            location / {
              proxy_pass http://origin; proxy_set_header Host $host; ${location}
              proxy_cache pages; add_header X-Cache $upstream_cache_status always;
            }
          }`,
      });
      await writeFile(file, settings);
      return ["nginx", "-c", file, "-e", join(folder, "error")];
    },
  };
}

/** The end of `listen`, and the settings of Debian's nginx and of its manual for TLS. */
function encryption(tls: CertificateFiles | null): string {
  if (tls === null) return "";
  return ` ssl; ssl_certificate ${tls.certificate}; ssl_certificate_key ${tls.key};
            ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:tls:10m`;
}
