import { obeySignals } from "../../../server/supervisor/signals.ts";
import { ONLY_SITE } from "../../../server/supervisor/site-logs.ts";
import { Supervisor } from "../../../server/supervisor/supervisor.ts";
import { eventInWords } from "../../../server/supervisor/supervisor-events.ts";
import { Predecessor } from "../../../server/supervisor/upgrade.ts";
import type { PageSettings } from "./page-worker.ts";
import { PROGRAM } from "./pages.ts";

/*
 * A supervisor in a process of its own: `node supervised.ts FOLDER PORT WORKERS [LOG]`, with a log of its own or one that several
 * machines share, or with the sockets and the log of a server that hands over to it. A purge `by: "kill at STEP"` kills, at that
 * step, the process whose id it gives as its reason. Tells what happens in lines: as JSON what happens to a worker.
 */
const [folder, port, workers, sharedLog] = process.argv.slice(2) as [string, string, string, string?];
const settings: PageSettings = { version: "v1", folder, leaseMs: 1000 };

const supervisor = await Supervisor.start({
  folder,
  predecessor: Predecessor.find(),
  listen: [{ host: "127.0.0.1", port: Number(port) }],
  program: PROGRAM,
  load: async () => ({ settings, sites: new Map([[ONLY_SITE, { leaseMs: 1000, longestViewAgeMs: 1000 }]]) }),
  workers: Number(workers),
  confirmWithinMs: 60_000, // nothing hangs here, and a slow machine must not look as if a worker did
  ...(sharedLog !== undefined && { sharedLog }),
  soundAfterMs: 0, // whoever kills workers again and again need not wait
  report: (event) => {
    const isOfWorker = event.kind === "worker-listening" || event.kind === "worker-died";
    console.log(isOfWorker ? JSON.stringify(event) : eventInWords(event));
  },
  onPurgeStep: (step, { by, reason }) => {
    if (by === `kill at ${step}`) process.kill(Number(reason), "SIGKILL");
  },
});
obeySignals(supervisor);
await supervisor.ended;
