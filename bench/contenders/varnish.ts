import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fieldOf } from "../load/raw-request.ts";
import type { Contender } from "./contender.ts";

/** Varnish with its built-in rules. Its threads are not bound to a number of cores, and its store is memory alone. */
export const varnish: Contender = {
  name: "Varnish",
  needs: { program: "varnishd", package: "varnish", units: ["varnish.service", "varnishncsa.service"] },
  isConstant: false,
  absentFrom: () => null,
  speaksTls: false,
  // On a hit there are two numbers: the transaction's own, and the one that fetched the page.
  isHit: (answer) => /^\d+ \d+$/.test(fieldOf(answer, "x-varnish") ?? ""),
  async commandLine({ origin }, { port, folder }) {
    const vcl = join(folder, "site.vcl");
    await writeFile(
      vcl,
      `vcl 4.1; backend origin { .host = "${origin.hostname}"; .port = "${origin.port}"; .max_connections = 2000; }\n`,
    );
    const store = "malloc,3g"; // room for all pages of the largest row
    return ["varnishd", "-F", "-a", `127.0.0.1:${port}`, "-f", vcl, "-n", join(folder, "work"), "-s", store];
  },
};
