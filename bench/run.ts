import { Command } from "commander";
import { cdn } from "./cases/cdn.ts";
import { compression } from "./cases/compression.ts";
import { endurance } from "./cases/endurance.ts";
import { eviction } from "./cases/eviction.ts";
import { fanOut } from "./cases/fan-out.ts";
import { hit } from "./cases/hit.ts";
import { large } from "./cases/large.ts";
import { ledger } from "./cases/ledger.ts";
import { logLoad } from "./cases/log-load.ts";
import { purges } from "./cases/purges.ts";
import { push } from "./cases/push.ts";
import { quiet } from "./cases/quiet.ts";
import { relays } from "./cases/relays.ts";
import { report } from "./cases/report.ts";
import { rules } from "./cases/rules.ts";
import { sdk } from "./cases/sdk.ts";
import { server } from "./cases/server.ts";
import { sessions } from "./cases/sessions.ts";
import { view } from "./cases/view.ts";
import { BenchFailure } from "./report/bench-failure.ts";

const bench = new Command("npm run bench --")
  .description("Measures the edge. Each case prints a table and writes its results as JSON.")
  .configureHelp({ subcommandTerm: (command) => command.name() })
  .action(() => bench.outputHelp());
const commands = [
  hit,
  server,
  endurance,
  eviction,
  cdn,
  view,
  rules,
  ledger,
  large,
  quiet,
  logLoad,
  purges,
  report,
  push,
  relays,
  fanOut,
  sdk,
  sessions,
  compression,
];
for (const command of commands) {
  bench.addCommand(command);
}

try {
  await bench.parseAsync();
} catch (failure) {
  if (!(failure instanceof BenchFailure)) throw failure;
  console.error(`FAILED: ${failure.message}`);
  process.exitCode = 1;
}
// Everything has been stopped by now, but sometimes Miniflare's watcher of several PoPs outlives its own closing.
process.exit();
