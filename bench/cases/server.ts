import { join } from "node:path";
import { Command } from "commander";
import { allContenders } from "../contenders/all.ts";
import type { CertificateFiles, Contender } from "../contenders/contender.ts";
import { ordinaryNginx } from "../contenders/nginx.ts";
import { SOURCES_COMMAND, TIDEMARK_NAME } from "../contenders/tidemark.ts";
import { installMissing, isInstalled, versionOf } from "../debian-programs.ts";
import { makeCertificate } from "../inputs/certificate.ts";
import { AB } from "../load/ab.ts";
import { HEY } from "../load/hey.ts";
import { SIEGE } from "../load/siege.ts";
import { WRK } from "../load/wrk.ts";
import { NGINX } from "../nginx/nginx-cache.ts";
import { hasWord, positive } from "../options.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { thisMachine } from "../report/machine.ts";
import { writeResults } from "../report/results.ts";
import { goalResults, goalsOverTls } from "../server/goals.ts";
import { measureRow } from "../server/measure-row.ts";
import { type PrintedSettings, printGoals, printRow, printSettings } from "../server/print-rows.ts";
import { type RowResult, summarize } from "../server/row-result.ts";
import { type Amounts, PAGE_SIZES, serverRows } from "../server/server-rows.ts";
import { StaticOrigin } from "../server/static-origin.ts";
import { SlowOrigin } from "../stampede/slow-origin.ts";

const WARM_UP_SECONDS = 2;
const FULL_AMOUNTS = { divisor: 1, newConnections: 10_000, files: 12_500, stampede: 1000 };
/** A handshake costs servers and clients twenty times as much as a request. */
const TLS_AMOUNTS = { ...FULL_AMOUNTS, newConnections: 2000, files: 2000, stampede: 200 };
const QUICK_AMOUNTS = { divisor: 20, newConnections: 10_000, files: 200, stampede: 100 };
const QUICK = { rounds: 1, seconds: 1 };

interface ServerOptions extends PrintedSettings {
  readonly rows?: string;
  readonly servers?: string;
  readonly tidemark: string;
  readonly tls: boolean;
  readonly quick: boolean;
  readonly install: boolean;
  readonly json?: string;
}

export const server = new Command("server")
  .description(
    "`tidemark serve` beside nginx, Varnish, Caddy and the least that Node can do, under the usual tools' load.",
  )
  .option("--rounds <n>", "how many turns each server has in a row", positive, 7)
  .option("--seconds <n>", "how long a turn of wrk takes", positive, 3)
  .option("--workers <n>", "how many processes each server may answer with", positive, 1)
  .option("--rows <words>", "only the rows whose name has one of these, separated by commas")
  .option("--servers <words>", "only nginx and the servers whose name has one of these, separated by commas")
  .option("--tls", "over TLS 1.3 with a key on P-256; Varnish takes no part", false)
  .option(
    "--tidemark <command>",
    "how to start Tidemark; {project}, {origin}, {listen}, {cache} and {workers} are filled in",
    SOURCES_COMMAND,
  )
  .option("--quick", "one short round, to see that everything works; its figures mean nothing", false)
  .option("--install", "install what is missing from Debian's packages, without starting services; needs root", false)
  .option("--json <file>", "where the results go (default: bench/results/server-<date>.json)")
  .action(measureServers);

async function measureServers(given: ServerOptions): Promise<void> {
  const options = given.quick ? { ...given, ...QUICK } : given;
  const machine = thisMachine();
  const contenders = allContenders(options.tidemark).filter(
    (each) => each === ordinaryNginx || hasWord(each.name, options.servers),
  );
  const programs = [NGINX, HEY, AB, SIEGE, WRK, ...contenders.flatMap(({ needs }) => needs ?? [])];
  if (options.install) installMissing(programs);
  if (!isInstalled(NGINX)) throw new BenchFailure("nginx is missing, and it is the origin of all rows. Try --install.");
  const versions = Object.fromEntries(programs.map((each) => [each.program, versionOf(each)]));
  printSettings(machine, versions, options);
  const rows = await measureRows(contenders, options);
  const goalsOf = options.tls ? goalsOverTls : goalResults;
  const goals = options.quick ? [] : rows.flatMap((row) => goalsOf(row, TIDEMARK_NAME));
  printGoals(goals);
  const { json, install: _, ...settings } = options;
  writeResults("server", { machine, versions, settings, goals, rows }, json);
  assertNoneFailed(rows);
}

async function measureRows(contenders: readonly Contender[], options: ServerOptions): Promise<readonly RowResult[]> {
  const full = options.tls ? TLS_AMOUNTS : FULL_AMOUNTS;
  const amounts: Amounts = { ...(options.quick ? QUICK_AMOUNTS : full), seconds: options.seconds };
  await using pages = await StaticOrigin.start(PAGE_SIZES);
  await using slow = await SlowOrigin.start();
  const origins = { static: pages, slow };
  const tls = options.tls ? makePair(pages.folder) : null;
  const course = { ...options, tls, warmUpSeconds: options.quick ? 0 : WARM_UP_SECONDS };
  const results: RowResult[] = [];
  for (const row of serverRows(origins, amounts).filter(({ name }) => hasWord(name, options.rows))) {
    if (row.client !== null && !isInstalled(row.client)) {
      console.log(`\n${row.name}\nskipped: ${row.client.program} is missing. --install gets it from Debian.`);
      continue;
    }
    const result = summarize(row, await measureRow(row, contenders, origins, course), ordinaryNginx.name);
    printRow(result);
    results.push(result);
  }
  return results;
}

function makePair(folder: string): CertificateFiles {
  const pair = { certificate: join(folder, "tls.crt"), key: join(folder, "tls.key") };
  makeCertificate(pair.certificate, pair.key);
  return pair;
}

function assertNoneFailed(rows: readonly RowResult[]): void {
  const failures = rows.flatMap(({ absent }) => absent.filter((each) => each.failed));
  if (failures.length === 0) return;
  const rowsOf = Map.groupBy(failures, ({ name }) => name);
  const counts = [...rowsOf].map(([name, all]) => `${name} in ${all.length} row(s)`);
  throw new BenchFailure(`an error kept these from being measured: ${counts.join(", ")}.`);
}
