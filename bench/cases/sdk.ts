import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { Command } from "commander";
import { build } from "esbuild";
import { positive } from "../options.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { thisMachine } from "../report/machine.ts";
import { median } from "../report/median.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";
import { RecordingEdge } from "../sdk/recording-edge.ts";

interface ClientOptions {
  readonly purges: number;
  readonly atOnce: number;
  readonly imports: number;
  readonly json?: string;
}

/** The output of `client-process.ts`. */
interface ClientRun {
  readonly importMs: number;
  readonly importBytes: number;
  readonly sentMs: number;
  readonly keptBytes: number;
  readonly accepted: number;
  readonly failed: string;
}

const DOWN_MS = 400;

export const sdk = new Command("sdk")
  .description("The purge client: its size, the time and memory of its import, many purges, and a restart of the edge.")
  .option("--purges <n>", "how many purges one process sends, eight at a time", positive, 10_000)
  .option("--at-once <n>", "how many purges are sent at once, and while the edge restarts", positive, 1_000)
  .option("--imports <n>", "how many processes import it", positive, 15)
  .option("--json <file>", "where the results go (default: bench/results/sdk-<date>.json)")
  .action(measureClient);

async function measureClient({ purges, atOnce, imports, json }: ClientOptions): Promise<void> {
  const machine = thisMachine();
  mkdirSync(".tidemark", { recursive: true });
  const folder = mkdtempSync(join(".tidemark", "bench-client-"));
  const edge = new RecordingEdge();
  await edge.start();
  try {
    const sizes = {
      node: await sizeOf("sdk/index.ts", []),
      web: await sizeOf("sdk/index.web.ts", []),
      own: await sizeOf("sdk/index.ts", ["undici", "zod"]),
    };
    const entry = resolve(folder, "client.mjs");
    await build({ ...BUNDLE, entryPoints: ["sdk/index.ts"], outfile: entry, write: true, external: ["undici", "zod"] });
    const dependencies = resolve(folder, "dependencies.mjs");
    writeFileSync(dependencies, 'import "undici";\nimport "zod/mini";\n');
    const ours = await importsOf(entry, imports);
    const theirs = await importsOf(dependencies, imports);
    console.error("imports: done");

    const many = await run([entry, edge.endpoint, String(purges), "8"]);
    const manyConnections = { opened: edge.connections, mostAtOnce: edge.mostAtOnce };
    expectAll("many purges", many, edge, purges);
    console.error("many purges: done");
    edge.reset();
    const crowd = await run([entry, edge.endpoint, String(atOnce), String(atOnce)]);
    const crowdConnections = { opened: edge.connections, mostAtOnce: edge.mostAtOnce };
    expectAll("purges at once", crowd, edge, atOnce);
    console.error("purges at once: done");
    edge.reset();
    edge.restartOnce(Math.ceil(atOnce / 3), DOWN_MS);
    const restarted = await run([entry, edge.endpoint, String(atOnce), String(atOnce)]);
    expectAll("purges over a restart", restarted, edge, atOnce);
    const sentAgain = [...edge.ids.values()].filter((times) => times > 1).length;

    console.log(
      `${machine.cpu}, ${machine.cores} cores shared with the edge, load ${machine.loadBefore}; Node ${machine.node}\n`,
    );
    printTable(
      ["", "minified KB", "gzipped KB"],
      [
        ["Node entry, with undici and zod", ...kilobytes(sizes.node)],
        ["web entry, with zod", ...kilobytes(sizes.web)],
        ["the client's own code", ...kilobytes(sizes.own)],
      ],
    );
    console.log();
    printTable(
      ["", "import ms", "heap MB"],
      [
        ["the Node entry", ours.ms.toFixed(0), megabytes(ours.bytes)],
        ["undici and zod alone", theirs.ms.toFixed(0), megabytes(theirs.bytes)],
      ],
    );
    console.log();
    printTable(
      ["", "seconds", "a second", "connections", "heap kept MB", "lost"],
      [
        [`${purges} purges, eight at a time`, ...sentCells(many, manyConnections.opened)],
        [`${atOnce} purges at once`, ...sentCells(crowd, crowdConnections.opened)],
        [`${atOnce} at once over a restart`, ...sentCells(restarted, edge.connections)],
      ],
    );
    console.log(
      `\nThe edge cut every connection and was away for ${DOWN_MS} ms; ${sentAgain} purges reached it more than once.`,
    );
    const connections = { many: manyConnections, crowd: crowdConnections, restarted: edge.connections };
    writeResults("sdk", { machine, sizes, ours, theirs, many, crowd, restarted, connections, sentAgain }, json);
  } finally {
    await edge.stop();
    rmSync(folder, { recursive: true });
  }
}

const BUNDLE = { bundle: true, minify: true, format: "esm", target: "es2024", platform: "node" } as const;

async function sizeOf(
  source: string,
  external: string[],
): Promise<{ readonly bytes: number; readonly gzipped: number }> {
  const { outputFiles } = await build({ ...BUNDLE, entryPoints: [source], write: false, external });
  const { contents } = outputFiles[0]!;
  return { bytes: contents.length, gzipped: gzipSync(contents).length };
}

async function importsOf(entry: string, times: number): Promise<{ readonly ms: number; readonly bytes: number }> {
  const runs: ClientRun[] = [];
  for (let time = 0; time < times; time++) runs.push(await run([entry]));
  return {
    ms: median(runs.map(({ importMs }) => importMs)),
    bytes: median(runs.map(({ importBytes }) => importBytes)),
  };
}

async function run(args: readonly string[]): Promise<ClientRun> {
  const script = resolve("bench/sdk/client-process.ts");
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script, ...args]);
  return JSON.parse(stdout) as ClientRun;
}

function expectAll(name: string, { accepted, failed }: ClientRun, { ids }: RecordingEdge, purges: number): void {
  if (accepted === purges && ids.size === purges) return;
  throw new BenchFailure(`${name}: of ${purges}, ${accepted} were accepted, and ${ids.size} arrived. ${failed}`);
}

function sentCells({ sentMs, accepted, keptBytes }: ClientRun, connections: number): string[] {
  const aSecond = Math.round((accepted / sentMs) * 1_000);
  return [(sentMs / 1_000).toFixed(2), String(aSecond), String(connections), megabytes(keptBytes), "0"];
}

function kilobytes({ bytes, gzipped }: { readonly bytes: number; readonly gzipped: number }): string[] {
  return [(bytes / 1_000).toFixed(1), (gzipped / 1_000).toFixed(1)];
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
