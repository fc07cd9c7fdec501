import { Command } from "commander";
import { downloads } from "./cases/downloads.ts";
import { endurance } from "./cases/endurance.ts";
import { flood } from "./cases/flood.ts";
import { hit } from "./cases/hit.ts";
import { logLoad } from "./cases/log-load.ts";
import { purges } from "./cases/purges.ts";
import { quiet } from "./cases/quiet.ts";
import { rivals } from "./cases/rivals.ts";
import { sessions } from "./cases/sessions.ts";
import { start } from "./cases/start.ts";
import { BenchFailure } from "./frame/bench-failure.ts";
import { type Case, commandOf } from "./frame/case.ts";

const CASES: readonly Case<object>[] = [
  ...[hit, rivals, flood, downloads, endurance, purges, sessions, quiet, logLoad, start],
];

const bench = new Command("npm run bench --")
  .description("Measures the edge. Each case prints its tables and writes its results as JSON.")
  .configureHelp({ subcommandTerm: (command) => command.name() })
  .showHelpAfterError();
for (const each of CASES) bench.addCommand(commandOf(each));

try {
  if (process.argv.length > 2) await bench.parseAsync();
  else bench.outputHelp();
} catch (failure) {
  if (!(failure instanceof BenchFailure)) throw failure;
  console.error(`FAILED: ${failure.message}`);
  process.exitCode = 1;
}
// Everything has been stopped by now, but sometimes Miniflare's watcher of several PoPs outlives its own closing.
process.exit();
