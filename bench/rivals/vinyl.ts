import { varnish } from "../peers/varnish.ts";
import { debianProgram } from "./debian.ts";
import type { Rival } from "./rival.ts";

/** Vinyl Cache, as Varnish is called since its ninth version, with its store in memory. It needs a C compiler, and speaks no TLS. */
export const vinyl: Rival = {
  name: "Vinyl Cache",
  get: () => debianProgram("usr/sbin/vinyld", "-V"),
  settings: {
    plain: (run) => varnish("Vinyl Cache", { run }),
    best: (run) =>
      varnish("Vinyl Cache", {
        run,
        // Threads exist before the load, and connections and answers are not logged.
        options: ["-p", "thread_pools=2", "-p", "thread_pool_min=500", "-p", "timeout_idle=300", "-p", "vsl_mask=none"],
      }),
  },
};
