import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Option } from "commander";
import type { CommandLine } from "../processes/server-process.ts";
import type { CertificateFiles, Peer } from "./peer.ts";

const PROJECT = resolve(fileURLToPath(new URL("../..", import.meta.url)));

/** How to start Tidemark from the sources, unless `--tidemark` gives another command. */
export const SOURCES_COMMAND =
  "node {project}/cli/main.ts serve --origin {origin} {listen} --cache {cache} --workers {workers}";

/** The option for another command. */
export function commandOption(usual = SOURCES_COMMAND): Option {
  const filledIn = "{project}, {origin}, {listen}, {cache} and {workers} are filled in";
  return new Option("--tidemark <command>", `how to start Tidemark; ${filledIn}`).default(usual);
}

/**
 * Tidemark, started from a command with the placeholders `{project}`, `{origin}`, `{listen}`, `{cache}` and `{workers}`:
 * `{listen}` stands for `--listen 127.0.0.1:{port}`, or for the options of TLS. It runs in a folder of its own, so that it
 * finds no config, and paths in the command have to be absolute.
 */
export function tidemark(command: string): Peer {
  return {
    name: "tidemark serve",
    needs: null,
    speaksTls: true,
    isHit: (field) => field("x-cache") === "HIT",
    commandLine: async ({ origin, workers = 1, tls = null }, { port, folder }) =>
      fillIn(command.replace("{listen}", listenOptions(tls)), {
        project: PROJECT,
        origin: origin.origin,
        port: `${port}`,
        cache: join(folder, "cache"),
        workers: `${workers}`,
      }),
  };
}

function listenOptions(tls: CertificateFiles | null): string {
  if (tls === null) return "--listen 127.0.0.1:{port}";
  return `--listen-tls 127.0.0.1:{port} --tls-cert ${tls.certificate} --tls-key ${tls.key}`;
}

function fillIn(command: string, values: Readonly<Record<string, string>>): CommandLine {
  const [program = "", ...parameters] = command
    .split(" ")
    .filter((word) => word !== "")
    .map((word) => word.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder));
  return [program === "node" ? process.execPath : program, ...parameters];
}
