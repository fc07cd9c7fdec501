import { chown, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Peer } from "../peers/peer.ts";
import type { CommandLine } from "../processes/server-process.ts";
import { debianProgram, inRoot } from "./debian.ts";
import type { Rival } from "./rival.ts";

/**
 * Squid as a reverse proxy, with its store in memory. Its workers would start from its own path, without the loader of
 * their Debian, so it is measured with its default of one process.
 */
export const squid: Rival = {
  name: "Squid",
  get: () => debianProgram("usr/sbin/squid-gnutls", "-v"),
  settings: { plain: (run) => peer(run, ""), best: (run) => peer(run, FAST) },
};

const FAST = "client_idle_pconn_timeout 300 seconds\nclient_db off\nvia off\nmax_filedescriptors 20000";

function peer(run: CommandLine, settings: string): Omit<Peer, "name" | "needs"> {
  return {
    speaksTls: false,
    isHit: (field) => /\bhit\b/.test(field("cache-status") ?? ""),
    async commandLine({ origin, storeMegabytes = 256 }, { port, folder }) {
      const file = join(folder, "squid.conf");
      if (process.getuid?.() === 0) await chown(folder, 65534, 65534); // as root it becomes another user, who writes here
      await writeFile(
        file,
        `http_port 127.0.0.1:${port} accel defaultsite=${origin.host} no-vhost
cache_peer ${origin.hostname} parent ${origin.port} 0 no-query no-digest no-netdb-exchange originserver name=origin
http_access allow all
cache_mem ${storeMegabytes} MB
maximum_object_size_in_memory 1 MB
${settings}
access_log none
cache_log ${folder}/log
pid_filename ${folder}/pid
coredump_dir ${folder}
cache_effective_user nobody
visible_hostname bench
pinger_enable off
shutdown_lifetime 1 seconds
unlinkd_program /bin/true
logfile_daemon /bin/true
mime_table ${inRoot("usr/share/squid/mime.conf")}
error_directory ${inRoot("usr/share/squid/errors/templates")}
icon_directory ${inRoot("usr/share/squid/icons")}
`,
      );
      return [...run, "-N", "-n", `bench${port}`, "-f", file];
    },
  };
}
