/** Ends at the first batch, as a thread does that has no memory left. */
import { parentPort } from "node:worker_threads";

parentPort!.on("message", () => process.exit(1));
