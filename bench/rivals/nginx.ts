import { nginx as nginxWith } from "../peers/nginx.ts";
import { debianProgram } from "./debian.ts";
import type { Rival } from "./rival.ts";

/**
 * `sendfile` is off in the best settings, because copying small bodies is faster, and large ones do not wait for a
 * packet.
 */
const FAST = `sendfile off; tcp_nodelay on; output_buffers 1 256k;
  keepalive_timeout 300s; keepalive_requests 100000000; server_tokens off;
  open_file_cache max=100000 inactive=600s; open_file_cache_valid 600s; open_file_cache_min_uses 1;`;

/** nginx with its `proxy_cache` on disk. Plain: Debian's settings without the access log. */
export const nginx: Rival = {
  name: "nginx",
  get: () => debianProgram("usr/sbin/nginx", "-v"),
  settings: {
    plain: (run) => nginxWith("nginx", { run, http: "sendfile on; tcp_nopush on;" }),
    best: (run) => nginxWith("nginx", { run, http: FAST, listen: "reuseport backlog=4096", keepsConnections: true }),
  },
};
