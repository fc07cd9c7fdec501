import { Command } from "commander";
import { BenchFailure } from "./bench-failure.ts";
import { cdn } from "./cdn.ts";
import { hit } from "./hit.ts";
import { large } from "./large.ts";
import { logLoad } from "./log-load.ts";
import { purges } from "./purges.ts";
import { quiet } from "./quiet.ts";
import { rules } from "./rules.ts";
import { view } from "./view.ts";

const bench = new Command("bench").description("Measures the edge. Each bench prints a table and writes JSON.");
bench.addCommand(hit);
bench.addCommand(cdn);
bench.addCommand(view);
bench.addCommand(rules);
bench.addCommand(large);
bench.addCommand(quiet);
bench.addCommand(logLoad);
bench.addCommand(purges);

try {
  await bench.parseAsync();
} catch (failure) {
  if (!(failure instanceof BenchFailure)) throw failure;
  console.error(`FAILED: ${failure.message}`);
  process.exitCode = 1;
}
// All has stopped, but now and then Miniflare's watcher of several PoPs outlives its own closing.
process.exit();
