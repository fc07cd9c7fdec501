import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createPurger } from "../../sdk/index.ts";
import { nginxOptions } from "../peers/nginx.ts";
import type { CertificateFiles } from "../peers/peer.ts";
import type { CommandLine } from "../processes/server-process.ts";

/** Where a program runs, and the site in front of which it stands. */
export interface WalkPlace {
  readonly folder: string;
  /** For its pages; default: in the folder. */
  readonly cache: string;
  readonly port: number;
  readonly tlsPort: number;
  readonly tls: CertificateFiles;
  readonly origin: URL;
}

/** A program as an operator runs it: by its settings, its signals and the file with its number. */
export interface WalkedProgram {
  readonly name: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Writes the settings, right or with a mistake, and says how the program is started with them. */
  configure(place: WalkPlace, isRight: boolean): Promise<CommandLine>;
  pidFile(place: WalkPlace): string;
  /** After SIGUSR2, whatever else an upgrade takes; `old` is the process of before. Default: nothing. */
  finishUpgrade?(old: number): Promise<void>;
  /** Purges a path, and resolves when nobody gets the old page. Absent if the program cannot. */
  purge?(url: URL): Promise<void>;
}

const TOKEN = "a-token-of-the-operators-walk-0123456789";

/** `main`: the arguments of node that run the command. */
export function walkedTidemark(main: readonly string[]): WalkedProgram {
  return {
    name: "tidemark",
    environment: { TIDEMARK_TOKEN: TOKEN, TIDEMARK_HOSTS: "*" },
    async configure({ folder, cache, port, tlsPort, tls, origin }, isRight) {
      const config = join(folder, "tidemark.config.ts");
      const address = isRight ? origin.origin : "not an address";
      await writeFile(config, `export default { origin: "${address}" };\n`);
      const listen = ["--listen", `127.0.0.1:${port}`, "--listen-tls", `127.0.0.1:${tlsPort}`];
      const certificate = ["--tls-cert", tls.certificate, "--tls-key", tls.key];
      const files = ["--config", config, "--cache", cache, "--pid-file", join(folder, "pid")];
      return [process.execPath, ...main, "serve", ...listen, ...certificate, ...files, "--workers", "2"];
    },
    pidFile: ({ folder }) => join(folder, "pid"),
    async purge(url) {
      const receipt = await createPurger({ endpoint: url.origin, token: TOKEN }).purge({ urls: [url.href] });
      await receipt.settled();
    },
  };
}

/** nginx with the settings that its manual gives for a cache that outlives its origin. */
export const walkedNginx: WalkedProgram = {
  name: "nginx",
  environment: {},
  async configure({ folder, cache, port, tlsPort, tls, origin }, isRight) {
    const mistake = isRight ? "" : "proxy_cache_valdi 1m;";
    const http = `
      proxy_cache_path ${cache} levels=1:2 keys_zone=pages:16m max_size=1g inactive=1d use_temp_path=off;
      server {
        listen 127.0.0.1:${port}; listen 127.0.0.1:${tlsPort} ssl http2;
        ssl_certificate ${tls.certificate}; ssl_certificate_key ${tls.key}; ssl_protocols TLSv1.2 TLSv1.3;
        location / {
          proxy_pass ${origin.origin}; proxy_set_header Host $host; ${mistake}
          proxy_cache pages; proxy_cache_lock on; proxy_cache_background_update on; proxy_read_timeout 5s;
          proxy_cache_use_stale error timeout updating http_500 http_502 http_503 http_504;
          add_header X-Cache $upstream_cache_status always;
        }
      }`;
    const options = await nginxOptions(folder, { workers: 2, http, isDaemon: true });
    return [pathOf("nginx"), ...options];
  },
  pidFile: ({ folder }) => join(folder, "pid"),
  async finishUpgrade(old) {
    // The manual's two steps: the old workers leave, and then the old master.
    process.kill(old, "SIGWINCH");
    process.kill(old, "SIGQUIT");
  },
};

/** An upgrade of nginx runs the path by which it was started. */
function pathOf(program: string): string {
  return execFileSync("sh", ["-c", 'command -v "$1"', "sh", program], { encoding: "utf8" }).trim();
}
