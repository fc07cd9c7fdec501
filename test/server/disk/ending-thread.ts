/** Ends at the first batch with half a draft, as a thread does that has no memory left. */
import { writeFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import type { ThreadStart } from "../../../server/disk/file-writer-thread.ts";

parentPort!.on("message", () => {
  writeFileSync((workerData as ThreadStart).draft, "half a");
  process.exit(1);
});
