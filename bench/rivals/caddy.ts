import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build, type Rival } from "./rival.ts";

const CADDY = "github.com/caddyserver/caddy/v2";
const HANDLER = "github.com/caddyserver/cache-handler";
const VERSIONS = { [CADDY]: "v2.11.7", [HANDLER]: "v0.16.0" };

/** Handlers that are not Caddy's own must be built into it. */
const MAIN = `package main

import caddycmd "${CADDY}/cmd"
import _ "${CADDY}/modules/standard"
import _ "${HANDLER}"

func main() { caddycmd.Main() }
`;

/** Caddy with Souin's handler, which keeps pages in memory. */
export const caddy: Rival = {
  name: "Caddy with Souin",
  async get() {
    const needs = Object.entries(VERSIONS).map(([module, version]) => `require ${module} ${version}\n`);
    const files = { "go.mod": `module bench.test/caddy\n\ngo 1.26\n\n${needs.join("")}`, "main.go": MAIN };
    const commands = [["go", "mod", "tidy"] as const, ["go", "build", "-o", "caddy", "."] as const];
    const program = await build("caddy", files, "caddy", ...commands);
    return { run: [program], version: Object.values(VERSIONS).join(" with ").replaceAll("v", "") };
  },
  settings: {
    plain: (run) => ({
      speaksTls: true,
      isHit: (field) => /; ?hit\b/.test(field("cache-status") ?? ""),
      async commandLine({ origin, workers = 1, tls = null }, { port, folder }) {
        const file = join(folder, "Caddyfile");
        const own = "admin off\n auto_https off\n persist_config off\n log {\n level ERROR\n }";
        const cache = "cache {\n ttl 3600s\n log_level error\n }";
        const address = `${tls === null ? "http" : "https"}://127.0.0.1:${port}`;
        const pair = tls === null ? "" : `tls ${tls.certificate} ${tls.key}`;
        await writeFile(
          file,
          `{\n ${own}\n ${cache}\n}\n${address} {\n ${pair}\n cache\n reverse_proxy ${origin.host}\n}\n`,
        );
        return ["env", `GOMAXPROCS=${workers}`, ...run, "run", "--config", file, "--adapter", "caddyfile"];
      },
    }),
  },
};
