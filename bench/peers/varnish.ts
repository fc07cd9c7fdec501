import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { VARNISH } from "../frame/programs.ts";
import type { CommandLine } from "../processes/server-process.ts";
import type { Peer } from "./peer.ts";

interface VarnishTuning {
  /** The command; default: the installed program. */
  readonly run?: CommandLine;
  /** Its configuration without the backend; default: its own. */
  readonly vcl?: string;
  /** Further options of the command. */
  readonly options?: readonly string[];
}

/** Varnish, or its heir Vinyl Cache. Its threads are not bound to a number of cores, and its store is memory alone. */
export function varnish(
  name = "Varnish",
  { run: program = ["varnishd"], vcl = "", options = [] }: VarnishTuning = {},
): Peer {
  return {
    name,
    needs: VARNISH,
    speaksTls: false,
    // On a hit there are two numbers: the transaction's own, and the one that fetched the page.
    isHit: (field) => /^\d+ \d+$/.test(field("x-varnish") ?? field("x-vinyl") ?? ""),
    async commandLine({ origin }, { port, folder }) {
      const file = join(folder, "site.vcl");
      const backend = `.host = "${origin.hostname}"; .port = "${origin.port}"; .max_connections = 2000;`;
      await writeFile(file, `vcl 4.1; backend origin { ${backend} }\n${vcl}`);
      const store = "malloc,3g"; // room for all pages of the largest row
      const work = join(folder, "work");
      return [...program, "-F", "-a", `127.0.0.1:${port}`, "-f", file, "-n", work, "-s", store, ...options];
    },
  };
}
