import { setTimeout as wait } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { Crowd, paced } from "./crowd.ts";

/*
 * A flood in a thread of its own, so that no other answers wait behind its own in this process. Tells how many pages it got.
 */
const { edge, addresses, seconds } = workerData as { edge: string; addresses: number; seconds: number };
const flooding = new Crowd();
let asked = 0;
await paced(1000, AbortSignal.timeout(seconds * 1000), () => {
  const from = asked % addresses;
  void flooding.ask(new URL(`/flood/${Date.now()}-${asked++}`, edge), `10.1.${from >> 8}.${from & 255}`);
});
await wait(11_000);
parentPort!.postMessage(flooding.misses.count);
